// Answers about final blocks, kept to be compared: with the same question later, and with the model at the end.
import type { List } from "./api-lists.ts";

export type PastAnswer = { readonly list: List; readonly block: number; readonly text: string };

export type PastAnswers = {
  /** Answers whether the same was answered before, or nothing. */
  same(answer: PastAnswer): boolean;
  any(random: () => number): PastAnswer | undefined;
  all(): readonly PastAnswer[];
};

// A hundred records of a few hundred bytes each: some twenty megabytes at the most.
const KEPT_MAX = 400;

export function createPastAnswers(): PastAnswers {
  const kept = new Map<string, PastAnswer>();
  return {
    same(answer) {
      const key = `${answer.list.path} ${answer.block}`;
      const before = kept.get(key);
      if (!before && kept.size < KEPT_MAX) kept.set(key, answer);
      return before === undefined || before.text === answer.text;
    },
    any: (random) => [...kept.values()][Math.floor(random() * kept.size)],
    all: () => [...kept.values()],
  };
}
