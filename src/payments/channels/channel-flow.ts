// One request that pays by channel, in its turn: replay, correct, or check what covers it, run the handler and charge.
import { DeadlineExceededError, withDeadline } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { type StoredResponse, toStoredResponse } from "../ledger/row.ts";
import { asUncharged, isOutage, isOverload } from "../paywall/flow-run.ts";
import { encodeX402Header } from "../paywall/offer.ts";
import { noteResponse, receiptExtensions, withoutNote } from "../paywall/receipts.ts";
import { REJECTION_UNITS, RUN_UNITS } from "../paywall/unpaid-work.ts";
import { describeChannel, describeCorrection, describePublicCorrection } from "./channel-correction.ts";
import { type Covered, cover, depositOf } from "./channel-cover.ts";
import { openRefundOf } from "./channel-mirror.ts";
import { serveRefund } from "./channel-refund.ts";
import type { ChannelFlow } from "./channel-request.ts";
import { type ChannelRow, isPublicVoucher, type Purchase } from "./channel-row.ts";
import type { OpenedChannel } from "./channel-rows.ts";
import {
  AMOUNT_MISMATCH,
  CHANNEL_NOT_FOUND,
  CLAIMED_ELSEWHERE,
  EXCEEDS_BALANCE,
  NOTHING_TO_REFUND,
  PUBLIC_REFUND,
} from "./channel-terms.ts";
import { readBoughtByTransfer } from "./other-scheme.ts";

const RENEWALS_PER_LEASE = 3;

/** Null while another request has the channel. */
export async function actOnChannel(flow: ChannelFlow): Promise<EndpointResponse | null> {
  const opened = await openChannel(flow);
  const isKnown = opened.row !== null || opened.purchase !== null || opened.transfer !== null;
  if (isKnown) return decide(flow, opened);
  const refused = await addUnknown(flow);
  if (refused !== null) return refused;
  return decide(flow, await openChannel(flow));
}

function openChannel({ services, payment, amount, fingerprint, paymentId, owner }: ChannelFlow) {
  const { channelId, maxClaimable, config } = payment;
  const { payer, token } = config;
  const request = { channelId, maxClaimable, amount, payer, token, fingerprint, paymentId };
  return services.rows.open(request, owner);
}

async function decide(flow: ChannelFlow, opened: OpenedChannel): Promise<EndpointResponse | null> {
  const { services, payment, paymentId, fingerprint, respond } = flow;
  const { row, purchase, turn } = opened;
  if (purchase !== null && purchase.paymentId === paymentId) {
    if (purchase.fingerprint === fingerprint) return replay(flow, purchase, row);
    if (paymentId !== null) return respond.conflict("The payment identifier belongs to another request.");
  }
  if (opened.transfer !== null) return readBoughtByTransfer(flow, opened.transfer);
  if (row?.isClaimedElsewhere) return respond.paymentRequired(CLAIMED_ELSEWHERE);
  if (row !== null && isPublicVoucher(row, payment.maxClaimable)) return rejectPublic(flow, row);
  if (turn === "correct" && row !== null)
    return respond.paymentRequired(AMOUNT_MISMATCH, describeCorrection(row));
  if (turn === "work" && row !== null) return work(flow, { ...opened, row });
  return opened.failures >= services.limits.failuresMax ? respond.tooManyFailures() : null;
}

/** Anyone may have sent it, so its client pays for the work, and the channel is not kept for it. */
function rejectPublic({ payment, unpaid, respond }: ChannelFlow, row: ChannelRow): EndpointResponse {
  const waitMs = unpaid.takeRejection();
  if (waitMs > 0) return respond.tooManyUnpaid(waitMs);
  unpaid.spend(REJECTION_UNITS);
  if (payment.kind !== "refund" || payment.maxClaimable !== row.charged) {
    return respond.paymentRequired(AMOUNT_MISMATCH, describePublicCorrection(row));
  }
  if (openRefundOf(row) > 0n) return respond.pending("The refund was signed, and is not mined yet.");
  return respond.paymentRequired(row.balance > row.charged ? PUBLIC_REFUND : NOTHING_TO_REFUND);
}

