// The chain changes its mind: the last blocks give way to others, with all or none of their transactions.
import { drawInterval } from "../soak-profile.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

const DEPTH_MAX = 24;

export const chainReorgs: E2eActor = async ({ protocol, pace, random: randomOf }, stop) => {
  const random = randomOf("reorgs");
  for (;;) {
    await sleepUntilStopped(drawInterval(pace.reorgs, random), stop);
    if (stop.aborted) return;
    // Shallow ones are what happens; deep ones are what must be survived.
    const depth = 1 + Math.floor(random() ** 2 * DEPTH_MAX);
    await protocol.reorg(depth, random() < 0.5 ? "none" : "all");
  }
};
