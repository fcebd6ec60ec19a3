// Counts of everything that the protocol records: totals, the same by hour, and open intents by their deadline.
import { addAmounts, type Change } from "../../schema/change.ts";
import { boundedText, uint63 } from "../../schema/column.ts";
import { defineRollup } from "../../schema/table.ts";

export const HOUR_SECONDS = 3_600n;

const counts = {
  agents: uint63,
  accounts: uint63,
  intents: uint63,
  cancelled_intents: uint63,
  bids: uint63,
  fills: uint63,
  solvers: uint63,
  attestors: uint63,
  attestations: uint63,
  trust_signals: uint63,
};

/** The counts that commerce_totals has already, so that the totals of this file leave it out. */
const commerceCounts = {
  merchants: uint63,
  services: uint63,
  facilitators: uint63,
  quotes: uint63,
  receipts: uint63,
  disputes: uint63,
};

export const protocolTotals = defineRollup(
  "protocol_totals",
  { scope: boundedText, ...counts },
  { key: ["scope"] },
);

/** Rows by unix hour. Days are sums of hours: a row for each would cost every event one more write. */
export const activityHours = defineRollup(
  "activity_hours",
  { hour: uint63, ...counts, ...commerceCounts },
  { key: ["hour"] },
);

// Rows by the hour of the deadline: an intent expires without an event, so that those still open are found by time.
export const openIntents = defineRollup("open_intents", { hour: uint63, intents: uint63 }, { key: ["hour"] });

// 2100-01-01: one row has all later deadlines, which anyone may spread as far as 2^256.
const LAST_DEADLINE_HOUR = 1_139_568n;

type ProtocolCounts = Partial<Record<keyof typeof counts, bigint>>;
type CommerceCounts = Partial<Record<keyof typeof commerceCounts, bigint>>;

export function countActivity(timestamp: bigint, amounts: ProtocolCounts): Change[] {
  return [addAmounts(protocolTotals, { scope: "all" }, amounts), countHour(timestamp, amounts)];
}

export function countHour(timestamp: bigint, amounts: ProtocolCounts & CommerceCounts): Change {
  return addAmounts(activityHours, { hour: timestamp / HOUR_SECONDS }, amounts);
}

/** 1 when an intent opens, -1 when it is filled or cancelled. */
export function countOpenIntent(deadline: bigint, intents: 1n | -1n): Change {
  const hour = deadline / HOUR_SECONDS;
  return addAmounts(
    openIntents,
    { hour: hour < LAST_DEADLINE_HOUR ? hour : LAST_DEADLINE_HOUR },
    { intents },
  );
}
