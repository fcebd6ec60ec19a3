// A database for one benchmark: our embedded server as in production, or Debian's with its defaults.
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@sextant/embedded-postgres/start";
import { createLog } from "../../src/lib/log.ts";
import { Secret } from "../../src/lib/secret.ts";
import type { DatabaseConnection } from "../../src/store/postgres/connection.ts";
import { createDatabase, type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { findStockPostgres, startStockPostgres } from "../../tests/support/database/stock-postgres.ts";
import type { RelayReady, RelayTask } from "./delay-child.ts";
import type { DatabaseKind } from "./measurement.ts";
import { startChild } from "./start-child.ts";

/** How a process finds it; goes from parent to child as JSON. */
export type BenchDatabaseTarget = {
  readonly connection:
    | { readonly host: string; readonly user: string; readonly database: string }
    | { readonly url: string };
  readonly schema: string;
};

export type BenchServer = {
  readonly connection: BenchDatabaseTarget["connection"];
  /** For files that are thrown away with it. */
  readonly folder: string;
  stop(): Promise<void>;
};

export const benchLog = createLog({ level: "warn", terminal: true, name: "bench" });

// About what lies between two data centres of one region.
const ROUND_TRIP_MS = 5;

export function startBenchServer(kind: DatabaseKind): Promise<BenchServer> {
  if (kind === "embedded") return startEmbedded();
  return kind === "stock, TLS, 5 ms away" ? startDistant() : startStock({ tls: kind === "stock, TLS" });
}

async function startEmbedded(): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), "sextant-bench-"));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  try {
    // The server runs as another account when we are root, and must be able to pass.
    await chmod(folder, 0o711);
    const server = await openServer(folder);
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

/** Our embedded server on a folder that stays, for what takes longer than a session. */
export async function startKeptServer(folder: string): Promise<BenchServer> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
  const { connection, stop } = await openServer(folder);
  return { connection, folder, stop };
}

async function openServer(folder: string): Promise<Pick<BenchServer, "connection" | "stop">> {
  const server = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log: benchLog });
  return { connection: server.connection, stop: () => server.stop() };
}

async function startStock({ tls }: { readonly tls: boolean }) {
  const bin = findStockPostgres();
  if (bin === null)
    throw new Error("there is no stock PostgreSQL here; on Debian: apt-get install postgresql");
  const { url, port, folder, stop } = await startStockPostgres(bin);
  return { connection: { url: url({ tls }) }, port, folder, stop };
}

/** Its delay is a process of its own, so that it takes no time from what is measured. */
async function startDistant(): Promise<BenchServer> {
  const server = await startStock({ tls: true });
  const task: RelayTask = { port: server.port, roundTripMs: ROUND_TRIP_MS };
  const file = new URL("./delay-child.ts", import.meta.url);
  const relay = startChild({ name: "delay", file, args: [JSON.stringify(task)] });
  const { port } = await relay.next<RelayReady>();
  const url = new URL(server.connection.url);
  url.port = String(port);
  return {
    connection: { url: url.href },
    folder: server.folder,
    async stop() {
      await relay.stop();
      await server.stop();
    },
  };
}

export function connectionOfTarget({
  connection,
}: Pick<BenchDatabaseTarget, "connection">): DatabaseConnection {
  return "url" in connection ? { url: new Secret(connection.url) } : connection;
}

/** As `sextant api` opens the servers of DATABASE_READ_URL. */
export function openBenchReplicas(urls: readonly string[], schema: string): readonly Database[] {
  return urls.map((url) =>
    createDatabase({
      connection: { url: new Secret(url) },
      schema,
      poolMax: 1,
      log: benchLog,
      applicationName: "bench",
    }),
  );
}

export async function openBenchDatabase(place: BenchDatabaseTarget): Promise<Database> {
  const database = await openDatabase({
    connection: connectionOfTarget(place),
    schema: place.schema,
    poolMax: 4,
    log: benchLog,
    applicationName: "bench",
  });
  await migrate(database, migrations, benchLog);
  return database;
}
