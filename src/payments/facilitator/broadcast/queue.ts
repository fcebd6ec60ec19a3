// One queue for everything a key sends: each transaction gets the next account nonce, and a nonce gap is filled.
import { type Hex, keccak256, type LocalAccount, type TransactionSerializableEIP1559 } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import { createConcurrencyLimit } from "../../../lib/concurrency-limit.ts";
import type { Log } from "../../../lib/log.ts";
import { computeFees, type FeeLimits, type FeeQuote } from "./fees.ts";
import { classifySendError, type SendErrorKind } from "./viem-client.ts";

/** The methods of a node that the queue needs. */
export type BroadcastRpc = {
  /** The number of transactions of the account that the node has, mined or pending. */
  readPendingNonce(): Promise<number>;
  readFees(): Promise<FeeQuote>;
  send(raw: Hex): Promise<unknown>;
  /** Whether the node has a transaction, mined or pending. */
  hasTransaction(hash: Hex): Promise<boolean>;
};

type TransferTransaction = {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
  readonly limits: FeeLimits;
  /** Called with the hash before the transaction is sent; if it rejects, nothing is sent. */
  readonly beforeSend: (hash: Hex) => Promise<void>;
  /** Called with the hash of a transaction that the node rejected. */
  readonly onRejected: (hash: Hex) => Promise<void>;
};

type BroadcastQueueOptions = {
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

export class BroadcastQueue {
  readonly #options: BroadcastQueueOptions;
  readonly #turn = createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_MAX });
  /** The next account nonce; null until the node is read. */
  #next: number | null = null;
  #lastKnown: number | null = null;
  /** When the node last had everything we sent, or something else than before. */
  #progressMs = 0;

  constructor(options: BroadcastQueueOptions) {
    this.#options = options;
  }

  /** The hash of a transaction that was sent or may have been; throws if it certainly was not. */
  send(transfer: TransferTransaction): Promise<Hex> {
    return this.#turn.run(async () => {
      let raisePercent = 100n;
      for (let attempt = 1; ; attempt += 1) {
        const sent = await this.#sendOnce(transfer, raisePercent);
        if (sent !== "again") return sent;
        if (attempt >= ATTEMPTS_MAX) throw new Error("the node rejects every nonce and fee");
        raisePercent = (raisePercent * RAISE_PERCENT) / 100n;
      }
    });
  }

  async #sendOnce(transfer: TransferTransaction, raisePercent: bigint): Promise<Hex | "again"> {
    const { account, chainId, rpc, log } = this.#options;
    const fees = computeFees(await rpc.readFees(), transfer.limits, raisePercent);
    const nonce = await this.#nextNonce();
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
      const failure = await this.#classifyFailure(error, hash);
      if (failure !== "known") this.#next = null;
      if (failure === "nonce" || failure === "underpriced" || failure === "rejected") {
        await transfer.onRejected(hash);
      }
      if (failure === "nonce" || failure === "underpriced") return "again";
      // Without a response it may have been sent: waiting for its receipt will show.
      if (failure === "no-response") {
        log.warn(
          { component: "payments", event: "broadcast_maybe_sent", err: error, hash, nonce },
          "Transaction may have been sent",
        );
        return hash;
      }
      if (failure === "rejected") throw error;
    }
    this.#next = nonce + 1;
    return hash;
  }

  async #nextNonce(): Promise<number> {
    const { rpc, clock, log, nonceGapMs } = this.#options;
    const known = await rpc.readPendingNonce();
    const next = this.#next;
    const nowMs = clock.nowMs();
    const isStalled = known === this.#lastKnown && next !== null && known < next;
    // Not counted from the last send: while payments keep coming, the last one is always recent.
    const isNonceGap = isStalled && nowMs - this.#progressMs > nonceGapMs;
    if (!isStalled || isNonceGap) this.#progressMs = nowMs;
    this.#lastKnown = known;
    // The node has more than we sent: another process used the key, or we have just started.
    if (next === null || known > next) return known;
    if (isNonceGap) {
      log.warn(
        { component: "payments", event: "broadcast_nonce_gap", known, next },
        "Transaction dropped, using its nonce again",
      );
      return known;
    }
    // Behind a load balancer the next node may not have our latest transaction yet.
    return next;
  }

  /** This very transaction may have used the nonce: sent before, or accepted without a response. */
  async #classifyFailure(error: unknown, hash: Hex): Promise<SendErrorKind> {
    const { rpc, log } = this.#options;
    const failure = classifySendError(error);
    if (failure !== "nonce") return failure;
    try {
      return (await rpc.hasTransaction(hash)) ? "known" : "nonce";
    } catch (cause) {
      log.warn(
        { component: "payments", event: "broadcast_lookup_failed", err: cause, hash },
        "Transaction lookup failed",
      );
      return "no-response";
    }
  }
}
