// Runs a private PostgreSQL server on a folder: starts it, restarts it after a crash, and never leaves it behind.
import { channel } from "node:diagnostics_channel";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { findBinariesPackage, installBinaries, type PostgresBinaries } from "./binaries.ts";
import { ensureCluster, SUPERUSER } from "./cluster.ts";
import { EmbeddedPostgresError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { stopOrphanServer } from "./orphan.ts";
import { prepareServerFolders, type ServerFolders } from "./server-folders.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import type { Durability } from "./server-settings.ts";

export const DATABASE_NAME = "sextant";

/** Tells subscribers how long a chain or a database took to start; tests count it apart from their own work. */
const startUps = channel("sextant:start-up");

// Two processes that start at the same moment may displace each other once or twice; more is a defect.
const STARTS_MAX = 10;
const START_AGAIN_MS = 200;
// Restarting does not help a server that exits again and again.
const RESTARTS_MAX = 5;
const RESTARTS_WITHIN_MS = 60_000;

type ServerOptions = {
  readonly folders: ServerFolders;
  readonly binaries: PostgresBinaries;
  readonly durability: Durability;
  readonly log: Logger;
};

export async function startEmbeddedPostgres(options: {
  folder: string;
  log: Logger;
  durability?: Durability;
}): Promise<EmbeddedPostgres> {
  const { log, durability = "full" } = options;
  const startedMs = Date.now();
  const folders = await prepareServerFolders(options.folder, log);
  const binaries = await installBinaries(await findBinariesPackage(), folders.folder, folders.account, log);
  const serverOptions = { folders, binaries, durability, log };
  const server = await launch(serverOptions);
  const tookMs = Date.now() - startedMs;
  startUps.publish({ seconds: tookMs / 1000 });
  log.info(
    {
      component: "embedded-postgres",
      event: "ready",
      folder: folders.folder,
      serverPid: server.pid,
      tookMs,
    },
    "Embedded database ready",
  );
  return new EmbeddedPostgres(server, serverOptions);
}

/** A running server, restarted when it exits unexpectedly. */
export class EmbeddedPostgres {
  readonly connection: { readonly host: string; readonly user: string; readonly database: string };
  /** For psql and other tools. It has no password: the socket's folder controls access. */
  readonly url: string;
  readonly #options: ServerOptions;
  readonly #supervised: Promise<void>;
  #server: ServerProcess;
  #stopping: Promise<void> | null = null;

  constructor(server: ServerProcess, options: ServerOptions) {
    const { socketFolder } = options.folders;
    this.connection = { host: socketFolder, user: SUPERUSER, database: DATABASE_NAME };
    this.url = `postgresql://${SUPERUSER}@/${DATABASE_NAME}?host=${encodeURIComponent(socketFolder)}`;
    this.#options = options;
    this.#server = server;
    this.#supervised = this.#supervise();
  }

  /** The current server process; a restart changes it. */
  get pid(): number {
    return this.#server.pid;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopServer();
    return this.#stopping;
  }

  async #supervise(): Promise<void> {
    const { log, folders } = this.#options;
    const { logFile } = folders;
    const restarts: number[] = [];
    for (;;) {
      const exit = await this.#server.exited;
      if (this.#stopping) return;
      log.error(
        { component: "embedded-postgres", event: "exited", logFile, exit },
        "Embedded database exited, restarting",
      );
      restarts.push(Date.now());
      const recent = restarts.filter((at) => at > Date.now() - RESTARTS_WITHIN_MS);
      if (recent.length > RESTARTS_MAX) {
        log.fatal(
          { component: "embedded-postgres", event: "gave_up", logFile },
          "Embedded database keeps exiting, giving up",
        );
        return;
      }
      try {
        this.#server = await launch(this.#options);
      } catch (err) {
        log.fatal(
          { component: "embedded-postgres", event: "restart_failed", logFile, err },
          "Embedded database could not be restarted",
        );
        return;
      }
      if (this.#stopping) await this.#server.stop();
    }
  }

  async #stopServer(): Promise<void> {
    const { folders, log } = this.#options;
    await this.#server.stop();
    await this.#supervised;
    if (folders.socketFolderIsTemporary) await rm(folders.socketFolder, { recursive: true, force: true });
    log.info(
      { component: "embedded-postgres", event: "stopped", folder: folders.folder },
      "Embedded database stopped",
    );
  }
}

async function launch({ folders, binaries, durability, log }: ServerOptions): Promise<ServerProcess> {
  for (let start = 1; start <= STARTS_MAX; start += 1) {
    await stopOrphanServer(folders, log);
    await ensureCluster(folders, binaries, durability, log);
    const server = await startServerProcess(folders, binaries, durability, log, ensureDatabase);
    if (server) return server;
    await sleep(START_AGAIN_MS);
  }
  throw new EmbeddedPostgresError(
    "DATABASE_START_FAILED",
    `The embedded database in ${folders.folder} could not be started: other processes keep starting or stopping one there; if none does, remove ${folders.dataFolder}/postmaster.pid.`,
  );
}

async function ensureDatabase(session: Client): Promise<void> {
  const { rows } = await session.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE_NAME]);
  // template0 accepts no connections, so there is nothing to wait for.
  if (rows.length === 0) await session.query(`CREATE DATABASE ${DATABASE_NAME} TEMPLATE template0`);
}
