// The database goes away and comes back: shut down in order, or ended without a word.
import { Client } from "pg";
import { drawInterval } from "../soak-profile.ts";
import type { E2eSystem } from "../system.ts";
import { sleepUntilStopped, waitUntil } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

const BACK_MS_MAX = 60_000;

export const databaseRestarts: E2eActor = async (system, stop) => {
  const { postgres, pace, outages, observations, random: randomOf } = system;
  const random = randomOf("database restarts");
  for (;;) {
    await sleepUntilStopped(drawInterval(pace.databaseRestarts, random), stop);
    if (stop.aborted) return;
    const back = outages.begin("database");
    const { pid } = postgres;
    // Its supervisor starts it again.
    process.kill(pid, random() < 0.5 ? "SIGINT" : "SIGQUIT");
    await waitUntil(async () => postgres.pid !== pid && (await isAvailable(system)), {
      msMax: BACK_MS_MAX,
      late: () => "the database did not come back within a minute",
    });
    back();
    observations.count("database restarts");
  }
};

async function isAvailable({ databaseUrl }: E2eSystem): Promise<boolean> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2_000 });
  // A failed connection is a result too.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
