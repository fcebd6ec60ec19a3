// A database for one benchmark: an embedded server as in production, durable, on a folder that is thrown away.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/kit/log.ts";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../src/store/embedded-postgres.ts";
import { migrate } from "../../src/store/migrate.ts";
import { migrations } from "../../src/store/migrations.ts";

/** How a process finds it; goes from parent to child as JSON. */
export type BenchPlace = {
  readonly connection: { readonly host: string; readonly user: string; readonly database: string };
  readonly schema: string;
};

export type BenchServer = {
  readonly connection: BenchPlace["connection"];
  /** For files that are thrown away with it. */
  readonly folder: string;
  stop(): Promise<void>;
};

export const quietLog = createLog({ level: "warn", terminal: true, name: "bench" });

export async function startBenchServer(): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), "sextant-bench-"));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  try {
    // The server runs as another account when we are root, and must be able to pass.
    await chmod(folder, 0o711);
    const server = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log: quietLog });
    return {
      connection: server.connection,
      folder,
      async stop() {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

export async function openBenchDatabase({ connection, schema }: BenchPlace): Promise<Database> {
  const database = await openDatabase({
    connection,
    schema,
    poolMax: 4,
    log: quietLog,
    applicationName: "bench",
  });
  await migrate(database, migrations, quietLog);
  return database;
}
