// Reads pools as they are and as they were half an hour ago, and keeps what stood all the time.
import type { Hex } from "../../lib/hex.ts";
import { type CallResults, readByMulticall } from "../multicall.ts";
import type { ContractRead, PinnedChain } from "../types.ts";
import type { Pool } from "./find-pools.ts";
import { type PoolState, type Ratio, STOOD_SECONDS } from "./spot-pools.ts";

// The state of half an hour ago is worth a wait, but not the whole time that prices have.
const EARLIER_MS_MAX = 2_500;
// A token may move this much in half an hour; a price that moved more was perhaps moved for us.
const TIME_DIFFERENCE_PERCENT_MAX = 25n;

/** What stood, at today's rate; null when nothing did, undefined when that cannot be known. */
export type PoolReading = Pool & { readonly standing: PoolState | null | undefined };

/**
 * Two round trips at most: the pools as they are with what they remember, then as they were where that is too little. A
 * pool of concentrated liquidity forgets how many coins stood: a sliver of them around the price counts there like a
 * fortune. So its earlier state counts too; without one its memory suffices for listed tokens only.
 */
export async function readPools(
  at: PinnedChain,
  pools: readonly Pool[],
  signal: AbortSignal,
): Promise<readonly PoolReading[]> {
  const callsOf = pools.map(({ address, kind, quote }) => ({
    state: kind.stateCalls(address, quote.token),
    memory: kind.memoryCalls(address),
  }));
  const results = new ResultCursor(
    await readByMulticall(
      at,
      callsOf.flatMap(({ state, memory }) => [...state, ...memory]),
      signal,
    ),
  );
  const known = pools.map((pool, index) => {
    const state = results.take(callsOf[index]?.state.length ?? 0);
    const memory = results.take(callsOf[index]?.memory.length ?? 0);
    const side = sideOf(pool);
    const now = pool.kind.decodeState(state, side);
    const remembered = now && pool.kind.decodeMemory({ state, memory }, side, at.block.timestamp);
    const isOpen = now !== null && (remembered === null || pool.kind.forgetsCoins);
    return { pool, now, remembered, earlierCalls: isOpen ? (callsOf[index]?.state ?? []) : [] };
  });
  const earlier = await readEarlierStates(
    at,
    known.flatMap(({ earlierCalls }) => earlierCalls),
    signal,
  );
  const earlierResults = new ResultCursor(earlier ?? []);
  return known.map(({ pool, now, remembered, earlierCalls }) => {
    if (now === null) return { ...pool, standing: null };
    const stood = remembered === null ? now : findStanding(now, remembered);
    if (earlierCalls.length === 0) return { ...pool, standing: stood };
    if (earlier === null) {
      return { ...pool, standing: remembered !== null && pool.token.isListed ? stood : undefined };
    }
    const was = pool.kind.decodeState(earlierResults.take(earlierCalls.length), sideOf(pool));
    return { ...pool, standing: stood && was && findStanding(stood, was) };
  });
}

/** Hands out results in the order of their calls. */
class ResultCursor {
  readonly #results: CallResults;
  #next = 0;

  constructor(results: CallResults) {
    this.#results = results;
  }

  take(count: number): CallResults {
    this.#next += count;
    return this.#results.slice(this.#next - count, this.#next);
  }
}

function sideOf({ token, quote }: Pool): { quote: Hex; isTokenFirst: boolean } {
  return { quote: quote.token, isTokenFirst: token.contract < quote.token };
}

/** Null if no node has the state of that time. */
async function readEarlierStates(
  at: PinnedChain,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults | null> {
  if (calls.length === 0) return [];
  if (at.readEarlier === undefined) return null;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(EARLIER_MS_MAX)]);
  let isMissing = false;
  const read: PinnedChain["read"] = async (group, abort) => {
    const results = (await at.readEarlier?.(STOOD_SECONDS, group, abort)) ?? null;
    isMissing ||= results === null;
    return results ?? group.map(() => null);
  };
  try {
    const results = await readByMulticall({ ...at, read }, calls, deadline);
    return isMissing ? null : results;
  } catch (error) {
    // Too slow is as good as missing; what the caller aborts stays aborted.
    if (signal.aborted || !deadline.aborted) throw error;
    return null;
  }
}

function findStanding(now: PoolState, before: PoolState): PoolState | null {
  if (!agree(now.rate, before.rate, TIME_DIFFERENCE_PERCENT_MAX)) return null;
  return { ...now, depth: now.depth < before.depth ? now.depth : before.depth };
}

function agree([a, b]: Ratio, [c, d]: Ratio, percentMax: bigint): boolean {
  const difference = a * d - c * b;
  return (difference < 0n ? -difference : difference) * 100n <= c * b * percentMax;
}
