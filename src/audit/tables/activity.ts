// Audits of rollups: totals, activity by hour, open intents by deadline, accounts with policies, volumes of receipts.
import { activityHours, openIntents, protocolTotals } from "../../protocol/domains/activity.ts";
import { receipts } from "../../protocol/domains/commerce.ts";
import {
  facilitatorFlows,
  merchantFlows,
  payerFlows,
  volumeSeries,
} from "../../protocol/domains/commerce-totals.ts";
import { intents } from "../../protocol/domains/intents.ts";
import { policies, policyAccounts } from "../../protocol/domains/policies.ts";
import { tables } from "../../protocol/domains.ts";
import { listValueColumns, ZERO_ADDRESS } from "../../schema/table.ts";
import { VOLUME } from "./commerce.ts";
import { recountAudit, type TableAudit } from "./define-audit.ts";

/** Counts whose rows are not simply those of the table of the same name. */
const SOURCES: Readonly<Record<string, { name: string; key?: readonly string[]; where?: string }>> = {
  accounts: { name: "policies", key: ["account"] },
  cancelled_intents: { name: "intents", where: " and status = 'CANCELLED'" },
};

/**
 * The block of the first version of each row, up to the audited block: the tables are not named as sources of the
 * recount, so that their names mean all versions.
 */
function selectFirsts(counted: string): string {
  const table = SOURCES[counted] ?? { name: counted };
  const key = table.key ?? tables.find(({ name }) => name === table.name)?.key ?? [];
  return `select min(valid_from) as block, '${counted}' as name from ${table.name} where valid_from <= $1${table.where ?? ""} group by ${key.join(", ")}`;
}

const countsOf = (columns: readonly string[]) =>
  columns.map((name) => `count(*) filter (where name = '${name}') as ${name}`).join(", ");

const firstsOf = (columns: readonly string[]) => columns.map(selectFirsts).join(" union all ");

const totalColumns = listValueColumns(protocolTotals);
const protocolTotalsAudit = recountAudit(
  protocolTotals,
  [],
  `select 'all' as scope, ${countsOf(totalColumns)} from (${firstsOf(totalColumns)}) firsts`,
);

const hourColumns = listValueColumns(activityHours);
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

const sumsOf = (keys: string) => `select ${keys}, ${VOLUME} from receipts group by ${keys}`;

const volumeSeriesAudit = recountAudit(
  volumeSeries,
  [receipts],
  `select hours, dimension, subject, token, timestamp / (hours * 3600) * (hours * 3600) as start, ${VOLUME}
   from receipts join blocks on blocks.number = receipts.block_number cross join (values (1), (24)) length(hours)
     cross join lateral (values ('rail', payment_rail::text), ('merchant', merchant_id::text), ('facilitator', hex_text(facilitator)))
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
