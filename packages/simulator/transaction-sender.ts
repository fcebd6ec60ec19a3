// Sends transactions with local nonces, alone or several in one block, and throws when one reverts.

import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import {
  type CallFees,
  nextNonce,
  signCall,
  type TransactionCall,
  type TransactionReceipt,
} from "@sextant/contracts/deploy/transaction";
import type { Address, Hex, PrivateKeyAccount } from "viem";
import { explainRevert } from "./explain-revert.ts";
import { PROTOCOL_TOPICS } from "./read-events.ts";
import type { Timeline } from "./timeline.ts";

/** The dearest call here, registering several agents at once, takes half of it; thirty fit into a block. */
const CALL_GAS = 1_000_000n;

export class TransactionRevertedError extends Error {
  override readonly name = "TransactionReverted";
}

export type TransactionCounters = { transactions: number; events: number; block: number };

type QueuedCall = {
  readonly account: PrivateKeyAccount;
  readonly call: TransactionCall;
  readonly resolve: (receipt: TransactionReceipt) => void;
  readonly reject: (error: unknown) => void;
};

/** Transactions that shall share a block: complete when every task has sent one, or ended without. */
type OpenBatch = { readonly queued: QueuedCall[]; expected: number; ended: number };

export type TransactionSenderOptions = {
  readonly request: RpcRequestFunction;
  readonly timeline: Timeline;
  readonly chainId: number;
  readonly fees: CallFees;
};

export class TransactionSender {
  readonly counters: TransactionCounters = { transactions: 0, events: 0, block: 0 };
  readonly #options: TransactionSenderOptions;
  readonly #nonces = new Map<Address, number>();
  #openBatch: OpenBatch | undefined;
  #lastBatch: Promise<void> = Promise.resolve();

  constructor(options: TransactionSenderOptions) {
    this.#options = options;
  }

  send(account: PrivateKeyAccount, call: TransactionCall): Promise<TransactionReceipt> {
    return new Promise((resolve, reject) => {
      const queued = { account, call, resolve, reject };
      if (this.#openBatch === undefined) {
        this.#dispatch([queued]);
        return;
      }
      this.#openBatch.queued.push(queued);
      this.#closeWhenComplete(this.#openBatch);
    });
  }

  /** Runs the tasks so that the first transaction of each is in the same block; what they send later is not held back. */
  async inOneBlock<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
    const batch = this.#joinOrOpen(tasks.length);
    const outcomes = await Promise.allSettled(
      tasks.map((task) =>
        task().finally(() => {
          batch.ended += 1;
          this.#closeWhenComplete(batch);
        }),
      ),
    );
    return outcomes.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    });
  }

  // A task that opens a block inside a block sends nothing itself before its own tasks do: they take its place.
  #joinOrOpen(tasks: number): OpenBatch {
    if (this.#openBatch === undefined) this.#openBatch = { queued: [], expected: tasks, ended: 0 };
    else this.#openBatch.expected += tasks - 1;
    return this.#openBatch;
  }

  #closeWhenComplete(batch: OpenBatch): void {
    if (this.#openBatch !== batch) return;
    if (batch.queued.length + batch.ended < batch.expected) return;
    this.#openBatch = undefined;
    if (batch.queued.length > 0) this.#dispatch(batch.queued);
  }

  /** Batches run one after the other: nonces and blocks follow the order of the calls. */
  #dispatch(batch: readonly QueuedCall[]): void {
    this.#lastBatch = this.#lastBatch.then(() =>
      this.#deliver(batch).catch((error: unknown) => {
        // The outcome of the batch is unknown; read the nonces from the node again.
        this.#nonces.clear();
        for (const { reject } of batch) reject(error);
      }),
    );
  }

  async #deliver(batch: readonly QueuedCall[]): Promise<void> {
    const receipts = await this.#options.timeline.include(this.#signed(batch));
    for (const [index, queued] of batch.entries()) {
      const receipt = receipts[index];
      if (receipt === undefined) throw new Error("The timeline returned fewer receipts than transactions");
      this.#count(receipt);
      if (receipt.status === "0x1") queued.resolve(receipt);
      else queued.reject(await this.#reverted(queued, receipt));
    }
  }

  async *#signed(batch: readonly QueuedCall[]): AsyncGenerator<Hex> {
    for (const { account, call } of batch) yield await this.#sign(account, call);
  }

  async #sign(account: PrivateKeyAccount, call: TransactionCall): Promise<Hex> {
    const { request, chainId, fees } = this.#options;
    const nonce = this.#nonces.get(account.address) ?? (await nextNonce(request, account.address));
    this.#nonces.set(account.address, nonce + 1);
    return signCall(account, { gas: CALL_GAS, ...call }, { ...fees, chainId, nonce });
  }

  async #reverted(
    { account, call }: QueuedCall,
    receipt: TransactionReceipt,
  ): Promise<TransactionRevertedError> {
    const reason = await explainRevert(this.#options.request, account.address, call, receipt);
    return new TransactionRevertedError(
      `Transaction ${receipt.transactionHash} of ${account.address} to ${call.to ?? "a new contract"} reverted: ${reason}`,
    );
  }

  #count(receipt: TransactionReceipt): void {
    this.counters.transactions += 1;
    this.counters.block = Number(receipt.blockNumber);
    for (const { topics } of receipt.logs) {
      if (topics[0] !== undefined && PROTOCOL_TOPICS.has(topics[0])) this.counters.events += 1;
    }
  }
}
