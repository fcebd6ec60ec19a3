// Reads that depend on earlier reads, written one after another and run side by side: each step of all is one round trip.
import type { PinnedChain } from "../types.ts";
import { readGroups } from "./read-groups.ts";
import { joinReads, type ReadGroup, type Reads, type ResultsOf } from "./reads.ts";

/** Yields what it needs next and receives the results: `const { owner } = yield* ask({ owner: ownerOf(vault) })`. */
export type ReadRoutine<Outcome> = Generator<Reads<unknown>, Outcome, unknown>;

/** One step of a routine. */
export function* ask<const Group extends ReadGroup>(group: Group): ReadRoutine<ResultsOf<Group>> {
  // `runRoutines` continues each routine with the decoded results of its own reads.
  return (yield joinReads(group)) as ResultsOf<Group>;
}

/** Takes as many round trips as the longest routine has steps. Outcomes are in the order of the routines. */
export async function runRoutines<Outcome>(
  at: PinnedChain,
  routines: readonly ReadRoutine<Outcome>[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  let steps = routines.map((routine) => routine.next());
  while (steps.some(({ done }) => !done)) {
    const results = await readGroups(
      at,
      signal,
      steps.map((step) => (step.done ? null : step.value)),
    );
    steps = steps.map((step, index) => (step.done ? step : (routines[index]?.next(results[index]) ?? step)));
  }
  return steps.flatMap((step) => (step.done ? [step.value] : []));
}
