// A fault that comes and goes: on for a while, off for a while, and off at the end.
import { between, type Every } from "../soak-profile.ts";
import type { River } from "../system.ts";
import { pause } from "../wait.ts";
import type { Actor } from "./actor.ts";

export type Spells = {
  readonly name: string;
  readonly lasts: (river: River) => Every;
  /** Begins the fault; the function returned ends it. */
  readonly begin: (river: River, random: () => number) => () => void;
};

export const spells =
  ({ name, lasts, begin }: Spells): Actor =>
  async (river, stop) => {
    const random = river.random(name);
    while (!stop.aborted) {
      const end = begin(river, random);
      await pause(between(lasts(river), random), stop);
      end();
      await pause(between(lasts(river), random) / 2, stop);
    }
  };
