// Hearing that something was committed: whoever keeps answers in memory must know when they are old.
import type { Client } from "pg";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "./database.ts";

// One channel per schema: several deployments may share a database.
const channelOf = (schema: string) => `${schema}_changed`;

const RECONNECT_MS = 500;

/**
 * Belongs into the transaction that changes what readers see; heard when that commits, and only then. `tables` are those
 * people write; without it, the rows of the index have changed and everything made from them.
 */
export function buildChangeNotification(
  schema: string,
  tables: readonly string[] = [],
): { text: string; values: [string, string] } {
  return { text: "select pg_notify($1, $2)", values: [channelOf(schema), tables.join(",")] };
}

/**
 * Calls `onChange` for every commit that tells, with the tables it named or null for everything, and once whenever
 * listening (re)starts, since nobody knows what happened before. `onDeaf` is called when the connection is lost: until the next onChange nothing may be believed.
 */
export async function watchChanges(
  database: Database,
  options: {
    onChange: (tables: readonly string[] | null) => void;
    onDisconnect: () => void;
    log: Log;
    signal: AbortSignal;
    clock?: Clock;
  },
): Promise<void> {
  const { onChange, onDisconnect: onDeaf, log, signal, clock = systemClock } = options;
  while (!signal.aborted) {
    let client: Client | null = null;
    try {
      client = await database.connect("changes");
      const lost = new Promise<void>((resolve) => {
        client?.once("error", () => resolve());
        client?.once("end", () => resolve());
        signal.addEventListener("abort", () => resolve(), { once: true });
        // It may have been given while the connection was made.
        if (signal.aborted) resolve();
      });
      client.on("notification", ({ payload }) => onChange(payload ? payload.split(",") : null));
      await client.query(`listen "${channelOf(database.schema)}"`);
      onChange(null);
      await lost;
    } catch (err) {
      log.debug({ err }, "Listening for changes failed and is tried again");
    }
    onDeaf();
    await client?.end().catch(() => undefined);
    if (!signal.aborted) await clock.sleep(RECONNECT_MS, signal).catch(() => undefined);
  }
}
