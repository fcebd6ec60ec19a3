// The configured database: the one that DATABASE_URL names, or an embedded server in the data folder.
import { join } from "node:path";
import { EmbeddedPostgresError } from "@sextant/embedded-postgres/errors";
import { openSharedPostgres, type SharedPostgres } from "@sextant/embedded-postgres/shared";
import type { replicaSettings } from "../config/indexing-settings.ts";
import type { Config } from "../config/read-config.ts";
import type { databaseSettings } from "../config/service-settings.ts";
import { assertDefined } from "../lib/assert-defined.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import { ensureSchema } from "./postgres/connection.ts";
import { createDatabase, type Database, openDatabases } from "./postgres/database.ts";
import { migrate } from "./postgres/migrate.ts";
import { migrations } from "./postgres/migrations.ts";

export type ConfiguredDatabase = { readonly database: Database; close(): Promise<void> };

// Enough for the readers of one process; PostgreSQL's default of 100 leaves room for several processes.
const POOL_MAX = 10;

/** One schema of the configured database. */
export async function openConfiguredDatabase(
  config: Config<typeof databaseSettings>,
  log: Log,
  purpose: string,
): Promise<ConfiguredDatabase> {
  const { databases, close } = await openConfiguredDatabases(config, [config.databaseSchema], log, purpose);
  return { database: assertDefined(databases[0], "the database of a schema"), close };
}

/** Several schemas of it, which share a pool: together they have as many connections there as one. */
export async function openConfiguredDatabases(
  { databaseUrl, dataFolder }: Config<typeof databaseSettings>,
  schemas: readonly string[],
  log: Log,
  purpose: string,
): Promise<{ readonly databases: readonly Database[]; close(): Promise<void> }> {
  const embedded = databaseUrl ? null : await openEmbeddedPostgres(dataFolder, log);
  const opened: Database[] = [];
  const close = async () => {
    for (const database of opened) await database.close();
    await embedded?.stop();
  };
  try {
    const connection = databaseUrl
      ? { url: databaseUrl }
      : assertDefined(embedded, "the embedded server").connection;
    const applicationName = `sextant ${purpose}`;
    const databases = await openDatabases({ connection, poolMax: POOL_MAX, log, applicationName }, schemas);
    opened.push(...databases);
    for (const database of databases) await migrate(database, migrations, log);
    return { databases, close };
  } catch (error) {
    await close();
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
      connection: { url, connectMsMax: REPLICA_CONNECT_MS_MAX, variable: "DATABASE_READ_URL" },
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

/** Creates what is missing: for a process that finds its schema dropped. */
export async function prepareSchema(database: Database, log: Log): Promise<void> {
  await ensureSchema(database);
  await migrate(database, migrations, log);
}
