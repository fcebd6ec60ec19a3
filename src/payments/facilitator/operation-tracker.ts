// Remembers what failed while the library worked: it takes a read that failed for a contract that rejected.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Hex } from "../../lib/hex.ts";
import { isRefusal } from "./broadcast/send-error.ts";
import { FacilitatorTrouble } from "./unavailable-error.ts";

/** Called around the broadcast of a transaction that carries a payload out. */
export type SendHooks = {
  readonly beforeSend: (transaction: Hex, gas: bigint) => Promise<void>;
  readonly notSent: (transaction: Hex) => Promise<void>;
};

type Witnessed = { trouble: unknown; sent: boolean; readonly hooks: SendHooks | null };

export type Witness = {
  /** Remembers trouble of the operation under way. */
  note(trouble: unknown): void;
  /** Remembers a failure that is not a contract's rejection. */
  watch<T>(read: Promise<T>): Promise<T>;
  /** The operation under way sends now; returns the hooks it was begun with. */
  sending(): SendHooks | null;
  /** Whether the operation under way has come to send anything. */
  hasSent(): boolean;
  /** Throws FacilitatorTrouble where something failed and the result is not acceptable as it is. */
  run<T>(
    operation: { readonly accepts: (result: T) => boolean; readonly hooks: SendHooks | null },
    work: () => Promise<T>,
  ): Promise<T>;
};

export function createWitness(): Witness {
  const storage = new AsyncLocalStorage<Witnessed>();
  const note = (trouble: unknown) => {
    const current = storage.getStore();
    if (current) current.trouble ??= trouble;
  };
  return {
    note,
    async watch(read) {
      try {
        return await read;
      } catch (error) {
        if (!isRefusal(error)) note(error);
        throw error;
      }
    },
    sending() {
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
        throw new FacilitatorTrouble("a node did not answer", { cause: trouble });
      }),
  };
}
