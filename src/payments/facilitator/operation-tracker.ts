// Remembers what failed while the library worked: it takes a read that failed for a contract that rejected.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Hex } from "../../lib/hex.ts";
import { isContractRevert } from "./broadcast/send-error.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";

/** Called around the broadcast of a transaction that carries a payload out. */
export type SendHooks = {
  readonly beforeSend: (transaction: Hex, gas: bigint) => Promise<void>;
  readonly onRejected: (transaction: Hex) => Promise<void>;
};

type Witnessed = { trouble: unknown; sent: boolean; readonly hooks: SendHooks | null };

export type OperationTracker = {
  /** Remembers trouble of the operation under way. */
  recordFailure(trouble: unknown): void;
  /** Remembers a failure that is not a contract's rejection. */
  track<T>(read: Promise<T>): Promise<T>;
  /** The operation under way sends now; returns the hooks it was begun with. */
  markSending(): SendHooks | null;
  /** Whether the operation under way has come to send anything. */
  hasSent(): boolean;
  /** Throws FacilitatorTrouble where something failed and the result is not acceptable as it is. */
  run<T>(
    operation: { readonly accepts: (result: T) => boolean; readonly hooks: SendHooks | null },
    work: () => Promise<T>,
  ): Promise<T>;
};

export function createOperationTracker(): OperationTracker {
  const storage = new AsyncLocalStorage<Witnessed>();
  const note = (trouble: unknown) => {
    const current = storage.getStore();
    if (current) current.trouble ??= trouble;
  };
  return {
    recordFailure: note,
    async track(read) {
      try {
        return await read;
      } catch (error) {
        if (!isContractRevert(error)) note(error);
        throw error;
      }
    },
    markSending() {
      const current = storage.getStore();
      if (current) current.sent = true;
      return current?.hooks ?? null;
    },
    hasSent: () => storage.getStore()?.sent ?? false,
    run: ({ accepts, hooks }, work) =>
      storage.run({ trouble: null, sent: false, hooks }, async () => {
        const result = await work();
        const trouble = storage.getStore()?.trouble ?? null;
        if (trouble === null || accepts(result)) return result;
        throw new FacilitatorUnavailableError("a node did not answer", { cause: trouble });
      }),
  };
}
