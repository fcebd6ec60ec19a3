// One queue for everything a key sends: each transaction gets the next account nonce, and a hole is filled, not waited for.
import { type Hex, keccak256, type LocalAccount, type TransactionSerializableEIP1559 } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import { createConcurrencyLimit } from "../../../lib/concurrency-limit.ts";
import type { Log } from "../../../lib/log.ts";
import { computeFees, type FeeLimits, type FeeQuote } from "./fee-limits.ts";
import { classifySendError, type SendErrorKind } from "./send-error.ts";

/** What the queue needs of a node. */
export type BroadcastRpc = {
  /** Transactions of the account that the node knows of, mined or waiting. */
  readPendingNonce(): Promise<number>;
  readFees(): Promise<FeeQuote>;
  send(raw: Hex): Promise<unknown>;
  /** Whether the node knows a transaction, mined or waiting. */
  hasTransaction(hash: Hex): Promise<boolean>;
};

export type TransferTransaction = {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
  readonly limits: FeeLimits;
  /** Called with the hash before the transaction leaves; where it rejects, nothing is sent. */
  readonly beforeSend: (hash: Hex) => Promise<void>;
  /** Called with a hash that the node refused. */
  readonly onRejected: (hash: Hex) => Promise<void>;
};

export type BroadcastQueue = {
  /** The hash of what was sent, or may have been; throws where it certainly was not. */
  send(transfer: TransferTransaction): Promise<Hex>;
};

export type BroadcastQueueOptions = {
  readonly account: LocalAccount;
  readonly chainId: number;
  readonly rpc: BroadcastRpc;
  readonly clock: Clock;
  readonly log: Log;
  /** After how long a node that does not know of a transaction has dropped it, or never had it. */
  readonly nonceGapMs: number;
};

// A burst is answered within seconds; a longer queue would outlive the signatures in it.
const WAITING_MAX = 500;
const ATTEMPTS_MAX = 4;
// Nodes want at least a tenth more before they replace a transaction.
const RAISE_PERCENT = 125n;

export function createBroadcastQueue({
  account,
  chainId,
  rpc: node,
  clock,
  log,
  nonceGapMs: holeMs,
}: BroadcastQueueOptions): BroadcastQueue {
  const turn = createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_MAX });
  let next: number | null = null;
  let lastKnown: number | null = null;
  /** When the node last knew of everything we sent, or of something else than before. */
  let movedMs = 0;

  async function nextNonce(): Promise<number> {
    const known = await node.readPendingNonce();
    const nowMs = clock.nowMs();
    const stands = known === lastKnown && next !== null && known < next;
    // Not counted from the last send: while payments keep coming, there would always have been one just now.
    const isHole = stands && nowMs - movedMs > holeMs;
    if (!stands || isHole) movedMs = nowMs;
    lastKnown = known;
    // The node knows more than we: another process used the key, or we have just started.
    if (next === null || known > next) return known;
    if (isHole) {
      log.warn({ known, next }, "A transaction of the facilitator was dropped; its nonce is used again");
      return known;
    }
    // Behind a balancer the next node may not have heard of what we have just sent.
    return next;
  }

  /** A used nonce may have been used by this very transaction: sent before, or taken without a response. */
  async function failureOf(error: unknown, hash: Hex): Promise<SendErrorKind> {
    const failure = classifySendError(error);
    if (failure !== "nonce") return failure;
    try {
      return (await node.hasTransaction(hash)) ? "known" : "nonce";
    } catch (cause) {
      log.warn({ err: cause, hash }, "A transaction whose nonce is used could not be looked up");
      return "unheard";
    }
  }

  async function sendOnce(transfer: TransferTransaction, raise: bigint): Promise<Hex | "again"> {
    const fees = computeFees(await node.readFees(), transfer.limits, raise);
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
      await node.send(raw);
    } catch (error) {
      const failure = await failureOf(error, hash);
      if (failure !== "known") next = null;
      if (failure === "nonce" || failure === "underpriced" || failure === "rejected") {
        await transfer.onRejected(hash);
      }
      if (failure === "nonce" || failure === "underpriced") return "again";
      // Nobody answered, so it may be on its way: whoever waits for its receipt will see.
      if (failure === "unheard") {
        log.warn({ err: error, hash, nonce }, "A transaction may or may not have been sent");
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
          if (attempt >= ATTEMPTS_MAX) throw new Error("the node refuses every nonce and fee");
          raise = (raise * RAISE_PERCENT) / 100n;
        }
      }),
  };
}
