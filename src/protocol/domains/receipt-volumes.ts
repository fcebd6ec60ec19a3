// Rollups of receipts for charts: volumes by hour and day, and who pays whom through which facilitator.
import { addAmounts, type Change } from "../../schema/change.ts";
import { address, boundedText, uint16, uint63, uint256, unboundedInteger } from "../../schema/column.ts";
import { defineRollup, ZERO_ADDRESS } from "../../schema/table.ts";
import { HOUR_SECONDS } from "./activity.ts";

const volume = { receipts: uint63, settled_volume: unboundedInteger, protocol_fees: unboundedInteger };
const byVolume = "settled_volume";

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

type PaidReceipt = {
  readonly agent: string;
  readonly token: string;
  readonly payment_rail: number;
  readonly facilitator: string;
  readonly merchant_id: bigint;
  readonly amount: bigint;
  readonly protocol_fee_amount: bigint;
};

const HOURS = [1, 24] as const;

export function addReceiptVolumes(receipt: PaidReceipt, timestamp: bigint): Change[] {
  const { token, merchant_id, agent, facilitator } = receipt;
  const amounts = {
    receipts: 1n,
    settled_volume: receipt.amount,
    protocol_fees: receipt.protocol_fee_amount,
  };
  const changes = [
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
    if (facilitator !== ZERO_ADDRESS) add("facilitator", facilitator);
  }
  return changes;
}
