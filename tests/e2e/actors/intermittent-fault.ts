// A fault that comes and goes: on for a while, off for a while, and off at the end.

import { drawInterval, type IntervalRange } from "../soak-profile.ts";
import type { E2eSystem } from "../system.ts";
import { sleepUntilStopped } from "../wait.ts";

// Somebody who does something to the river, or in it, until told to stop.

/** Rejects only when it could not play its part; what it finds wrong goes to the observations. */
export type E2eActor = (river: E2eSystem, stop: AbortSignal) => Promise<void>;

export type IntermittentFault = {
  readonly name: string;
  readonly lasts: (river: E2eSystem) => IntervalRange;
  /** Begins the fault; the function returned ends it. */
  readonly begin: (river: E2eSystem, random: () => number) => () => void;
};

export const intermittentFault =
  ({ name, lasts, begin }: IntermittentFault): E2eActor =>
  async (river, stop) => {
    const random = river.random(name);
    while (!stop.aborted) {
      const end = begin(river, random);
      await sleepUntilStopped(drawInterval(lasts(river), random), stop);
      end();
      await sleepUntilStopped(drawInterval(lasts(river), random) / 2, stop);
    }
  };
