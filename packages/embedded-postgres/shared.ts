// The embedded PostgreSQL for several processes: the first starts it, others join it and take over when it leaves.
import { rm } from "node:fs/promises";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { Fault } from "../../src/lib/fault.ts";
import type { Log } from "../../src/lib/log.ts";
import { claimServer } from "./claim.ts";
import { SUPERUSER } from "./cluster.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { prepareServerFolders } from "./server-folders.ts";
import type { Durability } from "./server-settings.ts";
import { DATABASE_NAME, type EmbeddedPostgres, startEmbeddedPostgres } from "./start.ts";

export type SharedPostgres = Pick<EmbeddedPostgres, "connection" | "stop">;

export type SharedPostgresOptions = {
  readonly folder: string;
  readonly log: Log;
  readonly durability?: Durability;
  readonly clock?: Clock;
};

// Opening a local connection takes a few milliseconds; a second without a database is what clients notice.
const LOOK_EVERY_MS = 1_000;
// A server that recovers from a crash of one session cuts them all; its owner claims it again within a moment.
const UNCLAIMED_MS = 3_000;
// Several processes may try to become the owner at once; those that lose join the one that wins.
const TURNS_MAX = 20;

/** Starts the server of a folder, or joins the one that another process runs there. */
export async function openSharedPostgres(options: SharedPostgresOptions): Promise<SharedPostgres> {
  const { log, clock = systemClock } = options;
  const leaving = new AbortController();
  let owned: EmbeddedPostgres | null = null;

  /** Where the server listens, whoever runs it. */
  async function startOrJoin(): Promise<string> {
    for (let turn = 1; ; turn += 1) {
      try {
        owned = await startEmbeddedPostgres(options);
        return owned.connection.host;
      } catch (error) {
        if (!(error instanceof Fault && error.code === "DATABASE_IN_USE")) throw error;
        const socketFolder = await runningSocket(options);
        if (socketFolder !== null) return socketFolder;
        // It stopped between the two looks.
        if (turn >= TURNS_MAX) throw error;
      }
    }
  }

  async function follow(socketFolder: string): Promise<void> {
    while (owned === null) {
      await untilUnclaimed(socketFolder, clock, leaving.signal);
      if (leaving.signal.aborted) return;
      log.info("The process that ran the embedded database has left; starting it here");
      const next = await startOrJoin().catch((err: unknown) => {
        log.error({ err }, "The embedded database could not be started, retrying");
        return null;
      });
      if (next === null || next === socketFolder) continue;
      // The folder's path is too long for a socket, so each server has one of its own elsewhere.
      log.error({ socket: next }, "The embedded database listens elsewhere now; restart this process");
      return;
    }
  }

  const host = await startOrJoin();
  if (owned === null) log.info({ socket: host }, "Joined the embedded database that another process runs");
  const following = follow(host);
  return {
    connection: { host, user: SUPERUSER, database: DATABASE_NAME },
    async stop() {
      leaving.abort();
      await following;
      await owned?.stop();
    },
  };
}

/** The connection as DATABASE_URL writes it: a socket has no host, so its folder is a parameter. */
export function socketUrl({ host, user, database }: SharedPostgres["connection"]): string {
  // The port and TLS are named, because the driver would take them from PGPORT and PGSSLMODE otherwise.
  return `postgres://${user}@localhost:5432/${database}?host=${encodeURIComponent(host)}&sslmode=disable`;
}

/** Where the server that runs on a folder listens; null when none runs there any longer. */
async function runningSocket({ folder, log }: SharedPostgresOptions): Promise<string | null> {
  const home = await prepareServerFolders(folder, log);
  const file = await readPostmasterFile(home.dataFolder);
  const socketFolder = file?.socketFolder || home.socketFolder;
  // A temporary folder was made for a server of our own, which there is no need for.
  if (home.socketFolderIsTemporary) await rm(home.socketFolder, { recursive: true, force: true });
  return file !== null && (await isHeld(socketFolder)) ? socketFolder : null;
}

/** Resolves when no process runs the server: it is stopped, or its owner has died. */
async function untilUnclaimed(socketFolder: string, clock: Clock, signal: AbortSignal): Promise<void> {
  let unclaimedMs = 0;
  while (!signal.aborted && unclaimedMs < UNCLAIMED_MS) {
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
    const claim = await claimServer(socketFolder);
    if (claim.state === "absent") return;
    if (claim.state === "claimed") await claim.session.end();
    unclaimedMs = claim.state === "held" ? 0 : unclaimedMs + LOOK_EVERY_MS;
  }
}

async function isHeld(socketFolder: string): Promise<boolean> {
  const claim = await claimServer(socketFolder);
  if (claim.state === "claimed") await claim.session.end();
  return claim.state === "held";
}
