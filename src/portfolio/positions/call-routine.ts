// Reads that depend on earlier reads, written one after another and run side by side: each step of all is one round trip.
import { type CallResults, readByMulticall } from "../multicall.ts";
import type { ContractRead, PinnedChain } from "../types.ts";

/** Yields the calls it needs next and receives their results. */
export type CallRoutine<Outcome> = Generator<readonly ContractRead[], Outcome, CallResults>;

/** Takes as many round trips as the longest routine has steps. Outcomes are in the order of the routines. */
export async function runCallRoutines<Outcome>(
  at: PinnedChain,
  routines: readonly CallRoutine<Outcome>[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const steps = routines.map((routine) => routine.next());
  for (;;) {
    const wanted = steps.map((step) => (step.done ? [] : step.value));
    if (steps.every(({ done }) => done)) break;
    const results = await readByMulticall(at, wanted.flat(), signal);
    let start = 0;
    for (const [index, calls] of wanted.entries()) {
      const own = results.slice(start, start + calls.length);
      start += calls.length;
      const routine = routines[index];
      if (routine && !steps[index]?.done) steps[index] = routine.next(own);
    }
  }
  return steps.flatMap((step) => (step.done ? [step.value] : []));
}
