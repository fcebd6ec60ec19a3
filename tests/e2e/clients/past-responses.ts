// Responses about final blocks, stored for comparison: with the same request later, and with the model at the end.
import type { ComparedList } from "./api-lists.ts";

type PastResponse = { readonly list: ComparedList; readonly block: number; readonly text: string };

export type PastResponses = {
  /** False when an earlier response to the same request differed. */
  matchesEarlier(response: PastResponse): boolean;
  any(random: () => number): PastResponse | undefined;
  all(): readonly PastResponse[];
};

// A hundred records of a few hundred bytes each: some twenty megabytes at the most.
const STORED_MAX = 400;

export function createPastResponses(): PastResponses {
  const stored = new Map<string, PastResponse>();
  return {
    matchesEarlier(response) {
      const key = `${response.list.path} ${response.block}`;
      const before = stored.get(key);
      if (!before && stored.size < STORED_MAX) stored.set(key, response);
      return before === undefined || before.text === response.text;
    },
    any: (random) => [...stored.values()][Math.floor(random() * stored.size)],
    all: () => [...stored.values()],
  };
}
