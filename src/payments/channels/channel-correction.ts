// The state of a channel as responses carry it, and as a client needs it that knows another sum.
import { type ChannelRow, type ChannelState, isPublicVoucher } from "./channel-row.ts";

/** The state of a channel as responses carry it. */
export function describeChannel(row: ChannelState & Pick<ChannelRow, "channelId">, charged: bigint) {
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

/** For a client that may be anyone: the newest voucher would let it act for the payer, unless it is public as well. */
export function describePublicCorrection(row: ChannelRow): Readonly<Record<string, unknown>> {
  if (isPublicVoucher(row, row.charged)) return describeCorrection(row);
  return { channelState: describeChannel(row, row.charged) };
}
