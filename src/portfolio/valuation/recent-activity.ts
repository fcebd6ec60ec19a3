// The newest transactions of a wallet over all its chains.

import type { RecentActivity } from "../snapshot-types.ts";
import { ACTIVITY_MAX } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";

// The last second that a date of ECMAScript can show.
const SECONDS_MAX = 8_640_000_000_000;

/** Newest first; what has no time comes last, and within one second each chain keeps the order it gave. */
export function listRecentActivity(chains: readonly ChainData[]): readonly RecentActivity[] {
  return chains
    .flatMap(({ chain, activity }) => activity.map((entry) => ({ ...entry, chain: chain.slug })))
    .map((entry) => ({ ...entry, seconds: soundSeconds(entry.timestamp) }))
    .sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1))
    .slice(0, ACTIVITY_MAX)
    .map(({ chain, hash, from, to, blockNumber, seconds }) => ({
      ...{ chain, hash, from, to, blockNumber },
      timestamp: seconds === null ? null : new Date(seconds * 1000).toISOString(),
    }));
}

function soundSeconds(seconds: number | null): number | null {
  return seconds !== null && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : null;
}
