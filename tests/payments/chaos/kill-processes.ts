// Kills processes at the worst moments: around a settlement, before it is sent, while it is mined, or before the response.
import { setTimeout as sleep } from "node:timers/promises";
import type { RestartedProcess } from "./restarted-process.ts";

type ProcessKiller = {
  /** In the order of their first death; later it is chance. */
  readonly victims: RestartedProcess[];
  readonly onSettle: (number: number) => void;
  /** Resolves once every killed process is back. */
  done(): Promise<void>;
};

// A client whose process died waits for the end of the lease, so kills must be rarer with many clients.
const SETTLES_PER_KILL_MIN = 9;
const PAYERS_PER_KILL = 5;
// A settlement takes a block, which is less than this.
const MOMENT_MS_MAX = 500;

export function createProcessKiller(options: {
  readonly random: () => number;
  readonly faultySettles: number;
  readonly payers: number;
}): ProcessKiller {
  const { random, faultySettles } = options;
  const settlesPerKill = Math.max(SETTLES_PER_KILL_MIN, Math.ceil(options.payers / PAYERS_PER_KILL));
  const victims: RestartedProcess[] = [];
  const killing: Promise<void>[] = [];
  let deaths = 0;

  async function strike(waitMs: number, chance: number): Promise<void> {
    await sleep(waitMs);
    const up = victims.filter(({ url }) => url !== null);
    const first = victims[deaths];
    const victim = first ?? up[Math.floor(chance * up.length)];
    if (!victim || victim.url === null) return;
    deaths += 1;
    await victim.kill();
  }

  return {
    victims,
    onSettle(number) {
      const isTime = number % settlesPerKill === settlesPerKill - 1;
      if (isTime && number < faultySettles) killing.push(strike(random() * MOMENT_MS_MAX, random()));
    },
    done: async () => {
      await Promise.all(killing);
    },
  };
}
