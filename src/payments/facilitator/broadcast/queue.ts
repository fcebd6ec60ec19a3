// One queue for everything a key sends: each transaction gets the next account nonce, and a nonce gap is filled.
import { type Hex, keccak256, type LocalAccount, type TransactionSerializableEIP1559 } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import { createConcurrencyLimit } from "../../../lib/concurrency-limit.ts";
import type { Log } from "../../../lib/log.ts";
import { computeFees, type FeeLimits, type FeeQuote } from "./fee-limits.ts";
import { classifySendError, type SendErrorKind } from "./send-error.ts";

/** What the queue needs of a node. */
export type BroadcastRpc = {
  /** The number of transactions of the account that the node has, mined or pending. */
  readPendingNonce(): Promise<number>;
  readFees(): Promise<FeeQuote>;
  send(raw: Hex): Promise<unknown>;
  /** Whether the node has a transaction, mined or pending. */
  hasTransaction(hash: Hex): Promise<boolean>;
};

export type TransferTransaction = {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
  readonly limits: FeeLimits;
  /** Called with the hash before the transaction is sent; if it rejects, nothing is sent. */
  readonly beforeSend: (hash: Hex) => Promise<void>;
  /** Called with the hash of a transaction that the node rejected. */
  readonly onRejected: (hash: Hex) => Promise<void>;
};

export type BroadcastQueue = {
  /** The hash of a transaction that was sent or may have been; throws where it certainly was not. */
  send(transfer: TransferTransaction): Promise<Hex>;
};

export type BroadcastQueueOptions = {
  readonly account: LocalAccount;
  readonly chainId: number;
  readonly rpc: BroadcastRpc;
  readonly clock: Clock;
  readonly log: Log;
  /** After how long a node without a transaction has dropped it, or never had it. */
  readonly nonceGapMs: number;
};

// A burst is sent within seconds; a longer queue would outlive the signatures in it.
const WAITING_MAX = 500;
const ATTEMPTS_MAX = 4;
// Nodes want at least a tenth more before they replace a transaction.
const RAISE_PERCENT = 125n;

export function createBroadcastQueue({
  account,
  chainId,
  rpc,
  clock,
  log,
  nonceGapMs,
}: BroadcastQueueOptions): BroadcastQueue {
  const turn = createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_MAX });
  let next: number | null = null;
  let lastKnown: number | null = null;
  /** When the node last had everything we sent, or something else than before. */
  let progressMs = 0;

  async function nextNonce(): Promise<number> {
    const known = await rpc.readPendingNonce();
    const nowMs = clock.nowMs();
    const isStalled = known === lastKnown && next !== null && known < next;
    // Not counted from the last send: while payments keep coming, the last one is always recent.
    const isNonceGap = isStalled && nowMs - progressMs > nonceGapMs;
    if (!isStalled || isNonceGap) progressMs = nowMs;
    lastKnown = known;
    // The node has more than we sent: another process used the key, or we have just started.
    if (next === null || known > next) return known;
    if (isNonceGap) {
      log.warn({ event: "broadcast-nonce-gap", known, next }, "Transaction dropped, using its nonce again");
      return known;
    }
    // Behind a load balancer the next node may not have our latest transaction yet.
    return next;
  }

  /** This very transaction may have used the nonce: sent before, or accepted without a response. */
  async function classifyFailure(error: unknown, hash: Hex): Promise<SendErrorKind> {
    const failure = classifySendError(error);
    if (failure !== "nonce") return failure;
    try {
      return (await rpc.hasTransaction(hash)) ? "known" : "nonce";
    } catch (cause) {
      log.warn({ event: "broadcast-lookup-failed", err: cause, hash }, "Transaction lookup failed");
      return "no-response";
    }
  }

  async function sendOnce(transfer: TransferTransaction, raise: bigint): Promise<Hex | "again"> {
    const fees = computeFees(await rpc.readFees(), transfer.limits, raise);
    const nonce = await nextNonce();
    const request: TransactionSerializableEIP1559 = {
      type: "eip1559",
      chainId,
      nonce,
      to: transfer.to,
      data: transfer.data,
      gas: transfer.gas,
      ...fees,
    };
    const raw = await account.signTransaction(request);
    const hash = keccak256(raw);
    await transfer.beforeSend(hash);
    try {
      await rpc.send(raw);
    } catch (error) {
      const failure = await classifyFailure(error, hash);
      if (failure !== "known") next = null;
      if (failure === "nonce" || failure === "underpriced" || failure === "rejected") {
        await transfer.onRejected(hash);
      }
      if (failure === "nonce" || failure === "underpriced") return "again";
      // Without a response it may have been sent: waiting for its receipt will show.
      if (failure === "no-response") {
        log.warn(
          { event: "broadcast-maybe-sent", err: error, hash, nonce },
          "Transaction may have been sent",
        );
        return hash;
      }
      if (failure === "rejected") throw error;
    }
    next = nonce + 1;
    return hash;
  }

  return {
    send: (transfer) =>
      turn.run(async () => {
        let raise = 100n;
        for (let attempt = 1; ; attempt += 1) {
          const sent = await sendOnce(transfer, raise);
          if (sent !== "again") return sent;
          if (attempt >= ATTEMPTS_MAX) throw new Error("the node rejects every nonce and fee");
          raise = (raise * RAISE_PERCENT) / 100n;
        }
      }),
  };
}
