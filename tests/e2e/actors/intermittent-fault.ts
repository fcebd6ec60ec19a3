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
  /** Begins the fault; the function returned ends it. */
  readonly begin: (system: E2eSystem, random: () => number) => () => void;
};

export const intermittentFault =
  ({ name, lasts, begin }: IntermittentFault): E2eActor =>
  async (system, stop) => {
    const random = system.random(name);
    while (!stop.aborted) {
      const end = begin(system, random);
      await sleepUntilStopped(drawInterval(lasts(system), random), stop);
      end();
      await sleepUntilStopped(drawInterval(lasts(system), random) / 2, stop);
    }
  };
