// Claims vouchers: many channels and the payout in one transaction, when it is worth it or a payer starts to withdraw.
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { VoucherClaim } from "./channel-config.ts";
import { openRefundOf } from "./channel-mirror.ts";
import type { ChannelRow } from "./channel-row.ts";
import type { CallOutcome, ChannelCall, SignedClaims } from "./channel-sender.ts";
import type { SentClaim, SentTransaction, UnclaimedChannel } from "./claim-rows.ts";
import type { ChannelParts, ClaimRules, ReceiverAuthorizer } from "./open-channels.ts";

type ClaimRun = {
  readonly transaction: Hex | null;
  readonly claimed: number;
  readonly value: bigint;
  /** Channels whose claim the contract rejects. */
  readonly rejected: readonly Hex[];
};

type ClaimsOptions = ChannelParts & { readonly log: Log };

const NOTHING: ClaimRun = { transaction: null, claimed: 0, value: 0n, rejected: [] };
// After this time a transaction that no node has was dropped: its account nonce is used for another one.
const GONE_SECONDS = 60;
// A transaction that is still not mined by then holds no other claim back: at worst the contract skips what is claimed.
const STUCK_SECONDS = 120;
// Within the time in which a claim is not sent again (ten minutes): three bad claims among a hundred are found, and what
// reverts cost in an hour is bounded, whatever makes claims revert. A wait for that is shorter than any withdrawal.
const REVERTS_MAX = 24;
// Another process waits for its turn meanwhile.
const TRANSACTIONS_PER_RUN = 8;
// Each is waited for until it is mined.
const REFUNDS_PER_RUN = 3;
// More than a few transactions hold; the rest follows in the next run.
const CANDIDATES_MAX = 1_000;

