// Sends transactions with nonces counted here, alone or several in one block, and fails loudly when one reverts.

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

type Waiting = {
  readonly account: PrivateKeyAccount;
  readonly call: TransactionCall;
  readonly resolve: (receipt: TransactionReceipt) => void;
  readonly reject: (error: unknown) => void;
};

/** Transactions that shall share a block: complete when every task has sent one, or ended without. */
type Gathering = { readonly waiting: Waiting[]; expected: number; ended: number };

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
  #gathering: Gathering | undefined;
  #lastBatch: Promise<void> = Promise.resolve();

  constructor(options: TransactionSenderOptions) {
    this.#options = options;
  }

  send(account: PrivateKeyAccount, call: TransactionCall): Promise<TransactionReceipt> {
    return new Promise((resolve, reject) => {
      const waiting = { account, call, resolve, reject };
      if (this.#gathering === undefined) {
        this.#dispatch([waiting]);
        return;
      }
      this.#gathering.waiting.push(waiting);
      this.#closeWhenComplete(this.#gathering);
    });
  }

  /** Runs the tasks so that the first transaction of each is in the same block; what they send later is not held back. */
  async inOneBlock<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
    const gathering = this.#joinOrOpen(tasks.length);
    const outcomes = await Promise.allSettled(
      tasks.map((task) =>
        task().finally(() => {
          gathering.ended += 1;
          this.#closeWhenComplete(gathering);
        }),
      ),
    );
    return outcomes.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    });
  }

  // A task that opens a block inside a block sends nothing itself before its own tasks do: they take its place.
  #joinOrOpen(tasks: number): Gathering {
    if (this.#gathering === undefined) this.#gathering = { waiting: [], expected: tasks, ended: 0 };
    else this.#gathering.expected += tasks - 1;
    return this.#gathering;
  }

  #closeWhenComplete(gathering: Gathering): void {
    if (this.#gathering !== gathering) return;
    if (gathering.waiting.length + gathering.ended < gathering.expected) return;
    this.#gathering = undefined;
    if (gathering.waiting.length > 0) this.#dispatch(gathering.waiting);
  }

  /** Batches go one after the other: nonces and blocks follow the order of asking. */
  #dispatch(batch: readonly Waiting[]): void {
    this.#lastBatch = this.#lastBatch.then(() =>
      this.#deliver(batch).catch((error: unknown) => {
        // What became of the batch is unknown; the node is asked for the nonces again.
        this.#nonces.clear();
        for (const { reject } of batch) reject(error);
      }),
    );
  }

  async #deliver(batch: readonly Waiting[]): Promise<void> {
    const receipts = await this.#options.timeline.include(this.#signed(batch));
    for (const [index, waiting] of batch.entries()) {
      const receipt = receipts[index];
      if (receipt === undefined) throw new Error("The timeline returned fewer receipts than transactions");
      this.#count(receipt);
      if (receipt.status === "0x1") waiting.resolve(receipt);
      else waiting.reject(await this.#reverted(waiting, receipt));
    }
  }

  async *#signed(batch: readonly Waiting[]): AsyncGenerator<Hex> {
    for (const { account, call } of batch) yield await this.#sign(account, call);
  }

  async #sign(account: PrivateKeyAccount, call: TransactionCall): Promise<Hex> {
    const { request, chainId, fees } = this.#options;
    const nonce = this.#nonces.get(account.address) ?? (await nextNonce(request, account.address));
    this.#nonces.set(account.address, nonce + 1);
    return signCall(account, { gas: CALL_GAS, ...call }, { ...fees, chainId, nonce });
  }

  async #reverted(
    { account, call }: Waiting,
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
