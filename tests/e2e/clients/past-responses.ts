// Answers about final blocks, kept to be compared: with the same question later, and with the model at the end.
import type { ComparedList } from "./api-lists.ts";

export type PastResponse = { readonly list: ComparedList; readonly block: number; readonly text: string };

export type PastResponses = {
  /** Answers whether the same was answered before, or nothing. */
  matchesEarlier(answer: PastResponse): boolean;
  any(random: () => number): PastResponse | undefined;
  all(): readonly PastResponse[];
};

// A hundred records of a few hundred bytes each: some twenty megabytes at the most.
const KEPT_MAX = 400;

export function createPastResponses(): PastResponses {
  const kept = new Map<string, PastResponse>();
  return {
    matchesEarlier(answer) {
      const key = `${answer.list.path} ${answer.block}`;
      const before = kept.get(key);
      if (!before && kept.size < KEPT_MAX) kept.set(key, answer);
      return before === undefined || before.text === answer.text;
    },
    any: (random) => [...kept.values()][Math.floor(random() * kept.size)],
    all: () => [...kept.values()],
  };
}
