// An indexer stands still, for a moment or for so long that the other must take over, and then goes on as if nothing were.
import { drawInterval } from "../soak-profile.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./actor.ts";

// The lock is taken from a holder that says nothing for thirty seconds.
const FROZEN_MS = [500, 40_000] as const;

export const processFreezes: E2eActor = async ({ services, pace, observations, random: randomOf }, stop) => {
  if (pace.freezes === null) return;
  const random = randomOf("freezes");
  for (;;) {
    await sleepUntilStopped(drawInterval(pace.freezes, random), stop);
    if (stop.aborted) return;
    const victim = services.indexers[Math.floor(random() * services.indexers.length)];
    const thaw = victim?.freeze();
    if (!thaw) continue;
    observations.count("freezes");
    await sleepUntilStopped(drawInterval(FROZEN_MS, random), stop);
    thaw();
  }
};
