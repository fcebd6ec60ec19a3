// LISTEN/NOTIFY: processes that cache responses learn which tables a commit changed.
import type { Client } from "pg";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "./database.ts";
import { runStatement } from "./session.ts";

// One channel per schema: several deployments may share a database.
const channelOf = (schema: string) => `${schema}_changed`;

const RECONNECT_MS = 500;
// A server that hangs keeps its connections, and the system of its machine confirms that they are open: only a statement
// shows it. One in five seconds costs nothing.
const CHECK_EVERY_MS = 5_000;
const CHECK_MS_MAX = 1_000;

/**
 * Run it in the transaction that changes what readers see: PostgreSQL delivers it when that commits. `tables` are
 * tables that clients write; without them, the rows of the index have changed.
 */
export function buildChangeNotification(
  schema: string,
  tables: readonly string[] = [],
): { text: string; values: [string, string] } {
  return { text: "select pg_notify($1, $2)", values: [channelOf(schema), tables.join(",")] };
}

/**
 * Calls `onChange` for every notification, with its tables or null for everything, and whenever listening (re)starts,
 * because changes may have been missed. Calls `onDisconnect` when the connection is lost: until the next onChange,
 * cached responses may be stale.
 */
export async function watchChanges(
  database: Database,
  options: {
    onChange: (tables: readonly string[] | null) => void;
    /** Before the onChange of a new connection, which may be one to another server. */
    onConnect?: () => void;
    onDisconnect: () => void;
    log: Log;
    signal: AbortSignal;
    clock?: Clock;
  },
): Promise<void> {
  const { onChange, onDisconnect, log, signal, clock = systemClock } = options;
  while (!signal.aborted) {
    let client: Client | null = null;
    try {
      client = await database.connect("changes");
      const lost = new Promise<void>((resolve) => {
        client?.once("error", () => resolve());
        client?.once("end", () => resolve());
        signal.addEventListener("abort", () => resolve(), { once: true });
        // It may have been aborted while connecting.
        if (signal.aborted) resolve();
      });
      client.on("notification", ({ payload }) => onChange(payload ? payload.split(",") : null));
      await client.query(`listen "${channelOf(database.schema)}"`);
      options.onConnect?.();
      onChange(null);
      await Promise.race([lost, waitUntilSilent(client, { database, signal, clock })]);
    } catch (err) {
      log.debug(
        { component: "store", event: "listen_failed", err },
        "Listening for changes failed, retrying",
      );
    }
    onDisconnect();
    await client?.end().catch(() => undefined);
    if (!signal.aborted) await clock.sleep(RECONNECT_MS, signal).catch(() => undefined);
  }
}

/** Resolves when the server no longer responds on the connection, or when the connection or the wait has ended. */
async function waitUntilSilent(
  client: Client,
  { database, signal, clock }: { database: Database; signal: AbortSignal; clock: Clock },
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(CHECK_EVERY_MS, signal);
      await runStatement(client, "select 1", { target: database.target, statementTimeoutMs: CHECK_MS_MAX });
    }
  } catch {
    // Whatever the reason: the caller connects again.
  }
}
