// Records what failed while the library ran: the library mistakes a failed read for a contract that reverted.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Hex } from "../../lib/hex.ts";
import { isContractRevert } from "./broadcast/viem-client.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";

/** Called around the broadcast of a transaction. */
export type SendHooks = {
  readonly beforeSend: (transaction: Hex, gas: bigint) => Promise<void>;
  readonly onRejected: (transaction: Hex) => Promise<void>;
};

type Operation = {
  readonly tracker: OperationTracker;
  failure: unknown;
  hasSent: boolean;
  readonly hooks: SendHooks | null;
};

// One for all trackers: every promise of the process costs time for each storage that was ever used.
const operations = new AsyncLocalStorage<Operation>();

export class OperationTracker {
  #current(): Operation | null {
    const operation = operations.getStore();
    return operation?.tracker === this ? operation : null;
  }

  /** Records a failure of the current operation. */
  recordFailure(failure: unknown): void {
    const current = this.#current();
    if (current) current.failure ??= failure;
  }

  /** Records a failure that is not a revert of a contract. */
  async track<T>(read: Promise<T>): Promise<T> {
    try {
      return await read;
    } catch (error) {
      if (!isContractRevert(error)) this.recordFailure(error);
      throw error;
    }
  }

  /** The current operation sends now; returns the hooks it was started with. */
  markSending(): SendHooks | null {
    const current = this.#current();
    if (current) current.hasSent = true;
    return current?.hooks ?? null;
  }

  /** Whether the current operation has sent anything. */
  hasSent(): boolean {
    return this.#current()?.hasSent ?? false;
  }

  /** Throws FacilitatorUnavailableError if a read failed and the result is not acceptable as it is. */
  run<T>(
    { accepts, hooks }: { readonly accepts: (result: T) => boolean; readonly hooks: SendHooks | null },
    work: () => Promise<T>,
  ): Promise<T> {
    return operations.run({ tracker: this, failure: null, hasSent: false, hooks }, async () => {
      const result = await work();
      const failure = this.#current()?.failure ?? null;
      if (failure === null || accepts(result)) return result;
      throw new FacilitatorUnavailableError("a node did not respond", { cause: failure });
    });
  }
}
