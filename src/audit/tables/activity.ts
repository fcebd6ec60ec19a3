// Audits of rollups: totals, activity by hour, open intents by deadline, accounts with policies, volumes of receipts.
import { activityHours, openIntents, protocolTotals } from "../../protocol/domains/activity.ts";
import { intents } from "../../protocol/domains/intents.ts";
import { policies, policyAccounts } from "../../protocol/domains/policies.ts";
import {
  facilitatorFlows,
  merchantFlows,
  payerFlows,
  volumeSeries,
} from "../../protocol/domains/receipt-volumes.ts";
import { receipts } from "../../protocol/domains/receipts.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { recountAudit, type TableAudit } from "./define-audit.ts";

/** Each row of these tables counts once, at the block of its first version. */
const COUNTED: Readonly<Record<string, { readonly table: string; readonly key: string }>> = {
  agents: { table: "agents", key: "agent_id" },
  accounts: { table: "policies", key: "account" },
  intents: { table: "intents", key: "intent_id" },
  bids: { table: "bids", key: "intent_id, chain_bid_id" },
  fills: { table: "fills", key: "intent_id" },
  solvers: { table: "solvers", key: "solver_id" },
  attestors: { table: "attestors", key: "attestor_id" },
  attestations: { table: "attestations", key: "attestation_id" },
  trust_signals: { table: "trust_signals", key: "signal_id" },
  merchants: { table: "merchants", key: "merchant_id" },
  services: { table: "services", key: "service_numeric_id" },
  facilitators: { table: "facilitators", key: "facilitator_id" },
  quotes: { table: "quotes", key: "quote_hash" },
  receipts: { table: "receipts", key: "receipt_id" },
  disputes: { table: "disputes", key: "dispute_id" },
};

/**
 * The block of the first version of each row, up to the audited block: the tables are not named as sources of the
 * recount, so that their names mean all versions.
 */
function selectFirsts(name: string): string {
  const isCancelled = name === "cancelled_intents";
  const { table, key } = (isCancelled ? COUNTED.intents : COUNTED[name]) ?? { table: "", key: "" };
  const cancelled = isCancelled ? " and status = 'CANCELLED'" : "";
  return `select min(valid_from) as block, '${name}' as name from ${table} where valid_from <= $1${cancelled} group by ${key}`;
}

const countsOf = (columns: readonly string[]) =>
  columns.map((name) => `count(*) filter (where name = '${name}') as ${name}`).join(", ");

function columnsOf(table: { readonly columns: Readonly<Record<string, unknown>> }): readonly string[] {
  return Object.keys(table.columns).filter((name) => name !== "scope" && name !== "hour");
}

const firstsOf = (columns: readonly string[]) => columns.map(selectFirsts).join(" union all ");

const totalColumns = columnsOf(protocolTotals);
const protocolTotalsAudit = recountAudit(
  protocolTotals,
  [],
  `select 'all' as scope, ${countsOf(totalColumns)} from (${firstsOf(totalColumns)}) firsts`,
);

const hourColumns = columnsOf(activityHours);
const activityHoursAudit = recountAudit(
  activityHours,
  [],
  `select b.timestamp / 3600 as hour, ${countsOf(hourColumns)}
   from (${firstsOf(hourColumns)}) firsts join blocks b on b.number = firsts.block group by 1`,
);

const openIntentsAudit = recountAudit(
  openIntents,
  [intents],
  `select least(div(deadline, 3600), 1139568)::bigint as hour, count(*) filter (where status = 'OPEN') as intents
   from intents group by 1`,
);

const policyAccountsAudit = recountAudit(
  policyAccounts,
  [policies],
  "select account, count(*) as policies from policies group by account",
);

const VOLUME =
  "count(*) as receipts, sum(amount) as settled_volume, sum(protocol_fee_amount) as protocol_fees";

const sumsOf = (keys: string) => `select ${keys}, ${VOLUME} from receipts group by ${keys}`;

const volumeSeriesAudit = recountAudit(
  volumeSeries,
  [receipts],
  `select hours, dimension, subject, token, timestamp / (hours * 3600) * (hours * 3600) as start, ${VOLUME}
   from receipts join blocks on blocks.number = receipts.block_number cross join (values (1), (24)) length(hours)
     cross join lateral (values ('rail', payment_rail::text), ('merchant', merchant_id::text), ('facilitator', facilitator))
       by_subject(dimension, subject)
   where not (dimension = 'facilitator' and subject = '${ZERO_ADDRESS}') group by 1, 2, 3, 4, 5`,
);

export const activityAudits: readonly TableAudit[] = [
  protocolTotalsAudit,
  activityHoursAudit,
  openIntentsAudit,
  policyAccountsAudit,
  volumeSeriesAudit,
  recountAudit(merchantFlows, [receipts], sumsOf("token, merchant_id")),
  recountAudit(payerFlows, [receipts], sumsOf("token, merchant_id, agent")),
  recountAudit(facilitatorFlows, [receipts], sumsOf("token, merchant_id, facilitator")),
];
