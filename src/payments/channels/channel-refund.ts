// The refund that a payer asks for on a paid route: what is charged is claimed, and the rest goes back, at once.
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { encodeX402Header } from "../paywall/offer.ts";
import { RUN_UNITS } from "../paywall/unpaid-work.ts";
import { describeChannel } from "./channel-correction.ts";
import { isYoung, takeSponsored } from "./channel-cover.ts";
import { openRefundOf } from "./channel-mirror.ts";
import type { ChannelFlow } from "./channel-request.ts";
import type { ChannelRow } from "./channel-row.ts";
import type { FoundChannel } from "./channel-rows.ts";
import { NOTHING_TO_REFUND, WRONG_REFUND_AMOUNT } from "./channel-terms.ts";

/** As the owner of the channel, whose payer has signed what is charged. */
export async function serveRefund(flow: ChannelFlow): Promise<EndpointResponse> {
  const { services, payment, respond, unpaid } = flow;
  // We pay for the transaction.
  const waitMs = unpaid.takeRun();
  if (waitMs > 0) return respond.tooManyUnpaid(waitMs);
  try {
    await services.mirror.follow();
    await services.mirror.refresh(payment.channelId);
    const known = await services.rows.find(payment.channelId);
    if (known === null) throw new Error("a channel that is refunded is missing");
    if (!isYoung(known.scan, services.channelLimits)) {
      return respond.pending("Our node does not show the channel at the moment; ask for the refund again.");
    }
    const open = openRefundOf(known.row);
    const purpose = `refund ${known.row.refundNonce}`;
    if (open === 0n && !(await takeSponsored(flow, { purpose, isDeposit: false }))) {
      return respond.tooMuchSponsored();
    }
    const amount = open || (await recordRefund(flow, known));
    if (typeof amount !== "bigint") return amount;
    unpaid.spend(RUN_UNITS);
    const { kind, transaction } = await services.claims.sendRefund(known.row, amount);
    if (kind !== "mined") return respond.pending(`The refund is not mined yet (${transaction}).`);
    const after = (await services.rows.find(payment.channelId))?.row ?? known.row;
    return describeRefund(flow, after, amount, transaction);
  } catch (error) {
    return respond.facilitatorUnavailable(error);
  }
}

/**
 * Decides about the amount and records it, so that no voucher counts on it when the signature gets out. A refund that was
 * recorded before and may still be used is sent again instead.
 */
async function recordRefund(
  { services, payment, offer, respond, owner }: ChannelFlow,
  { row, scan }: FoundChannel,
): Promise<bigint | EndpointResponse> {
  const available = row.balance - row.charged;
  if (available <= 0n) return respond.paymentRequired(NOTHING_TO_REFUND);
  const amount = payment.refundAmount ?? available;
  const least =
    offer.channels && offer.channels.minDeposit < available ? offer.channels.minDeposit : available;
  if (amount > available || amount < least) return respond.paymentRequired(WRONG_REFUND_AMOUNT);
  if (isLastRefundOpen({ row, scan })) {
    return respond.pending("The last refund is not final yet; ask again later.");
  }
  if (await services.rows.recordRefund(row, amount, owner)) return amount;
  return respond.pending("The channel has changed; ask for the refund again.");
}

/** Until it is final, a reorg may make the last refund usable once more, and only one is remembered. */
export function isLastRefundOpen({ row, scan }: FoundChannel): boolean {
  return row.signedRefund !== null && (scan === null || row.blockNumber > scan.finalNumber);
}

function describeRefund(
  { payment, offer }: ChannelFlow,
  row: ChannelRow,
  amount: bigint,
  transaction: string,
): EndpointResponse {
  const receipt = {
    success: true,
    transaction,
    network: offer.network,
    payer: payment.config.payer,
    amount: amount.toString(),
    extra: { channelState: describeChannel(row, row.charged) },
  };
  return {
    status: 200,
    headers: { "cache-control": "private, no-store", "payment-response": encodeX402Header(receipt) },
    body: { refunded: amount.toString(), transaction },
  };
}
