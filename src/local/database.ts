// The database of a local run: embedded unless one is named, and gone with the run unless it is to be kept.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/read-config.ts";
import type { apiSettings, databaseSettings } from "../config/settings.ts";
import type { Log } from "../lib/log.ts";
import { type ConfiguredDatabase, openConfiguredDatabase } from "../store/open-database.ts";

/** The chain begins anew with every start, so the rows of the last one are of no use and these will be of none. */
export async function openLocalDatabase(
  config: Config<typeof apiSettings & typeof databaseSettings>,
  kept: string | undefined,
  log: Log,
): Promise<ConfiguredDatabase> {
  const folder = kept ?? join(config.dataFolder, `local-${config.apiPort || process.pid}`);
  await rm(join(folder, "postgres"), { recursive: true, force: true });
  const { database, close } = await openConfiguredDatabase({ ...config, dataFolder: folder }, log, "local");
  return {
    database,
    async close() {
      await close();
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
