// Who a running server belongs to: whoever holds one advisory lock in it, on a connection that dies with its process.
import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import type { Log } from "../../src/lib/log.ts";
import { SUPERUSER } from "./cluster.ts";
import { systemErrorCode } from "./errors.ts";
import { unrefStream } from "./processes.ts";

// Keeps a server ours: claims it again when the session that held the claim is cut while the server lives on.

export type ClaimHandle = { release(): Promise<void> };

const TRY_AGAIN_MS = 100;

/** After one of its processes crashed, a server cuts all sessions and recovers; ours must not look orphaned then. */
export function holdClaim(
  first: Client,
  options: { socketFolder: string; hasExited: () => boolean; log: Log },
): ClaimHandle {
  let session = first;
  let released = false;
  watch();

  function watch(): void {
    unrefStream(session.connection.stream);
    session.once("end", () => {
      void reclaim().catch((err) =>
        options.log.error({ err }, "The claim on the embedded database was lost"),
      );
    });
  }

  async function reclaim(): Promise<void> {
    while (!released && !options.hasExited()) {
      const claim = await claimServer(options.socketFolder);
      if (claim.state === "held") {
        options.log.error({ holder: claim.holder }, "Another process claimed the embedded database");
        return;
      }
      if (claim.state === "claimed") {
        session = claim.session;
        if (released) await session.end();
        else watch();
        return;
      }
      await sleep(TRY_AGAIN_MS, undefined, { ref: false });
    }
  }

  return {
    async release() {
      released = true;
      await session.end();
    },
  };
}

/**
 * A lock file with a process number would be wrong after a crash, a reboot or in another container. The server
 * itself knows which sessions live, so it is the judge.
 */
export type ServerClaim =
  | { readonly state: "claimed"; readonly session: Client }
  | { readonly state: "held"; readonly holder: string }
  | { readonly state: "not-ready" }
  | { readonly state: "absent" };

// Advisory locks are counted per database; in `postgres`, where nothing else of ours happens, any number is free.
const CLAIM_KEY = 1;
const HOLDER_PREFIX = "sextant process ";
// A local socket answers at once; a server that does not within this time is not ready.
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
  // Losing the server is noticed by whoever watches its process; unheard, this event would end ours.
  session.on("error", () => undefined);
  try {
    await session.connect();
    const { rows } = await session.query("SELECT pg_try_advisory_lock($1) AS claimed", [CLAIM_KEY]);
    if (rows[0]?.claimed === true) return { state: "claimed", session };
    const holder = await holderOf(session);
    await session.end();
    return { state: "held", holder };
  } catch (error) {
    await session.end();
    return notClaimed(error);
  }
}

function notClaimed(error: unknown): ServerClaim {
  const code = systemErrorCode(error);
  if (code === "ENOENT" || code === "ECONNREFUSED") return { state: "absent" };
  // 57P: starting up or shutting down; 53300: full; a connection cut in the middle: it is on its way somewhere.
  const passing = code === undefined || /^(57P|53300|08|ECONNRESET|EPIPE|EAGAIN)/.test(code);
  if (passing && (error instanceof DatabaseError || error instanceof Error)) return { state: "not-ready" };
  throw error;
}

async function holderOf(session: Client): Promise<string> {
  const { rows } = await session.query(
    `SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.objid = $1 AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = 'postgres')`,
    [CLAIM_KEY],
  );
  return String(rows[0]?.name ?? "").replace(HOLDER_PREFIX, "") || "unknown";
}
