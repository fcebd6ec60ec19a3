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

export type OperationTracker = {
  /** Records a failure of the current operation. */
  recordFailure(failure: unknown): void;
  /** Records a failure that is not a revert of a contract. */
  track<T>(read: Promise<T>): Promise<T>;
  /** The current operation sends now; returns the hooks it was started with. */
  markSending(): SendHooks | null;
  /** Whether the current operation has sent anything. */
  hasSent(): boolean;
  /** Throws FacilitatorUnavailableError if a read failed and the result is not acceptable as it is. */
  run<T>(
    operation: { readonly accepts: (result: T) => boolean; readonly hooks: SendHooks | null },
    work: () => Promise<T>,
  ): Promise<T>;
};

export function createOperationTracker(): OperationTracker {
  const currentOperation = () => {
    const operation = operations.getStore();
    return operation?.tracker === tracker ? operation : null;
  };
  const recordFailure = (failure: unknown) => {
    const current = currentOperation();
    if (current) current.failure ??= failure;
  };
  const tracker: OperationTracker = {
    recordFailure,
    async track(read) {
      try {
        return await read;
      } catch (error) {
        if (!isContractRevert(error)) recordFailure(error);
        throw error;
      }
    },
    markSending() {
      const current = currentOperation();
      if (current) current.hasSent = true;
      return current?.hooks ?? null;
    },
    hasSent: () => currentOperation()?.hasSent ?? false,
    run: ({ accepts, hooks }, work) =>
      operations.run({ tracker, failure: null, hasSent: false, hooks }, async () => {
        const result = await work();
        const failure = currentOperation()?.failure ?? null;
        if (failure === null || accepts(result)) return result;
        throw new FacilitatorUnavailableError("a node did not respond", { cause: failure });
      }),
  };
  return tracker;
}
