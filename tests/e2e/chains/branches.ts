// The blocks that the actual reorgs removed, and so the steps back that a reader may see.
import type { Reorg } from "@sextant/local-chain/blocks/reorg";

export type ObservedHead = { readonly number: number; readonly hash: string };

export type Branches = {
  readonly reorgs: number;
  recordReorg(reorg: Pick<Reorg, "parent" | "removed">): void;
  wasRemoved(hash: string): boolean;
  /** The problem of seeing `next` after `before` on one connection; null if this is allowed. */
  findStepError(before: ObservedHead, next: ObservedHead): string | null;
};

export function createBranches(): Branches {
  const parents: number[] = [];
  /** The reorg that removed a block, by the block's hash. */
  const removedBy = new Map<string, number>();
  return {
    get reorgs() {
      return parents.length;
    },
    recordReorg({ parent, removed }) {
      for (const { hash } of removed) removedBy.set(hash, parents.length);
      parents.push(Number(parent.number));
    },
    wasRemoved: (hash) => removedBy.has(hash),
    findStepError(before, next) {
      if (next.number > before.number || next.hash === before.hash) return null;
      const step = `block ${before.number} (${before.hash}) was followed by ${next.number} (${next.hash})`;
      const reorg = removedBy.get(before.hash);
      if (reorg === undefined) return `${step} without a reorg`;
      // An index that was behind may see several reorgs as one.
      const lowest = Math.min(...parents.slice(reorg));
      return next.number >= lowest ? null : `${step}, below the fork at ${lowest}`;
    },
  };
}
