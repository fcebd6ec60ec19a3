// Transactions that were sent and not seen mined: asked for again, they are waited for instead of sent twice.
import type { PendingSettlementStore } from "@x402/core/facilitator";
import type { Hex } from "../../kit/hex.ts";

// More than can be waiting at once; the oldest have long been mined or dropped.
const ENTRIES_MAX = 1_000;

/** `isKnown` tells whether the node still has a transaction: one that was dropped must be sent again. */
export function pendingTransactions(isKnown: (hash: Hex) => Promise<boolean>): PendingSettlementStore {
  const hashes = new Map<string, Hex>();
  return {
    async get(key) {
      const hash = hashes.get(key);
      if (hash === undefined) return undefined;
      if (await isKnown(hash)) return hash;
      hashes.delete(key);
      return undefined;
    },
    async set(key, hash) {
      hashes.delete(key);
      hashes.set(key, hash as Hex);
      const [oldest] = hashes.keys();
      if (hashes.size > ENTRIES_MAX && oldest !== undefined) hashes.delete(oldest);
    },
    async delete(key) {
      hashes.delete(key);
    },
  };
}