/** Adds a channel that our node shows to be worth it, or says why not. */
async function addUnknown(flow: ChannelFlow): Promise<EndpointResponse | null> {
  const { services, payment, amount, unpaid, respond } = flow;
  const { channelId, config, maxClaimable, deposit } = payment;
  // Reads nodes for a channel that may not exist.
  const waitMs = unpaid.takeRejection() || (deposit === null ? 0 : unpaid.takeRun());
  if (waitMs > 0) return respond.tooManyUnpaid(waitMs);
  let problem: string = CHANNEL_NOT_FOUND;
  let claimed: Readonly<Record<string, unknown>> | null = null;
  try {
    const added = await services.mirror.add(channelId, config, async (state) => {
      if (maxClaimable !== state.totalClaimed + amount) {
        // All that is known of a channel whose vouchers were lost.
        claimed = { channelState: describeChannel({ channelId, ...state }, state.totalClaimed) };
        problem = state.balance === 0n && deposit === null ? CHANNEL_NOT_FOUND : AMOUNT_MISMATCH;
        return false;
      }
      if (deposit === null && maxClaimable > state.balance) {
        problem = state.balance === 0n ? CHANNEL_NOT_FOUND : EXCEEDS_BALANCE;
        return false;
      }
      const rejected = deposit === null ? null : await services.sender.checkDeposit(depositOf(flow, deposit));
      problem = rejected ?? problem;
      return rejected === null;
    });
    if (added === "added") return null;
    if (added !== "worthless") {
      unpaid.spend(REJECTION_UNITS);
      return respond.tooManyChannels(added);
    }
  } catch (error) {
    return respond.facilitatorUnavailable(error);
  }
  unpaid.spend(REJECTION_UNITS);
  return respond.paymentRequired(problem, problem === AMOUNT_MISMATCH ? claimed : null);
}

/** The response of a purchase that was made: nothing is charged. */
async function replay(
  flow: ChannelFlow,
  purchase: Purchase,
  row: ChannelRow | null,
): Promise<EndpointResponse> {
  const { services, payment, respond } = flow;
  const { channelId, config, maxClaimable } = payment;
  // Anyone can name a payer in the channel of a key of its own.
  const isPayer = config.payerAuthorizer === config.payer || purchase.channelId === channelId;
  if (row === null || !isPayer) return respond.conflict("The payment identifier belongs to another channel.");
  const stored = await services.rows.readStoredResponse(purchase.channelId, purchase.cumulative);
  if (stored === null) return respond.conflict("The payment was used, and its response is no longer stored.");
  services.count("replayed");
  // The same voucher brings the client to the sum of the purchase. Another one, for the same name, charged nothing.
  const isSame = purchase.channelId === channelId && purchase.cumulative === maxClaimable;
  const charged = { amount: isSame ? purchase.amount : 0n, total: isSame ? maxClaimable : row.charged };
  return deliver(flow, stored, row, { ...charged, deposit: isSame ? purchase : null, bought: purchase });
}

type Charged = {
  readonly amount: bigint;
  readonly total: bigint;
  readonly deposit: Pick<Purchase, "depositTransaction" | "depositAmount"> | null;
  /** Null if it does not matter for the call. */
  readonly freeCallsLeft?: number | null;
  /** The purchase as its receipt states it, which is the same when it is sent again. */
  readonly bought: Pick<Purchase, "channelId" | "amount" | "cumulative">;
};

function deliver(
  { payment, offer, resource }: ChannelFlow,
  stored: StoredResponse,
  row: ChannelRow,
  { amount, total, deposit, freeCallsLeft = null, bought }: Charged,
): EndpointResponse {
  const { status, headers, body } = withoutNote(stored);
  const { payer } = payment.config;
  const receipt = {
    success: true,
    transaction: deposit?.depositTransaction ?? "",
    network: offer.network,
    payer,
    amount: deposit?.depositAmount?.toString() ?? "",
    extra: {
      chargedAmount: amount.toString(),
      channelState: describeChannel(row, total),
      ...(freeCallsLeft === null ? {} : { freeCallsLeft }),
    },
    ...receiptExtensions(offer, resource, stored, { payer, ...bought }),
  };
  // A shared cache must never serve a paid response to another client.
  const paid = { "cache-control": "private, no-store", "payment-response": encodeX402Header(receipt) };
  return { status, headers: { ...headers, ...paid }, body };
}

