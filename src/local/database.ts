// The database of a local run: embedded unless DATABASE_URL is set, and deleted afterwards unless it should stay.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/read-config.ts";
import type { apiSettings, databaseSettings } from "../config/settings.ts";
import type { Log } from "../lib/log.ts";
import { type ConfiguredDatabase, openConfiguredDatabase } from "../store/open-database.ts";

/** Deletes the rows of the previous run: the chains start fresh every time. */
export async function openLocalDatabase(
  config: Config<typeof apiSettings & typeof databaseSettings>,
  keepFolder: string | undefined,
  log: Log,
): Promise<ConfiguredDatabase> {
  const folder = keepFolder ?? join(config.dataFolder, `local-${config.apiPort || process.pid}`);
  await rm(join(folder, "postgres"), { recursive: true, force: true });
  const { database, close } = await openConfiguredDatabase({ ...config, dataFolder: folder }, log, "local");
  return {
    database,
    async close() {
      await close();
      if (keepFolder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
