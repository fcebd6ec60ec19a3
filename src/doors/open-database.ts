// The configured database: the one that DATABASE_URL names, or an embedded server in the data folder.
import { join } from "node:path";
import type { Config } from "../kit/config.ts";
import type { Log } from "../kit/log.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { migrate } from "../store/migrate.ts";
import { migrations } from "../store/migrations.ts";
import { openSharedPostgres, type SharedPostgres } from "../store/shared-postgres.ts";
import type { databaseSettings } from "./settings.ts";

export type OpenDatabase = { readonly database: Database; close(): Promise<void> };

// Enough for the readers of one process; PostgreSQL's default of 100 leaves room for several processes.
const POOL_MAX = 10;

export async function openConfiguredDatabase(
  config: Config<typeof databaseSettings>,
  log: Log,
  purpose: string,
): Promise<OpenDatabase> {
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
): Promise<OpenDatabase> {
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
