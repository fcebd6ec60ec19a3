// Whether a channel covers a voucher now: by its row if that is young, by our own node, or by the deposit that the payment brings.
import type { Hex } from "../../lib/hex.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { REJECTION_UNITS } from "../paywall/unpaid-work.ts";
import { depositNonceOf } from "./channel-config.ts";
import { coverageOf } from "./channel-mirror.ts";
import type { ChannelDeposit } from "./channel-payment.ts";
import type { ChannelFlow } from "./channel-request.ts";
import type { AgedScan, ChannelRow } from "./channel-row.ts";
import type { FoundChannel } from "./channel-rows.ts";
import type { DepositRequest } from "./channel-sender.ts";
import { DEPOSIT_FAILED, EXCEEDS_BALANCE } from "./channel-terms.ts";

export type Covered = { readonly row: ChannelRow; readonly depositTransaction: Hex | null };

/** Whether the channel covers the voucher now; makes its deposit first if it brings one. */
export async function cover(
  flow: ChannelFlow,
  opened: FoundChannel,
): Promise<Covered | { readonly response: EndpointResponse }> {
  const { services, payment, respond, unpaid } = flow;
  const { mirror } = services;
  // A channel that has bought nothing may never do.
  const runWaitMs = opened.row.charged === 0n ? unpaid.takeRun() : 0;
  if (runWaitMs > 0) return { response: respond.tooManyUnpaid(runWaitMs) };
  try {
    let known = await readYoung(flow, opened);
    if (!isYoung(known.scan, services.channelLimits)) return { response: respondUncovered(flow, "node") };
    if (payment.deposit !== null) return await makeDeposit(flow);
    let problem = findUncovered(flow, known);
    if (problem === "balance") {
      // Its payer may have made a deposit that no event has shown us yet.
      const waitMs = unpaid.takeRejection();
      if (waitMs > 0) return { response: respond.tooManyUnpaid(waitMs) };
      await mirror.refresh(payment.channelId);
      known = await reload(flow);
      problem = findUncovered(flow, known);
      if (problem === "balance") unpaid.spend(REJECTION_UNITS);
    }
    if (problem === null) return { row: known.row, depositTransaction: null };
    return { response: respondUncovered(flow, problem) };
  } catch (error) {
    return { response: respond.facilitatorUnavailable(error) };
  }
}

/** Whether what the rows say was read a moment ago, of a block that was made a moment ago. */
export function isYoung(scan: AgedScan | null, limits: ChannelFlow["services"]["channelLimits"]): boolean {
  if (scan === null) return false;
  return scan.ageMs <= limits.mirrorAgeMsMax && scan.blockAgeMs <= limits.blockAgeMsMax;
}

/** The channel as the node shows it now, if the row is old; a node that stands still is not asked for every request. */
async function readYoung(flow: ChannelFlow, known: FoundChannel): Promise<FoundChannel> {
  const { mirror, channelLimits } = flow.services;
  const { scan } = known;
  if (isYoung(scan, channelLimits)) return known;
  if (scan !== null && scan.ageMs < channelLimits.rereadMs) return known;
  await mirror.follow();
  return reload(flow);
}

type Uncovered = "balance" | "finality" | "node";

function respondUncovered({ respond }: ChannelFlow, problem: Uncovered): EndpointResponse {
  if (problem === "balance") return respond.paymentRequired(EXCEEDS_BALANCE);
  const reason =
    problem === "node" ? "Our node does not show the channel at the moment" : "The deposit is not final yet";
  return respond.pending(`${reason}; send the same voucher again.`);
}

function findUncovered({ services, payment }: ChannelFlow, { row, scan }: FoundChannel): Uncovered | null {
  const { channelLimits, exposureMax } = services;
  if (scan === null || !isYoung(scan, channelLimits)) return "node";
  const coverage = coverageOf(row, scan);
  if (payment.maxClaimable > coverage.now) return "balance";
  // Claimed money is safe; the part that a reorg may take with the deposit stays small.
  const safe = coverage.final > row.totalClaimed ? coverage.final : row.totalClaimed;
  return payment.maxClaimable > safe + exposureMax ? "finality" : null;
}

async function reload({ services, payment }: ChannelFlow) {
  const found = await services.rows.find(payment.channelId);
  if (found === null) throw new Error("a channel that is worked on is missing");
  return found;
}

export function depositOf({ payment, offer }: ChannelFlow, deposit: ChannelDeposit): DepositRequest {
  const { channelId, config, maxClaimable, signature } = payment;
  const voucher = { maxClaimable, signature };
  return {
    channelId,
    config,
    deposit,
    voucher,
    tokenName: offer.assetName,
    tokenVersion: offer.assetVersion,
  };
}

/** Counts a transaction whose gas we pay for the payer, once for the same purpose; false if it has had too many. */
export function takeSponsored(
  { services, offer, payment, owner }: ChannelFlow,
  { purpose, isDeposit }: { readonly purpose: string; readonly isDeposit: boolean },
): Promise<boolean> {
  const { channelId, config } = payment;
  const worth = offer.channels?.minDeposit ?? offer.amount;
  return services.rows.takeSponsored({ channelId, config, purpose, isDeposit, worth }, owner);
}

/** The facilitator makes the deposit; it counts once our own node shows it. */
async function makeDeposit(flow: ChannelFlow): Promise<Covered | { readonly response: EndpointResponse }> {
  const { services, payment, respond, unpaid, owner } = flow;
  const { rows, sender, mirror, clock, channelLimits } = services;
  const { channelId, config, deposit } = payment;
  if (deposit === null) throw new Error("a payment without a deposit makes none");
  const request = depositOf(flow, deposit);
  // Only what the payer has signed counts for it: the signer of the voucher may be anyone.
  const isPayers = config.payerAuthorizer === config.payer;
  const unsigned = isPayers ? null : await sender.checkDeposit(request);
  const purpose = depositNonceOf(channelId, deposit.salt);
  if (unsigned === null && !(await takeSponsored(flow, { purpose, isDeposit: true }))) {
    await rows.dropUnused(channelId, owner, { sponsored: 0 });
    return { response: respond.tooMuchSponsored() };
  }
  const rejected = (reason: string) => ({ kind: "rejected", reason }) as const;
  const made = unsigned === null ? await sender.deposit(request) : rejected(unsigned);
  if (made.kind === "unknown") return { response: respond.facilitatorUnavailable(made.cause) };
  const until = clock.nowMs() + channelLimits.receiptMs;
  for (let pauseMs = channelLimits.receiptPollMs; ; pauseMs *= 2) {
    // The facilitator's word about the deposit decides nothing.
    await mirror.follow();
    await mirror.refresh(channelId);
    const known = await reload(flow);
    const problem = findUncovered(flow, known);
    if (problem === null) {
      return { row: known.row, depositTransaction: made.kind === "deposited" ? made.transaction : null };
    }
    if (made.kind === "rejected" && problem === "balance") {
      unpaid.spend(REJECTION_UNITS);
      // Without a transaction it has cost no gas.
      await rows.dropUnused(channelId, owner, { sponsored: made.reason === DEPOSIT_FAILED ? 0 : 1 });
      return { response: respond.paymentRequired(made.reason) };
    }
    if (clock.nowMs() >= until || problem === "finality") {
      return { response: respondUncovered(flow, problem === "balance" ? "node" : problem) };
    }
    await clock.sleep(pauseMs);
  }
}