export class ChannelClaims {
  readonly #options: ClaimsOptions;
  /** When this process last tried to send a refund: one that cannot be sent leaves no transaction behind. */
  readonly #refundTriedMs = new Map<Hex, number>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /**
   * Sends at most one transaction, and some with parts of one that has reverted. The chain decides what is claimed: a run that
   * is repeated claims nothing twice.
   */
  claimDue({ valueMin, ageSecondsMax, rowMin = 0n }: ClaimRules): Promise<ClaimRun> {
    return this.#claim((channels) => {
      const claims = channels.flatMap(({ row }) => claimOf(row));
      if (claims.reduce((sum, { delta }) => sum + delta, 0n) >= valueMin) return channels;
      return channels.filter(
        ({ row, ageSeconds, isBlind, group }) =>
          isBlind || group !== null || isUncovered(row) || ageSeconds >= ageSecondsMax,
      );
    }, rowMin);
  }

  /** Claims these channels now, or all with anything to claim. */
  claimNow(channelIds: readonly Hex[] | null): Promise<ClaimRun> {
    return this.#claim(
      (channels) => channels.filter(({ row }) => channelIds === null || channelIds.includes(row.channelId)),
      0n,
    );
  }

  async #claim(
    chooseDue: (channels: readonly UnclaimedChannel[]) => readonly UnclaimedChannel[],
    rowMin: bigint,
  ): Promise<ClaimRun> {
    const { network, sender, claimRows, authorizers } = this.#options;
    const signers = [...authorizers.keys()];
    const findDue = async () => chooseDue(await claimRows.findUnclaimed(signers, CANDIDATES_MAX, rowMin));
    // Without anything to do there is no turn to take.
    const isIdle = (await findDue()).length === 0 && (await claimRows.findOpenTransactions()).length === 0;
    if (isIdle) return NOTHING;
    return sender.runInTurn(`${network} channel claims`, async () => {
      if (!(await this.#hasFinished())) return NOTHING;
      // Reads first: claims since the last look are not made again.
      await this.#follow();
      return this.#sendDue(findDue);
    });
  }

  /**
   * Sends what is due. The parts of a transaction that has reverted are halved until the bad claims stand alone, in this run or
   * a later one.
   */
  async #sendDue(findDue: () => Promise<readonly UnclaimedChannel[]>): Promise<ClaimRun> {
    const { claimRows, channelLimits } = this.#options;
    let revertsLeft = REVERTS_MAX - (await claimRows.countReverted());
    let run = NOTHING;
    for (let sent = 0; sent < TRANSACTIONS_PER_RUN && revertsLeft > 0; sent += 1) {
      const due = (await findDue()).filter(({ row }) => claimOf(row).length > 0);
      const whole = sent === 0 ? due.filter(({ group }) => group === null) : [];
      const claims = whole.length > 0 ? chooseClaims(whole, channelLimits) : chooseSuspects(due);
      if (claims.length === 0) return run;
      const { kind, ...part } = await this.#send(claims);
      run = addRuns(run, part);
      if (kind === "pending") return run;
      if (kind === "reverted") revertsLeft -= 1;
    }
    return run;
  }

  /** Claims need no scan: without one they go by what the rows say. */
  async #follow(): Promise<void> {
    await this.#options.mirror.follow().catch((err: unknown) => {
      this.#options.log.warn(
        { component: "payments", event: "channels_not_followed", err },
        "Channels could not be read before a claim",
      );
    });
  }

  /** Whether no transaction that was sent earlier, by whichever process, may still be mined. */
  async #hasFinished(): Promise<boolean> {
    const { sender, claimRows } = this.#options;
    let hasFinished = true;
    for (const { transaction, ageSeconds } of await claimRows.findOpenTransactions()) {
      const status = await sender.readStatus(transaction);
      const mayBeMined = status === "pending" || (status === "missing" && ageSeconds < GONE_SECONDS);
      if (!mayBeMined) await claimRows.closeTransaction(transaction, status === "missing" ? "gone" : status);
      else if (ageSeconds < STUCK_SECONDS) hasFinished = false;
    }
    return hasFinished;
  }

  /** Sends what the contract takes. */
  async #send(due: readonly DueClaim[]): Promise<ClaimRun & { readonly kind: CallOutcome["kind"] | "none" }> {
    const { claimRows, log } = this.#options;
    const { good, bad } = await this.#sift(due);
    const rejected = bad.map(({ channelId }) => channelId);
    if (rejected.length > 0) await claimRows.markFailed(rejected);
    for (const channelId of rejected) {
      log.error(
        { component: "payments", event: "channel_claim_rejected", channelId },
        "The contract rejects the claim of a channel",
      );
    }
    if (good.length === 0) return { ...NOTHING, rejected, kind: "none" };
    const value = good.reduce((sum, { delta }) => sum + delta, 0n);
    const channelIds = good.map(({ channelId }) => channelId);
    const sent = { kind: "claim" as const, channelIds, claims: good };
    const call = { claims: await this.#sign(good), refund: null, value };
    const { kind, transaction } = await this.#sendRecorded(call, sent);
    if (kind !== "mined") return { ...NOTHING, transaction, rejected, kind };
    return { transaction, claimed: good.length, value, rejected, kind };
  }

  /** Records a transaction before it is sent, and what became of it. */
  async #sendRecorded(call: ChannelCall, sent: SentTransaction): Promise<CallOutcome> {
    const { sender, claimRows } = this.#options;
    const outcome = await sender.send(call, {
      beforeSend: (transaction) => claimRows.addTransaction(transaction, sent),
      onRejected: (transaction) => claimRows.closeTransaction(transaction, "gone"),
    });
    if (outcome.kind === "pending") return outcome;
    await claimRows.closeTransaction(outcome.transaction, outcome.kind);
    await this.#follow();
    return outcome;
  }

  /** One claim that the contract rejects would revert all: the list is halved until the bad ones stand alone. */
  async #sift(
    claims: readonly DueClaim[],
  ): Promise<{ readonly good: readonly DueClaim[]; readonly bad: readonly DueClaim[] }> {
    const value = claims.reduce((sum, { delta }) => sum + delta, 0n);
    const call = { claims: await this.#sign(claims), refund: null, value };
    if (await this.#options.sender.wouldSucceed(call)) return { good: claims, bad: [] };
    if (claims.length === 1) return { good: [], bad: claims };
    const middle = claims.length >> 1;
    const first = await this.#sift(claims.slice(0, middle));
    const second = await this.#sift(claims.slice(middle));
    return { good: [...first.good, ...second.good], bad: [...first.bad, ...second.bad] };
  }

  /** Claims of channels with the same authorizer. */
  async #sign(due: readonly DueClaim[]): Promise<SignedClaims | null> {
    const [first] = due;
    if (first === undefined) return null;
    const claims = due.map(({ claim }) => claim);
    const authorizer = this.#authorizerOf(first.claim.config);
    return { claims, signature: await authorizer.sign(this.#options.digests.claimBatch(claims)) };
  }

  #authorizerOf({ receiverAuthorizer }: VoucherClaim["config"]): ReceiverAuthorizer {
    const authorizer = this.#options.authorizers.get(receiverAuthorizer);
    if (authorizer === undefined) throw new Error("the key of a channel is not configured");
    return authorizer;
  }

  /** Sends refunds again that were recorded by a process which died, or whose transaction was dropped. */
  async resumeRefunds(): Promise<void> {
    const { claimRows, authorizers, log, channelLimits } = this.#options;
    const tried = this.#refundTriedMs;
    for (const [channelId, ms] of tried) {
      if (performance.now() - ms >= channelLimits.claimRetryMs) tried.delete(channelId);
    }
    const query = { max: REFUNDS_PER_RUN, except: [...tried.keys()] };
    for (const row of await claimRows.findOpenRefunds([...authorizers.keys()], query)) {
      tried.set(row.channelId, performance.now());
      await this.sendRefund(row, openRefundOf(row), { isResumed: true }).catch((err: unknown) => {
        log.warn(
          { component: "payments", event: "channel_refund_not_sent", channelId: row.channelId, err },
          "A refund was not sent again",
        );
      });
    }
  }

  async sendRefund(row: ChannelRow, amount: bigint): Promise<CallOutcome>;
  async sendRefund(
    row: ChannelRow,
    amount: bigint,
    resumed: { readonly isResumed: true },
  ): Promise<CallOutcome | null>;
  /**
   * Claims what is charged and gives a recorded amount back to the payer, in one transaction. Null if another process has
   * resumed the refund meanwhile.
   */
  async sendRefund(
    row: ChannelRow,
    amount: bigint,
    { isResumed }: { readonly isResumed: boolean } = { isResumed: false },
  ): Promise<CallOutcome | null> {
    const { network, digests, authorizers, sender, claimRows } = this.#options;
    const { channelId, config, refundNonce: nonce } = row;
    const signature = await this.#authorizerOf(config).sign(digests.refund(channelId, nonce, amount));
    const due = claimOf(row);
    const refund = { config, channelId, amount, nonce, signature };
    const call = { claims: await this.#sign(due), refund, value: amount };
    return sender.runInTurn(`${network} channel claims`, async () => {
      const query = { max: 1, except: [], only: channelId };
      const isDone =
        isResumed && (await claimRows.findOpenRefunds([...authorizers.keys()], query)).length === 0;
      if (isDone) return null;
      return this.#sendRecorded(call, { kind: "refund", channelIds: [channelId], claims: due });
    });
  }
}

type DueClaim = SentClaim & { readonly claim: VoucherClaim; readonly delta: bigint };

/** Claims of one key, as many as a transaction holds; the next run claims those of another key. */
function chooseClaims(
  due: readonly UnclaimedChannel[],
  { claimsPerTransactionMax }: { readonly claimsPerTransactionMax: number },
): readonly DueClaim[] {
  return due
    .flatMap(({ row }) => claimOf(row))
    .filter(({ claim }, _, [first]) => isOfSameKey(claim, first?.claim))
    .slice(0, claimsPerTransactionMax);
}

/** A part of a transaction that has reverted, the largest first: most of its claims are good. */
function chooseSuspects(due: readonly UnclaimedChannel[]): readonly DueClaim[] {
  const size = Math.max(0, ...due.map(({ group }) => group ?? 0));
  return chooseClaims(
    due.filter(({ group }) => group === size),
    { claimsPerTransactionMax: size },
  );
}

function addRuns(one: ClaimRun, other: ClaimRun): ClaimRun {
  return {
    transaction: other.transaction ?? one.transaction,
    claimed: one.claimed + other.claimed,
    value: one.value + other.value,
    rejected: [...one.rejected, ...other.rejected],
  };
}

function isOfSameKey(one: VoucherClaim, other: VoucherClaim | undefined): boolean {
  return one.config.receiverAuthorizer === other?.config.receiverAuthorizer;
}

/** Whether its payer takes money out, or a reorg or a refund has left less than it owes. */
function isUncovered(row: ChannelRow): boolean {
  return row.withdrawAmount > 0n || row.charged + openRefundOf(row) > row.balance;
}

/** The claim of a channel's voucher, as far as its balance goes; none if there is nothing to claim. */
function claimOf({
  channelId,
  config,
  charged,
  signature,
  balance,
  totalClaimed,
}: ChannelRow): readonly DueClaim[] {
  const total = charged < balance ? charged : balance;
  if (signature === null || total <= totalClaimed) return [];
  const claim = { config, maxClaimable: charged, signature, totalClaimed: total };
  return [{ channelId, total, claim, delta: total - totalClaimed }];
}
