// The model's totals: every count and sum that follows from the events alone, made again for each block.
import { zeroAddress } from "viem";
import type { ModelEvent } from "./model-events.ts";
import { eventArgument, type ReadModel } from "./read-model.ts";

/** The total that an event adds to; with arguments, only the first event with those values counts. */
const COUNTED: Readonly<Record<string, { readonly as: string; readonly oncePer?: string }>> = {
  AgentRegistered: { as: "agents" },
  SpendLimitSet: { as: "accounts", oncePer: "account" },
  TargetAllowlistUpdated: { as: "accounts", oncePer: "account" },
  FunctionAllowlistUpdated: { as: "accounts", oncePer: "account" },
  FunctionAllowlistModeUpdated: { as: "accounts", oncePer: "account" },
  PaymentPolicySet: { as: "accounts", oncePer: "account" },
  GuardianSet: { as: "accounts", oncePer: "account" },
  AccountFrozen: { as: "accounts", oncePer: "account" },
  IntentSubmitted: { as: "intents" },
  IntentCancelled: { as: "cancelled_intents" },
  SolverBidSubmitted: { as: "bids" },
  IntentFilled: { as: "fills" },
  SolverRegistered: { as: "solvers" },
  AttestorRegistered: { as: "attestors" },
  AttestationSubmitted: { as: "attestations" },
  TrustSignalRecorded: { as: "trust_signals" },
  MerchantRegistered: { as: "merchants" },
  ServiceRegistered: { as: "services" },
  FacilitatorRegistered: { as: "facilitators", oncePer: "facilitatorId" },
  QuoteCommitted: { as: "quotes", oncePer: "quoteHash" },
  ReceiptRecorded: { as: "receipts" },
  DisputeOpened: { as: "disputes" },
};
const COMMERCE = ["merchants", "services", "facilitators", "quotes", "receipts", "disputes"];
const NAMES = [...new Set(Object.values(COUNTED).map(({ as }) => as))];
const zeros = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 0n]));
const TOTALS = { scope: "all", ...zeros(NAMES.filter((name) => !COMMERCE.includes(name))) };
const HOUR = 3_600n;
const LAST_HOUR = BigInt(Date.UTC(2100, 0, 1) / 3_600_000);

export function countTotals(model: ReadModel, events: readonly ModelEvent[]): void {
  countActivity(model, events);
  sumReceipts(model, events);
  for (const { deadline, status } of model.rows("intents")) {
    const later = BigInt(String(deadline)) / HOUR;
    const hour = later > LAST_HOUR ? LAST_HOUR : later;
    model.count("open_intents", hour, { hour, intents: 0n }, { intents: status === "OPEN" ? 1n : 0n });
  }
}

const VOLUME = { receipts: 0n, settled_volume: 0n, protocol_fees: 0n };

/** Sums of receipts by time and by party, from the events alone. */
function sumReceipts(model: ReadModel, events: readonly ModelEvent[]): void {
  for (const event of events.filter(({ event: name }) => name === "ReceiptRecorded")) {
    const [token, merchant_id] = [eventArgument<string>(event, "token"), eventArgument(event, "merchantId")];
    const [agent, facilitator] = [
      eventArgument<string>(event, "agent"),
      eventArgument<string>(event, "facilitator").toLowerCase(),
    ];
    const paid = {
      receipts: 1n,
      settled_volume: eventArgument(event, "amount"),
      protocol_fees: eventArgument(event, "protocolFeeAmount"),
    };
    const sum = (table: string, key: Readonly<Record<string, unknown>>) =>
      model.count(table, Object.values(key), { ...key, ...VOLUME }, paid);
    sum("merchant_flows", { token, merchant_id });
    sum("payer_flows", { token, merchant_id, agent });
    sum("facilitator_flows", { token, merchant_id, facilitator });
    const subjects = {
      rail: String(eventArgument<number>(event, "paymentRail")),
      merchant: String(merchant_id),
      ...(facilitator !== zeroAddress && { facilitator }),
    };
    for (const hours of [1, 24]) {
      const start = event.timestamp - (event.timestamp % (BigInt(hours) * HOUR));
      for (const [dimension, subject] of Object.entries(subjects))
        sum("volume_series", { hours, dimension, subject, token, start });
    }
  }
}

function countActivity(model: ReadModel, events: readonly ModelEvent[]): void {
  const met = new Set<string>();
  for (const event of events) {
    const counted = COUNTED[event.event];
    if (!counted) continue;
    if (counted.oncePer !== undefined) {
      const first = `${counted.as} ${String(eventArgument(event, counted.oncePer)).toLowerCase()}`;
      if (met.has(first)) continue;
      met.add(first);
    }
    const hour = event.timestamp / HOUR;
    const one = { [counted.as]: 1n };
    model.count("activity_hours", hour, { hour, ...zeros(NAMES) }, one);
    if (!COMMERCE.includes(counted.as)) model.count("protocol_totals", "all", TOTALS, one);
  }
}
