// A real PostgreSQL of our own on a folder: started, watched over, taken over after a crash, and never left behind.
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { Fault } from "../../src/lib/fault.ts";
import type { Log } from "../../src/lib/log.ts";
import { findBinariesPackage, installBinaries, type PostgresBinaries } from "./binaries.ts";
import { ensureCluster, SUPERUSER } from "./cluster.ts";
import { stopOrphanServer } from "./orphan.ts";
import { prepareServerFolders, type ServerFolders } from "./server-folders.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import type { Durability } from "./server-settings.ts";

export type EmbeddedPostgres = {
  readonly connection: { readonly host: string; readonly user: string; readonly database: string };
  /** For psql and other tools; there is no password in it, the socket's folder is the guard. */
  readonly url: string;
  /** The server's process now: it changes when the server had to be started again. */
  readonly pid: number;
  stop(): Promise<void>;
};

export const DATABASE_NAME = "sextant";
// Two processes that start at the same moment may displace each other once or twice; more is a defect.
const STARTS_MAX = 10;
const START_AGAIN_MS = 200;
// A server that dies over and over has a reason that starting it again does not cure.
const RESTARTS_MAX = 5;
const RESTARTS_WITHIN_MS = 60_000;

export async function startEmbeddedPostgres(options: {
  folder: string;
  log: Log;
  durability?: Durability;
}): Promise<EmbeddedPostgres> {
  const { log, durability = "full" } = options;
  const startedMs = Date.now();
  const home = await prepareServerFolders(options.folder, log);
  const program = await installBinaries(await findBinariesPackage(), home.folder, home.account, log);
  let server = await launch(home, program, durability, log);
  log.info(
    { folder: home.folder, serverPid: server.pid, tookMs: Date.now() - startedMs },
    "The embedded database is ready",
  );

  let stopping: Promise<void> | null = null;
  const supervised = supervise();

  async function supervise(): Promise<void> {
    const restarts: number[] = [];
    for (;;) {
      const how = await server.exited;
      if (stopping) return;
      log.error(
        { how, logFile: home.logFile },
        "The embedded database ended unexpectedly; starting it again",
      );
      restarts.push(Date.now());
      const recent = restarts.filter((at) => at > Date.now() - RESTARTS_WITHIN_MS);
      if (recent.length > RESTARTS_MAX) {
        log.fatal({ logFile: home.logFile }, "The embedded database keeps ending; it is left stopped");
        return;
      }
      try {
        server = await launch(home, program, durability, log);
      } catch (err) {
        log.fatal({ err, logFile: home.logFile }, "The embedded database could not be started again");
        return;
      }
      if (stopping) await server.stop();
    }
  }

  async function stopServer(): Promise<void> {
    await server.stop();
    await supervised;
    if (home.socketFolderIsTemporary) await rm(home.socketFolder, { recursive: true, force: true });
    log.info({ folder: home.folder }, "The embedded database has stopped");
  }

  return {
    connection: { host: home.socketFolder, user: SUPERUSER, database: DATABASE_NAME },
    url: `postgresql://${SUPERUSER}@/${DATABASE_NAME}?host=${encodeURIComponent(home.socketFolder)}`,
    get pid() {
      return server.pid;
    },
    stop() {
      stopping ??= stopServer();
      return stopping;
    },
  };
}

async function launch(
  home: ServerFolders,
  program: PostgresBinaries,
  durability: Durability,
  log: Log,
): Promise<ServerProcess> {
  for (let start = 1; start <= STARTS_MAX; start += 1) {
    await stopOrphanServer(home, log);
    await ensureCluster(home, program, durability, log);
    const server = await startServerProcess(home, program, durability, log, ensureDatabase);
    if (server) return server;
    await sleep(START_AGAIN_MS);
  }
  throw new Fault(
    "DATABASE_START_FAILED",
    `The embedded database in ${home.folder} could not be started: other processes keep starting or stopping one there.`,
  );
}

async function ensureDatabase(session: Client): Promise<void> {
  const { rows } = await session.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE_NAME]);
  // The default template has no connections to wait for, and ours has nothing in it that template0 lacks.
  if (rows.length === 0) await session.query(`CREATE DATABASE ${DATABASE_NAME} TEMPLATE template0`);
}
