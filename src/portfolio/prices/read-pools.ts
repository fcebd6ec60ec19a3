// Reads pools as they are and as they were half an hour ago, and keeps what stood all the time.
import type { Hex } from "../../lib/hex.ts";
import { readEach } from "../contract-reads/read-groups.ts";
import type { PinnedChain } from "../types.ts";
import type { Pool } from "./find-pools.ts";
import { type PoolState, type Ratio, STOOD_SECONDS } from "./spot-pools.ts";

// The state of half an hour ago is worth a wait, but not the whole time that prices have.
const EARLIER_MS_MAX = 2_500;
// A token may move this much in half an hour; a price that moved more was perhaps moved for us.
const TIME_DIFFERENCE_PERCENT_MAX = 25n;

/** The coins that stood, at today's rate; null when nothing did, undefined when that cannot be known. */
export type PoolReading = Pool & { readonly standing: PoolState | null | undefined };

/**
 * Two round trips at most: the pools as they are with what they remember, then as they were if that is too little. A
 * pool of concentrated liquidity forgets how many coins stood: a sliver of them around the price counts there like a
 * fortune. So its earlier state counts too; without one its memory suffices for listed tokens only.
 */
export async function readPools(
  at: PinnedChain,
  pools: readonly Pool[],
  signal: AbortSignal,
): Promise<readonly PoolReading[]> {
  const known = await readEach(at, signal, pools, (pool) => ({
    now: declareState(pool),
    remembered: pool.kind.declareMemory(pool.address, sideOf(pool), at.block.timestamp),
  }));
  const open = known.flatMap(([pool, { now, remembered }]) =>
    now !== null && (remembered === null || pool.kind.forgetsCoins) ? [pool] : [],
  );
  const earlier = await readEarlierStates(at, open, signal);
  return known.map(([pool, { now, remembered }]) => {
    if (now === null) return { ...pool, standing: null };
    const stood = remembered === null ? now : findStanding(now, remembered);
    if (!open.includes(pool)) return { ...pool, standing: stood };
    if (earlier === null) {
      return { ...pool, standing: remembered !== null && pool.token.isListed ? stood : undefined };
    }
    const was = earlier.get(pool);
    return { ...pool, standing: stood && was ? findStanding(stood, was) : null };
  });
}

function declareState(pool: Pool) {
  return pool.kind.declareState(pool.address, sideOf(pool));
}

function sideOf({ token, quote }: Pool): { quote: Hex; isTokenFirst: boolean } {
  return { quote: quote.token, isTokenFirst: token.contract < quote.token };
}

/** Null if no node has the state of that time. */
async function readEarlierStates(
  at: PinnedChain,
  pools: readonly Pool[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Pool, PoolState | null> | null> {
  if (pools.length === 0) return new Map();
  if (at.readEarlier === undefined) return null;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(EARLIER_MS_MAX)]);
  let isMissing = false;
  const read: PinnedChain["read"] = async (group, abort) => {
    const results = (await at.readEarlier?.(STOOD_SECONDS, group, abort)) ?? null;
    isMissing ||= results === null;
    return results ?? group.map(() => null);
  };
  try {
    const states = await readEach({ read }, deadline, pools, declareState);
    return isMissing ? null : new Map(states);
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
