// How many calls a provider takes in one batch: learnt from its refusals.
import type { RpcError } from "./errors.ts";

export type BatchSize = {
  readonly max: number;
  /** True when the failure was a refusal of the batch itself; the size has been lowered then. */
  learnFromRejection(error: RpcError, size: number): boolean;
};

export function createBatchSize(initial: number): BatchSize {
  let max = initial;
  return {
    get max() {
      return max;
    },
    learnFromRejection(error, size) {
      const next = sizeAfter(error, size);
      if (next === null) return false;
      max = Math.min(max, next);
      return true;
    },
  };
}

// "maximum allowed is 10", "batch limit of 100", "up to 50 calls"
const STATED_MAX = /(?:max(?:imum)?|limit|allowed|up to|most|than)\D{0,30}(\d{1,5})\b/i;

function sizeAfter(error: RpcError, size: number): number | null {
  // The name of the call in the text says "batch" too, so only the words of the node are looked at.
  const words = error.message.slice(error.message.indexOf("): ") + 3);
  if (/batch/i.test(words)) {
    if (/not (?:supported|allowed|enabled|available)|unsupported|disabled|forbidden/i.test(words)) return 1;
    const stated = Number(STATED_MAX.exec(words)?.[1] ?? 0);
    return stated >= 1 && stated < size ? stated : size >> 1;
  }
  // A node that can not read a list at all complains about it as one malformed request: single requests are the
  // common ground of all nodes, and they will tell whether something else was meant.
  return ["invalid-request", "unsupported", "internal"].includes(error.kind) ? 1 : null;
}
