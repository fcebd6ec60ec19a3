// `sextant indexer` and `sextant api` over a PostgreSQL of their own, each killed with SIGKILL and started again.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@sextant/embedded-postgres/start";
import { onTestFinished } from "vitest";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { createDatabaseOn, formatConnectionUrl } from "../../support/database/test-database.ts";
import { openTestConnection } from "../../support/index/empty-index.ts";
import { KilledProcess } from "../../support/process/killed-process.ts";
import { startSextant } from "../../support/process/sextant-process.ts";
import { silentLog } from "../../support/quiet-log.ts";

export type KilledServices = {
  /** The URL of the API now, or the last one. */
  readonly url: string;
  /** The connection of the test, which opens again by itself. */
  readonly database: Database;
  killApi(): Promise<void>;
  killIndexer(): Promise<void>;
  killDatabase(): Promise<void>;
  /** Kills the indexer, and starts it again after `sextant rebuild`. */
  rebuild(): Promise<void>;
};

/** For all tests of a file. */
export async function startKilledPostgres(): Promise<{ server: EmbeddedPostgres; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "sextant-events-"));
  // The server runs as another account when the tests run as root, and must be able to pass.
  await chmod(folder, 0o711);
  // Every commit still reaches the system, so that a killed server loses nothing.
  const server = await startEmbeddedPostgres({
    ...{ folder: join(folder, "postgres"), log: silentLog, durability: "none" },
  });
  return {
    server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const CHECK_EVERY_MS = 250;

export async function startKilledServices(
  server: EmbeddedPostgres,
  { deployment, rpcUrl }: { readonly deployment: Deployment; readonly rpcUrl: string },
): Promise<KilledServices> {
  const folder = await mkdtemp(join(tmpdir(), "sextant-events-"));
  const place = await createDatabaseOn({ kind: "embedded", ...server.connection });
  onTestFinished(async () => {
    await place.drop();
    await rm(folder, { recursive: true, force: true });
  });
  const network = join(folder, "deployment.json");
  await writeFile(network, JSON.stringify(deployment));
  const environment = {
    ...{ DATABASE_URL: formatConnectionUrl(place.connection), NETWORK: network, RPC_URL: rpcUrl },
    ...{ API_PORT: "0", INDEXER_PORT: "0" },
  };
  const indexer = new KilledProcess("indexer", environment, /This process writes the index/);
  const api = new KilledProcess("api", environment, /Indexing API is listening/);
  await indexer.start();
  await api.start();
  const database = await openTestConnection(place.connection);
  onTestFinished(() => database.close());
  const restart = async (service: KilledProcess) => {
    await service.kill();
    await service.start();
  };
  return {
    get url() {
      return api.url;
    },
    database,
    killApi: () => restart(api),
    killIndexer: () => restart(indexer),
    async killDatabase() {
      const { pid } = server;
      process.kill(pid, "SIGKILL");
      while (server.pid === pid) await pause(CHECK_EVERY_MS);
    },
    async rebuild() {
      await indexer.kill();
      const { code, err } = await startSextant(["rebuild"], { environment }).ended;
      if (code !== 0) throw new Error(`rebuild ended with ${code}: ${err}`);
      await indexer.start();
    },
  };
}
