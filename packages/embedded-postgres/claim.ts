// Who a running server belongs to: whoever holds one advisory lock in it, on a connection that dies with its process.
import { Client, DatabaseError } from "pg";
import { SUPERUSER } from "./cluster.ts";
import { systemErrorCode } from "./file-errors.ts";

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
