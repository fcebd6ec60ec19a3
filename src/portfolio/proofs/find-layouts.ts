// Finds where tokens keep an amount: reads the words of all candidates, and takes the one that has exactly this amount.
import type { Rpc } from "../../chain/rpc/types.ts";
import type { Hex } from "../../lib/hex.ts";
import type { UnknownLayout } from "./layout-memory.ts";
import { type Layout, listCandidates, type MappingKeys, matchWord, slotOf } from "./layouts.ts";
import { wordCall, wordsByOverrideCall } from "./word-calls.ts";

/** An amount above zero that a mapping of the token must have under these keys. */
type KnownAmount = { readonly token: Hex; readonly keys: MappingKeys; readonly value: bigint };

/** Null if the words could not be read. */
type FoundLayout = Layout | UnknownLayout | null;

// Without state overrides every word is a call, and vendors bill each: the rules of Solidity only, and of so many tokens.
const SINGLE_CANDIDATES_MAX = 27;
const SINGLE_WORDS_MAX = 1_000;

/** In the order of the amounts: one call for each with a state override, else one for each word. */
export async function findLayouts(
  node: Rpc,
  amounts: readonly KnownAmount[],
  block: number,
  signal: AbortSignal,
): Promise<readonly FoundLayout[]> {
  if (amounts.length === 0) return [];
  const searches = amounts.map(({ token, keys, value }) => {
    const candidates = listCandidates(keys.of);
    return {
      token,
      amount: { of: keys.of, value },
      candidates,
      slots: candidates.map((candidate) => slotOf(candidate, keys)),
    };
  });
  const results = await node.batch(
    searches.map(({ token, slots }) => wordsByOverrideCall(token, slots, block)),
    { signal },
  );
  const words = results.map((result) => ("ok" in result && result.ok.length > 0 ? result.ok : null));
  const single = await readSingleWords(node, searches, { words, block, signal });
  return searches.map(({ candidates, amount }, index) => {
    const known = words[index] ?? single[index] ?? null;
    return known && chooseLayout(candidates, known, amount);
  });
}

type Search = { readonly token: Hex; readonly slots: readonly Hex[] };

/** Reads the words of as many searches without any as fit into the limit. */
async function readSingleWords(
  node: Rpc,
  searches: readonly Search[],
  {
    words,
    block,
    signal,
  }: {
    readonly words: readonly (readonly bigint[] | null)[];
    readonly block: number;
    readonly signal: AbortSignal;
  },
): Promise<readonly (readonly bigint[] | null)[]> {
  const open = searches
    .map((search, index) => ({ ...search, index }))
    .filter(({ index }) => words[index] === null)
    .slice(0, Math.floor(SINGLE_WORDS_MAX / SINGLE_CANDIDATES_MAX));
  const calls = open.flatMap(({ token, slots }) =>
    slots.slice(0, SINGLE_CANDIDATES_MAX).map((slot) => wordCall(token, slot, block)),
  );
  const results = calls.length === 0 ? [] : await node.batch(calls, { signal });
  const found = new Map(
    open.map(({ index }, position) => {
      const start = position * SINGLE_CANDIDATES_MAX;
      const own = results.slice(start, start + SINGLE_CANDIDATES_MAX);
      return [index, own.every((result) => "ok" in result) ? own.map(({ ok }) => ok) : null];
    }),
  );
  return searches.map((_, index) => found.get(index) ?? null);
}

/** A word that several candidates share says nothing; one that has the amount in all its bits goes before others. */
function chooseLayout(
  candidates: readonly Omit<Layout, "topBit">[],
  words: readonly bigint[],
  amount: { readonly of: MappingKeys["of"]; readonly value: bigint },
): Layout | UnknownLayout {
  const matches = words.flatMap((word, index) => {
    const candidate = candidates[index];
    const layout = candidate && matchWord(candidate, word, amount);
    return layout ? [{ layout, isWhole: word === amount.value }] : [];
  });
  const whole = matches.filter(({ isWhole }) => isWhole);
  const [best, ...others] = whole.length > 0 ? whole : matches;
  if (best !== undefined) return others.length === 0 ? best.layout : "ambiguous_layout";
  return words.filter((word) => word !== 0n).length === 1 ? "rebasing" : "no_layout";
}
