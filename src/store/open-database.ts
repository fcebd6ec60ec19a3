// The configured database: the one that DATABASE_URL names, or an embedded server in the data folder.
import { join } from "node:path";
import { EmbeddedPostgresError } from "@sextant/embedded-postgres/errors";
import { openSharedPostgres, type SharedPostgres } from "@sextant/embedded-postgres/shared";
import type { Config } from "../config/read-config.ts";
import type { databaseSettings } from "../config/settings.ts";
import { assertDefined } from "../lib/assert-defined.ts";
import { Fault } from "../lib/fault.ts";
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
  const { databaseUrl } = config;
  const embedded = databaseUrl ? null : await openEmbeddedPostgres(config.dataFolder, log);
  try {
    const connection = databaseUrl
      ? { url: databaseUrl }
      : assertDefined(embedded, "the embedded server").connection;
    const database = await openDatabase({
      connection,
      schema: config.databaseSchema,
      poolMax: POOL_MAX,
      log,
      applicationName: `sextant ${purpose}`,
    });
    await migrateOrClose(database, log);
    return {
      database,
      async close() {
        await database.close();
        await embedded?.stop();
      },
    };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

/** Starts or joins the embedded server of a data folder; its errors become faults of the same code. */
export async function openEmbeddedPostgres(dataFolder: string, log: Log): Promise<SharedPostgres> {
  try {
    return await openSharedPostgres({ folder: join(dataFolder, "postgres"), log });
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresError)) throw error;
    throw new Fault(error.code, error.message, { cause: error.cause });
  }
}

async function migrateOrClose(database: Database, log: Log): Promise<void> {
  try {
    await migrate(database, migrations, log);
  } catch (error) {
    await database.close();
    throw error;
  }
}
