// The configured database: the one that DATABASE_URL names, or an embedded server in the data folder.
import { join } from "node:path";
import { EmbeddedPostgresError } from "@sextant/embedded-postgres/errors";
import { openSharedPostgres, type SharedPostgres } from "@sextant/embedded-postgres/shared";
import type { Config } from "../config/read-config.ts";
import type { databaseSettings, replicaSettings } from "../config/settings.ts";
import { assertDefined } from "../lib/assert-defined.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import { createDatabase, type Database, openDatabase } from "./postgres/database.ts";
import { migrate } from "./postgres/migrate.ts";
import { migrations } from "./postgres/migrations.ts";

export type ConfiguredDatabase = { readonly database: Database; close(): Promise<void> };

// Enough for the readers of one process; PostgreSQL's default of 100 leaves room for several processes.
const POOL_MAX = 10;

// Less would let a statement that takes long delay what the lock and the status need.
const POOL_MIN = 3;

/**
 * The same for several schemas: one session reads one schema, so that each has a pool of its own, and all of them
 * together about as many connections as one.
 */
export async function openConfiguredDatabases(
  config: Config<typeof databaseSettings>,
  schemas: readonly string[],
  log: Log,
  purpose: string,
): Promise<{ readonly databases: readonly Database[]; close(): Promise<void> }> {
  const opened: ConfiguredDatabase[] = [];
  const close = async () => {
    // The first may run the embedded server, which the others have joined.
    for (const each of opened.splice(0).reverse()) await each.close();
  };
  const poolMax = Math.max(POOL_MIN, Math.floor(POOL_MAX / schemas.length));
  try {
    for (const databaseSchema of schemas) {
      opened.push(await openConfiguredDatabase({ ...config, databaseSchema }, log, purpose, poolMax));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { databases: opened.map(({ database }) => database), close };
}

export async function openConfiguredDatabase(
  config: Config<typeof databaseSettings>,
  log: Log,
  purpose: string,
  poolMax = POOL_MAX,
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
      poolMax,
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

// A connection within a data centre takes milliseconds. Reads that meet a dead replica wait this long at most.
const REPLICA_CONNECT_MS_MAX = 1_000;

/** Replicas are opened without a statement: one that is down comes into use when it is up. */
export function openConfiguredReplicas(
  config: Config<typeof databaseSettings & typeof replicaSettings>,
  log: Log,
  purpose: string,
): { readonly databases: readonly Database[]; readonly lagMsMax: number; close(): Promise<void> } {
  const databases = config.databaseReadUrls.map((url) =>
    createDatabase({
      connection: { url, connectMsMax: REPLICA_CONNECT_MS_MAX },
      schema: config.databaseSchema,
      poolMax: 1,
      log,
      applicationName: `sextant ${purpose}`,
    }),
  );
  return {
    databases,
    lagMsMax: config.databaseReadLagMsMax,
    close: async () => {
      await Promise.all(databases.map((database) => database.close()));
    },
  };
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
