// The state of a channel as responses carry it, and as a client needs it that knows another sum.
import type { ChannelRow } from "./channel-row.ts";

/** The state of a channel as responses carry it. */
export function describeChannel(row: ChannelRow, charged: bigint) {
  return {
    channelId: row.channelId,
    balance: row.balance.toString(),
    totalClaimed: row.totalClaimed.toString(),
    withdrawRequestedAt: row.withdrawStarted,
    refundNonce: row.refundNonce.toString(),
    chargedCumulativeAmount: charged.toString(),
  };
}

/** For a client that knows another sum; with a voucher of its own, which proves the sum. */
export function describeCorrection(row: ChannelRow): Readonly<Record<string, unknown>> {
  const { charged, signature } = row;
  return {
    channelState: describeChannel(row, charged),
    ...(signature === null ? {} : { voucherState: { signedMaxClaimable: charged.toString(), signature } }),
  };
}