/** As the owner of the channel, whose next voucher this is. */
async function work(
  flow: ChannelFlow,
  opened: OpenedChannel & { readonly row: ChannelRow },
): Promise<EndpointResponse> {
  const { services, payment, owner } = flow;
  const { rows, channelLimits, log } = services;
  const { channelId } = payment;
  const renewal = setInterval(() => {
    // A lost turn shows when the purchase is charged.
    rows.renew(channelId, owner).catch((err: unknown) => {
      log.warn(
        { component: "payments", event: "channel_turn_not_renewed", err },
        "Turn of a channel not renewed",
      );
    });
  }, channelLimits.leaseMs / RENEWALS_PER_LEASE);
  const turn: Turn = { isCharged: false, hasFailed: false };
  try {
    if (payment.kind === "refund") return await serveRefund(flow);
    const covered = await cover(flow, opened);
    if ("response" in covered) return covered.response;
    const { charged } = opened.row;
    return await runAndCharge(flow, { ...covered, formerHolder: opened.formerHolder, charged }, turn);
  } finally {
    clearInterval(renewal);
    if (!turn.isCharged) {
      // A new payer's deposit, or a refund, without a purchase.
      if (payment.kind !== "voucher") flow.unpaid.spendTaken();
      // Otherwise the turn ends with its lease.
      await rows.release(channelId, owner, turn).catch((err: unknown) => {
        log.warn(
          { component: "payments", event: "channel_turn_not_released", err },
          "Turn of a channel not released",
        );
      });
    }
  }
}

type Turn = { isCharged: boolean; hasFailed: boolean };

/**
 * The payer's quota of free calls. Not for a channel that has bought nothing, or a call that brings a deposit: those cost us
 * gas. Nor without a name: a retry of a free call has the same voucher as the next call.
 */
function quotaOf({ offer, payment, paymentId }: ChannelFlow, charged: bigint): number {
  const isEligible = charged > 0n && payment.deposit === null && paymentId !== null;
  return isEligible ? (offer.channels?.freeCallsPerHour ?? 0) : 0;
}

/** The purchase is charged in the statement that stores its response; a failure costs the payer nothing. */
async function runAndCharge(
  flow: ChannelFlow,
  {
    row,
    depositTransaction,
    formerHolder,
    charged,
  }: Covered & Pick<OpenedChannel, "formerHolder"> & { readonly charged: bigint },
  turn: Turn,
): Promise<EndpointResponse> {
  const { services, payment, amount, fingerprint, paymentId, owner, respond, unpaid } = flow;
  const { channelId, config, maxClaimable, signature, deposit } = payment;
  let response: EndpointResponse;
  let stored: StoredResponse;
  try {
    response = await handleInTime(flow);
    if (response.status >= 400) {
      turn.hasFailed = true;
      unpaid.spend(RUN_UNITS);
      services.count("failed");
      return response;
    }
    stored = noteResponse(flow.offer, response, toStoredResponse(response));
  } catch (error) {
    if (isOverload(error)) throw asUncharged(error);
    turn.hasFailed = true;
    if (!isOutage(error)) unpaid.spend(RUN_UNITS);
    services.count("failed");
    throw error;
  }
  const depositAmount = depositTransaction === null ? null : (deposit?.amount ?? null);
  const purchase = {
    channelId,
    cumulative: maxClaimable,
    amount,
    fingerprint,
    paymentId,
    depositTransaction,
    depositAmount,
  };
  const freeCallsPerHour = quotaOf(flow, charged);
  const { responseMs = null } = flow.offer;
  const cost = await services.rows.charge(
    { config, signature, purchase, response: stored, responseMs, formerHolder, freeCallsPerHour },
    owner,
  );
  if (cost === null) {
    unpaid.spend(RUN_UNITS);
    return respond.takenOver();
  }
  turn.isCharged = true;
  services.count(cost.amount === amount ? "settled" : "free");
  const total = maxClaimable - amount + cost.amount;
  const bought = { ...purchase, amount: cost.amount };
  return deliver(flow, stored, row, { ...cost, total, deposit: purchase, bought });
}

async function handleInTime({ services, handler }: ChannelFlow): Promise<EndpointResponse> {
  const { clock, limits } = services;
  try {
    return await withDeadline({ clock, ms: limits.handlerMs, what: "The paid handler" }, handler);
  } catch (cause) {
    if (!(cause instanceof DeadlineExceededError)) throw cause;
    throw new Fault("TIMED_OUT", "The response took too long, and nothing was charged; try again.", {
      cause,
    });
  }
}
