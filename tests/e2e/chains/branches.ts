// Which blocks the reorgs that were really made took away, and so which steps back a reader may see.
import type { Reorg } from "@sextant/local-chain/blocks/reorg";

export type ObservedHead = { readonly number: number; readonly hash: string };

export type Branches = {
  readonly reorgs: number;
  recordReorg(reorg: Pick<Reorg, "parent" | "removed">): void;
  wasRemoved(hash: string): boolean;
  /** What is wrong with seeing `next` after `before` on one connection; null when nothing is. */
  findStepError(before: ObservedHead, next: ObservedHead): string | null;
};

export function createBranches(): Branches {
  const parents: number[] = [];
  /** By hash of a removed block: which reorg took it. */
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
