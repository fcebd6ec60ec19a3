// Chooses the replica of a read: one that is known to have what the read needs, the least busy first.
import { type IndexState, isOlder } from "./index-state.ts";
import type { ReadSource } from "./read-source.ts";

export type ReadNeeds = {
  /** The newest state that was served when the read began. */
  readonly floor: IndexState | null;
  /** A block that must be indexed there; null for any. */
  readonly atLeast: bigint | null;
  /** A position of the write-ahead log that must be replayed there; null for any. */
  readonly position: bigint | null;
};

type Candidate = Pick<ReadSource, "isInRotation" | "state" | "position" | "inFlight">;

/** `turn` breaks ties, so that idle replicas take turns. Null if none fits. */
export function chooseSource<S extends Candidate>(
  sources: readonly S[],
  needs: ReadNeeds,
  tried: ReadonlySet<S>,
  turn: number,
): S | null {
  let best: S | null = null;
  for (let at = 0; at < sources.length; at += 1) {
    const source = sources[(at + turn) % sources.length];
    if (source === undefined || tried.has(source) || !isSufficient(source, needs)) continue;
    if (best === null || source.inFlight < best.inFlight) best = source;
  }
  return best;
}

function isSufficient({ isInRotation, state, position }: Candidate, needs: ReadNeeds): boolean {
  if (!isInRotation || state === null || isOlder(state, needs.floor)) return false;
  if (needs.atLeast !== null && state.number < needs.atLeast) return false;
  return needs.position === null || position >= needs.position;
}
