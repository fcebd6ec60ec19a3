// The database goes away and comes back: shut down in order, or ended without a word.
import { Client } from "pg";
import { between } from "../soak-profile.ts";
import type { River } from "../system.ts";
import { pause, until } from "../wait.ts";
import type { Actor } from "./actor.ts";

const BACK_MS_MAX = 60_000;

export const databaseRestarts: Actor = async (river, stop) => {
  const { postgres, pace, outages, observations, random: randomOf } = river;
  const random = randomOf("database restarts");
  for (;;) {
    await pause(between(pace.databaseRestarts, random), stop);
    if (stop.aborted) return;
    const back = outages.begin("database");
    const { pid } = postgres;
    // Its supervisor starts it again.
    process.kill(pid, random() < 0.5 ? "SIGINT" : "SIGQUIT");
    await until(async () => postgres.pid !== pid && (await answers(river)), {
      msMax: BACK_MS_MAX,
      late: () => "the database did not come back within a minute",
    });
    back();
    observations.count("database restarts");
  }
};

async function answers({ databaseUrl }: River): Promise<boolean> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2_000 });
  // A connection that dies while it is tried is an answer too.
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
