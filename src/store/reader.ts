// Point reads at full speed: many requests share a few connections, each statement sent without waiting for the last.
import type { Writable } from "node:stream";
import type { Client } from "pg";
import { Fault } from "../kit/fault.ts";
import type { Database } from "./database.ts";
import { type Cells, mustDiscard, runCells, type Value } from "./session.ts";

export type NamedStatement = {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Value[];
};

export type Reader = {
  /** For short reads only: a slow one holds up those that were sent after it on the same connection. */
  read(statement: NamedStatement): Promise<Cells>;
  close(): Promise<void>;
};

type Lane = { client: Client | null; opening: Promise<Client> | null; inFlight: number };

// What the driver's client has beyond its declared type.
type WiredClient = Client & { readonly connection: { readonly stream: Writable } };

// A point read takes well under a millisecond; one that needs seconds does not belong here.
const STATEMENT_MS_MAX = 5_000;
// At 8,000 reads a second and connection, this many wait about a tenth of a second.
const IN_FLIGHT_MAX = 1_000;

// The reads of one turn leave in one packet: a system call for each would cost more than making it.
function sendTogether(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}

export function openReader(database: Database, options: { connections: number }): Reader {
  const lanes: Lane[] = Array.from({ length: options.connections }, () => ({
    client: null,
    opening: null,
    inFlight: 0,
  }));
  let closed = false;

  async function open(lane: Lane): Promise<Client> {
    const client = await database.connect("reader", { pipeline: true, statementTimeoutMs: STATEMENT_MS_MAX });
    await client.query("SET default_transaction_read_only TO on");
    client.once("error", () => retire(lane, client));
    lane.client = client;
    return client;
  }

  // Statements already sent on it are still answered; the next one opens a new connection.
  function retire(lane: Lane, client: Client): void {
    if (lane.client !== client) return;
    lane.client = null;
    void client.end();
  }

  function connected(lane: Lane): Client | Promise<Client> {
    if (lane.client) return lane.client;
    lane.opening ??= open(lane).finally(() => {
      lane.opening = null;
    });
    return lane.opening;
  }

  async function send(lane: Lane, client: Client, statement: NamedStatement): Promise<Cells> {
    try {
      sendTogether((client as WiredClient).connection.stream);
      const limits = { place: database.place, statementTimeoutMs: STATEMENT_MS_MAX };
      return await runCells(client, statement, limits);
    } catch (error) {
      if (mustDiscard(client)) retire(lane, client);
      throw error;
    }
  }

  async function readOn(lane: Lane, statement: NamedStatement): Promise<Cells> {
    const client = await connected(lane);
    try {
      return await send(lane, client, statement);
    } catch (error) {
      // A connection can break under many reads that are not to blame, or know a statement as it was before a
      // migration. A read may be repeated; one that used up its time may not, and no other failure is passing.
      const timedOut = error instanceof Fault && error.code === "TIMED_OUT";
      if (timedOut || !mustDiscard(client)) throw error;
      return await send(lane, await connected(lane), statement);
    }
  }

  return {
    async read(statement) {
      if (closed) throw new Fault("SHUTTING_DOWN", "The database has been closed.");
      const lane = lanes.reduce((best, next) => (next.inFlight < best.inFlight ? next : best));
      if (lane.inFlight >= IN_FLIGHT_MAX) {
        throw new Fault("OVERLOADED", "Too many reads are waiting; try again in a moment.");
      }
      lane.inFlight += 1;
      try {
        return await readOn(lane, statement);
      } finally {
        lane.inFlight -= 1;
      }
    },
    async close() {
      closed = true;
      await Promise.all(
        lanes.map(async (lane) => {
          // A connection that could not be opened has told whoever waited for it.
          const client = lane.client ?? (await lane.opening?.catch(() => null));
          await client?.end();
        }),
      );
    },
  };
}
