// The embedded server for several processes: the first one starts it, others join and take over when it exits.
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { claimServer } from "./claim.ts";
import { SUPERUSER } from "./cluster.ts";
import { EmbeddedPostgresError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { prepareServerFolders } from "./server-folders.ts";
import type { Durability } from "./server-settings.ts";
import { DATABASE_NAME, type EmbeddedPostgres, startEmbeddedPostgres } from "./start.ts";

export type SharedPostgres = Pick<EmbeddedPostgres, "connection" | "stop">;

type SharedPostgresOptions = {
  readonly folder: string;
  readonly log: Logger;
  readonly durability?: Durability;
};

// A local connection takes a few milliseconds; clients notice a database that is missing for longer than a second.
const CHECK_EVERY_MS = 1_000;
// A server that recovers from the crash of one session ends all of them; its owner reclaims it within a moment.
const UNCLAIMED_MS = 3_000;
// Several processes may try to become the owner at once; the others join the one that succeeds.
const ATTEMPTS_MAX = 20;

/** Starts the server of a folder, or joins the one that another process runs there. */
export async function openSharedPostgres(options: SharedPostgresOptions): Promise<SharedPostgres> {
  const membership = new Membership(options);
  const host = await membership.startOrJoin();
  if (!membership.isOwner) {
    options.log.info(
      { component: "embedded-postgres", event: "joined", socket: host },
      "Joined the embedded database of another process",
    );
  }
  const following = membership.takeOverWhenUnclaimed(host);
  return {
    connection: { host, user: SUPERUSER, database: DATABASE_NAME },
    async stop() {
      membership.abort();
      await following;
      await membership.stopOwned();
    },
  };
}

/** The connection as DATABASE_URL writes it: a socket has no host, so its folder is a parameter. */
export function socketUrl({ host, user, database }: SharedPostgres["connection"]): string {
  // Explicit port and TLS mode, because the driver would otherwise take them from PGPORT and PGSSLMODE.
  return `postgres://${user}@localhost:5432/${database}?host=${encodeURIComponent(host)}&sslmode=disable`;
}

/** One process's part in a shared server: owner of it, or a client that takes over when the owner is gone. */
class Membership {
  readonly #options: SharedPostgresOptions;
  readonly #closing = new AbortController();
  #owned: EmbeddedPostgres | null = null;

  constructor(options: SharedPostgresOptions) {
    this.#options = options;
  }

  get isOwner(): boolean {
    return this.#owned !== null;
  }

  abort(): void {
    this.#closing.abort();
  }

  async stopOwned(): Promise<void> {
    await this.#owned?.stop();
  }

  /** Returns the socket folder of the server, whichever process runs it. */
  async startOrJoin(): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#owned = await startEmbeddedPostgres(this.#options);
        return this.#owned.connection.host;
      } catch (error) {
        if (!(error instanceof EmbeddedPostgresError && error.code === "DATABASE_IN_USE")) throw error;
        const socketFolder = await findRunningSocket(this.#options);
        if (socketFolder !== null) return socketFolder;
        // The server stopped in between.
        if (attempt >= ATTEMPTS_MAX) throw error;
      }
    }
  }

  async takeOverWhenUnclaimed(socketFolder: string): Promise<void> {
    const { log } = this.#options;
    while (this.#owned === null) {
      await waitUntilUnclaimed(socketFolder, this.#closing.signal);
      if (this.#closing.signal.aborted) return;
      log.info(
        { component: "embedded-postgres", event: "taking_over" },
        "Embedded database owner exited, taking over",
      );
      const next = await this.startOrJoin().catch((err: unknown) => {
        log.error(
          { component: "embedded-postgres", event: "start_failed", err },
          "Embedded database could not be started, retrying",
        );
        return null;
      });
      if (next === null || next === socketFolder) continue;
      // The folder's path is too long for a socket, so each server has a temporary socket folder.
      log.error(
        { component: "embedded-postgres", event: "socket_moved", socket: next },
        "Embedded database has another socket now, restart this process",
      );
      return;
    }
  }
}

/** The socket folder of the server that runs on a folder; null when it no longer runs. */
async function findRunningSocket({ folder, log }: SharedPostgresOptions): Promise<string | null> {
  const folders = await prepareServerFolders(folder, log);
  const file = await readPostmasterFile(folders.dataFolder);
  const socketFolder = file?.socketFolder || folders.socketFolder;
  // prepareServerFolders made it for a server of our own, which we do not start.
  if (folders.socketFolderIsTemporary) await rm(folders.socketFolder, { recursive: true, force: true });
  return file !== null && (await isHeld(socketFolder)) ? socketFolder : null;
}

/** Resolves when no process owns the server: it stopped, or its owner died. */
async function waitUntilUnclaimed(socketFolder: string, signal: AbortSignal): Promise<void> {
  let unclaimedMs = 0;
  while (!signal.aborted && unclaimedMs < UNCLAIMED_MS) {
    await sleep(CHECK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    const claim = await claimServer(socketFolder);
    if (claim.state === "absent") return;
    if (claim.state === "claimed") await claim.session.end();
    unclaimedMs = claim.state === "held" ? 0 : unclaimedMs + CHECK_EVERY_MS;
  }
}

async function isHeld(socketFolder: string): Promise<boolean> {
  const claim = await claimServer(socketFolder);
  if (claim.state === "claimed") await claim.session.end();
  return claim.state === "held";
}
