// Ownership of a running server: the process that holds one advisory lock in it, on a session that dies with the process.
import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import { SUPERUSER } from "./cluster.ts";
import { systemErrorCode } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { unrefStream } from "./processes.ts";

/**
 * A lock file with a pid would be wrong after a crash, a reboot or in another container. The server itself knows
 * which sessions live, so it decides.
 */
type ServerClaim =
  | { readonly state: "claimed"; readonly session: Client }
  | { readonly state: "held"; readonly holder: string }
  | { readonly state: "not-ready" }
  | { readonly state: "absent" };

// Advisory locks are per database, and we take no other one in `postgres`: any number is free.
const CLAIM_KEY = 1;
const HOLDER_PREFIX = "sextant process ";
// A local socket responds immediately; a server that needs longer than this is not ready.
const CONNECT_MS_MAX = 5_000;

export async function claimServer(socketFolder: string): Promise<ServerClaim> {
  const session = new Client({
    host: socketFolder,
    port: 5432,
    user: SUPERUSER,
    database: "postgres",
    ssl: false,
    application_name: `${HOLDER_PREFIX}${process.pid}`,
    connectionTimeoutMillis: CONNECT_MS_MAX,
  });
  // The owner notices the loss of the server by its process; an unhandled error event would end ours.
  session.on("error", () => undefined);
  try {
    await session.connect();
    const { rows } = await session.query("SELECT pg_try_advisory_lock($1) AS claimed", [CLAIM_KEY]);
    if (rows[0]?.claimed === true) return { state: "claimed", session };
    const holder = await readHolder(session);
    await session.end();
    return { state: "held", holder };
  } catch (error) {
    await session.end();
    return explainFailure(error);
  }
}

function explainFailure(error: unknown): ServerClaim {
  const code = systemErrorCode(error);
  if (code === "ENOENT" || code === "ECONNREFUSED") return { state: "absent" };
  // 57P: starting up or shutting down; 53300: too many connections; the others: disconnected meanwhile.
  const isTemporary = code === undefined || /^(57P|53300|08|ECONNRESET|EPIPE|EAGAIN)/.test(code);
  if (isTemporary && (error instanceof DatabaseError || error instanceof Error))
    return { state: "not-ready" };
  throw error;
}

async function readHolder(session: Client): Promise<string> {
  const { rows } = await session.query(
    `SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.objid = $1 AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = 'postgres')`,
    [CLAIM_KEY],
  );
  return String(rows[0]?.name ?? "").replace(HOLDER_PREFIX, "") || "unknown";
}

const RECLAIM_EVERY_MS = 100;

/**
 * Keeps a claimed server ours. When one of its backends crashes, PostgreSQL ends all sessions and recovers; the claim
 * is then taken again, so that the server does not look orphaned.
 */
export class ClaimHandle {
  readonly #options: { socketFolder: string; hasExited: () => boolean; log: Logger };
  #session: Client;
  #isReleased = false;

  constructor(session: Client, options: { socketFolder: string; hasExited: () => boolean; log: Logger }) {
    this.#options = options;
    this.#session = session;
    this.#watch(session);
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#session.end();
  }

  #watch(session: Client): void {
    unrefStream(session.connection.stream);
    session.once("end", () => {
      this.#reclaim().catch((err) =>
        this.#options.log.error(
          { component: "embedded-postgres", event: "claim_lost", err },
          "Claim on the embedded database lost",
        ),
      );
    });
  }

  async #reclaim(): Promise<void> {
    const { socketFolder, hasExited, log } = this.#options;
    while (!this.#isReleased && !hasExited()) {
      const claim = await claimServer(socketFolder);
      if (claim.state === "held") {
        log.error(
          { component: "embedded-postgres", event: "claimed_by_other", holder: claim.holder },
          "Another process claimed the embedded database",
        );
        return;
      }
      if (claim.state === "claimed") {
        this.#session = claim.session;
        if (this.#isReleased) await claim.session.end();
        else this.#watch(claim.session);
        return;
      }
      await sleep(RECLAIM_EVERY_MS, undefined, { ref: false });
    }
  }
}
