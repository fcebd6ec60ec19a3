// A fault that comes and goes: on for a while, off for a while, and off at the end.

import { drawInterval, type IntervalRange } from "../soak-profile.ts";
import type { E2eSystem } from "../system.ts";
import { sleepUntilStopped } from "../wait.ts";

// Acts on the system until stopped: a client, a fault, an operator.

/** Rejects only when it could not play its part; what it finds wrong goes to the observations. */
export type E2eActor = (system: E2eSystem, stop: AbortSignal) => Promise<void>;

type IntermittentFault = {
  readonly name: string;
  readonly lasts: (system: E2eSystem) => IntervalRange;
  /** The effects that need an occasion: the fault does not end before it has caused each of them once. */
  readonly causes?: readonly string[];
  /** Begins the fault; the function returned ends it. */
  readonly begin: (system: E2eSystem, random: () => number) => () => void;
};

export const intermittentFault =
  ({ name, lasts, causes = [], begin }: IntermittentFault): E2eActor =>
  async (system, stop) => {
    const random = system.random(name);
    while (!stop.aborted) {
      const end = begin(system, random);
      do await sleepUntilStopped(drawInterval(lasts(system), random), stop);
      while (!stop.aborted && causes.some((kind) => system.observations.counted(kind) === 0));
      end();
      await sleepUntilStopped(drawInterval(lasts(system), random) / 2, stop);
    }
  };
