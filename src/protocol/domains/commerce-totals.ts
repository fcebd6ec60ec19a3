// The commerce rollups: totals for analytics and reputation, volumes by hour and day, and who pays whom through whom.
import { addAmounts, type Change } from "../../schema/change.ts";
import { address, boundedText, uint16, uint63, uint256, unboundedInteger } from "../../schema/column.ts";
import { defineRollup, ZERO_ADDRESS } from "../../schema/table.ts";
import { HOUR_SECONDS } from "./activity.ts";

const volume = { receipts: uint63, settled_volume: unboundedInteger, protocol_fees: unboundedInteger };
const byVolume = "settled_volume";

export const commerceTotals = defineRollup(
  "commerce_totals",
  {
    scope: boundedText,
    merchants: uint63,
    active_merchants: uint63,
    services: uint63,
    active_services: uint63,
    facilitators: uint63,
    active_facilitators: uint63,
    quotes: uint63,
    settled_quotes: uint63,
    quoted_volume: unboundedInteger,
    quoted_protocol_fees: unboundedInteger,
    receipts: uint63,
    settled_volume: unboundedInteger,
    settled_protocol_fees: unboundedInteger,
    disputes: uint63,
    open_disputes: uint63,
    resolved_disputes: uint63,
    rejected_disputes: uint63,
  },
  { key: ["scope"] },
);

export const tokenVolumes = defineRollup(
  "token_volumes",
  { token: address, ...volume },
  {
    key: ["token"],
    currentIndex: [
      [byVolume, "token"],
      ["receipts", "token"],
    ],
  },
);

export const railVolumes = defineRollup(
  "rail_volumes",
  { payment_rail: uint16, ...volume },
  { key: ["payment_rail"] },
);

export const facilitatorVolumes = defineRollup(
  "facilitator_volumes",
  { facilitator: address, ...volume },
  { key: ["facilitator"], currentIndex: [[byVolume, "facilitator"]] },
);

export const serviceVolumes = defineRollup(
  "service_volumes",
  { service_numeric_id: uint256, ...volume },
  { key: ["service_numeric_id"], currentIndex: [[byVolume, "service_numeric_id"]] },
);

// Reputation is read at any block, so a merchant's record has its full history.
export const merchantRecords = defineRollup(
  "merchant_records",
  {
    merchant_id: uint256,
    ...volume,
    fulfilled_receipts: uint63,
    disputes: uint63,
    open_disputes: uint63,
    resolved_disputes: uint63,
    rejected_disputes: uint63,
  },
  { key: ["merchant_id"], currentIndex: [[byVolume, "merchant_id"]], history: "full" },
);

/**
 * `hours` is 1 or 24, `subject` an id or address of what `dimension` names. Volumes of all receipts are the sum over the
 * payment rails, of which there are few, so that a receipt has no row of its own for them.
 */
export const volumeSeries = defineRollup(
  "volume_series",
  {
    hours: uint16,
    dimension: boundedText,
    subject: boundedText,
    token: address,
    start: uint63,
    ...volume,
  },
  { key: ["hours", "dimension", "subject", "token", "start"] },
);

export const merchantFlows = defineRollup(
  "merchant_flows",
  { token: address, merchant_id: uint256, ...volume },
  {
    key: ["token", "merchant_id"],
    currentIndex: [
      ["token", byVolume, "merchant_id"],
      ["merchant_id", "receipts", "token"],
    ],
  },
);

export const payerFlows = defineRollup(
  "payer_flows",
  { token: address, merchant_id: uint256, agent: address, ...volume },
  { key: ["token", "merchant_id", "agent"], currentIndex: [["token", "merchant_id", byVolume, "agent"]] },
);

/** Without a facilitator, the zero address, as in receipts. */
export const facilitatorFlows = defineRollup(
  "facilitator_flows",
  { token: address, merchant_id: uint256, facilitator: address, ...volume },
  {
    key: ["token", "merchant_id", "facilitator"],
    currentIndex: [["token", "merchant_id", byVolume, "facilitator"]],
  },
);

type Totals = Partial<Record<Exclude<keyof typeof commerceTotals.columns & string, "scope">, bigint>>;

/** Adds to the one row of totals. */
export function addCommerceTotals(amounts: Totals): Change {
  return addAmounts(commerceTotals, { scope: "all" }, amounts);
}

type SettledReceipt = {
  readonly agent: string;
  readonly token: string;
  readonly payment_rail: number;
  readonly facilitator: string;
  readonly merchant_id: bigint;
  readonly service_numeric_id: bigint;
  readonly amount: bigint;
  readonly protocol_fee_amount: bigint;
};

const HOURS = [1, 24] as const;

/** Adds a settled receipt to every rollup; without a facilitator, to no volume of a facilitator. */
export function addSettledReceipt(receipt: SettledReceipt, timestamp: bigint): Change[] {
  const { token, merchant_id, agent, facilitator, amount, protocol_fee_amount } = receipt;
  const amounts = { receipts: 1n, settled_volume: amount, protocol_fees: protocol_fee_amount };
  const facilitated = facilitator !== ZERO_ADDRESS;
  const changes = [
    addCommerceTotals({
      receipts: 1n,
      settled_volume: amount,
      settled_protocol_fees: protocol_fee_amount,
    }),
    addAmounts(tokenVolumes, { token }, amounts),
    addAmounts(railVolumes, { payment_rail: receipt.payment_rail }, amounts),
    addAmounts(merchantRecords, { merchant_id }, amounts),
    addAmounts(serviceVolumes, { service_numeric_id: receipt.service_numeric_id }, amounts),
    ...(facilitated ? [addAmounts(facilitatorVolumes, { facilitator }, amounts)] : []),
    addAmounts(merchantFlows, { token, merchant_id }, amounts),
    addAmounts(payerFlows, { token, merchant_id, agent }, amounts),
    addAmounts(facilitatorFlows, { token, merchant_id, facilitator }, amounts),
  ];
  for (const hours of HOURS) {
    const seconds = BigInt(hours) * HOUR_SECONDS;
    const start = timestamp - (timestamp % seconds);
    const add = (dimension: string, subject: string) =>
      changes.push(addAmounts(volumeSeries, { hours, dimension, subject, token, start }, amounts));
    add("rail", String(receipt.payment_rail));
    add("merchant", String(merchant_id));
    if (facilitated) add("facilitator", facilitator);
  }
  return changes;
}

/** +1, 0 or -1: how a switch from `before` to `after` changes the count of those that are on. */
export function countDelta(before: boolean, after: boolean): bigint {
  return BigInt(Number(after) - Number(before));
}
