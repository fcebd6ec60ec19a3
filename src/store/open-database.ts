// The configured database: the one that DATABASE_URL names, or an embedded server in the data folder.
import { join } from "node:path";
import { openSharedPostgres, type SharedPostgres } from "@sextant/embedded-postgres/shared";
import type { Config } from "../config/read-config.ts";
import type { databaseSettings } from "../config/settings.ts";
import type { Log } from "../lib/log.ts";
import { type Database, openDatabase } from "./postgres/database.ts";
import { migrate } from "./postgres/migrate.ts";
import { migrations } from "./postgres/migrations.ts";

export type ConfiguredDatabase = { readonly database: Database; close(): Promise<void> };

// Enough for the readers of one process; PostgreSQL's default of 100 leaves room for several processes.
const POOL_MAX = 10;

export async function openConfiguredDatabase(
  config: Config<typeof databaseSettings>,
  log: Log,
  purpose: string,
): Promise<ConfiguredDatabase> {
  const embedded = config.databaseUrl
    ? null
    : await openSharedPostgres({ folder: join(config.dataFolder, "postgres"), log });
  try {
    const database = await openDatabase({
      connection: embedded ? embedded.connection : { url: config.databaseUrl ?? neverNull() },
      schema: config.databaseSchema,
      poolMax: POOL_MAX,
      log,
      applicationName: `sextant ${purpose}`,
    });
    return await prepared(database, embedded, log);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

async function prepared(
  database: Database,
  embedded: SharedPostgres | null,
  log: Log,
): Promise<ConfiguredDatabase> {
  try {
    await migrate(database, migrations, log);
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    database,
    async close() {
      await database.close();
      await embedded?.stop();
    },
  };
}

function neverNull(): never {
  throw new Error("a database is either embedded or has a URL");
}
