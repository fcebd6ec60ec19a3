// The commerce rollups: totals for analytics and reputation.
import { addAmounts, type Change } from "../../schema/change.ts";
import { address, boundedText, uint16, uint63, uint256, unboundedInteger } from "../../schema/column.ts";
import { defineRollup, ZERO_ADDRESS } from "../../schema/table.ts";

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

type Totals = Partial<Record<Exclude<keyof typeof commerceTotals.columns & string, "scope">, bigint>>;

/** Adds to the one row of totals. */
export function addCommerceTotals(amounts: Totals): Change {
  return addAmounts(commerceTotals, { scope: "all" }, amounts);
}

type SettledReceipt = {
  readonly token: string;
  readonly payment_rail: number;
  readonly facilitator: string;
  readonly merchant_id: bigint;
  readonly service_numeric_id: bigint;
  readonly amount: bigint;
  readonly protocol_fee_amount: bigint;
};

/** Adds a settled receipt to every rollup; without a facilitator, to no facilitator volume. */
export function addSettledReceipt(receipt: SettledReceipt): Change[] {
  const amounts = {
    receipts: 1n,
    settled_volume: receipt.amount,
    protocol_fees: receipt.protocol_fee_amount,
  };
  const facilitated = receipt.facilitator !== ZERO_ADDRESS;
  return [
    addCommerceTotals({
      receipts: 1n,
      settled_volume: receipt.amount,
      settled_protocol_fees: receipt.protocol_fee_amount,
    }),
    addAmounts(tokenVolumes, { token: receipt.token }, amounts),
    addAmounts(railVolumes, { payment_rail: receipt.payment_rail }, amounts),
    addAmounts(merchantRecords, { merchant_id: receipt.merchant_id }, amounts),
    addAmounts(serviceVolumes, { service_numeric_id: receipt.service_numeric_id }, amounts),
    ...(facilitated ? [addAmounts(facilitatorVolumes, { facilitator: receipt.facilitator }, amounts)] : []),
  ];
}

/** +1, 0 or -1: how a switch from `before` to `after` changes the count of those that are on. */
export function countDelta(before: boolean, after: boolean): bigint {
  return BigInt(Number(after) - Number(before));
}
