// Processes are ended, politely or not, and started again after a while.
import { drawInterval } from "../soak-profile.ts";
import type { E2eSystem } from "../system.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

// An indexer stands still, for a moment or for so long that the other must take over, and then goes on as if nothing were.

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

const AWAY_MS_MAX = 2_000;
// Kills are what must be survived; a deployment ends processes politely.
const GRACEFUL_SHARE = 0.3;

export const processKills: E2eActor = async (system, stop) => {
  const { services, pace, random: randomOf } = system;
  const random = randomOf("kills");
  let waiting: string[] = [];
  for (;;) {
    await sleepUntilStopped(drawInterval(pace.kills, random), stop);
    if (stop.aborted) return;
    // In rounds, so that a short run ends every kind once.
    if (waiting.length === 0)
      waiting = shuffled(
        services.all.map(({ name }) => name),
        random,
      );
    const name = waiting.pop();
    const victim = services.all.find((each) => each.name === name);
    if (!victim) throw new Error(`there is no ${name}`);
    if (random() < GRACEFUL_SHARE) await endGracefully(system, victim);
    else {
      await victim.end("SIGKILL");
      system.observations.count("kills");
    }
    await sleepUntilStopped(random() * AWAY_MS_MAX, stop);
    await victim.start();
  }
};

async function endGracefully(
  { observations }: E2eSystem,
  victim: E2eSystem["services"]["all"][number],
): Promise<void> {
  const wasRunning = victim.running;
  const code = await victim.end("SIGTERM");
  observations.count("graceful shutdowns");
  if (wasRunning && code !== 0) {
    observations.recordViolation(
      `${victim.name} exited with ${code} on SIGTERM: ${victim.output.slice(-1_500)}`,
    );
  }
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((value) => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}
