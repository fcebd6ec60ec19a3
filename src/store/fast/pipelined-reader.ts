// Point reads at full speed: many requests share a few connections, each statement sent without waiting for the last.
import type { Writable } from "node:stream";
import type { Client } from "pg";
import { Fault } from "../../lib/fault.ts";
import type { ResultRows } from "../../schema/reads/result-rows.ts";
import type { Database } from "../postgres/database.ts";
import { mustDiscardConnection, type PreparedStatement, queryRawRows } from "../postgres/session.ts";
import { installRowParser } from "./row-parser.ts";

export type PipelinedReader = {
  /**
   * What `use` makes of the rows, or throws at the sight of them; nothing of them should be kept for longer. A slow read
   * holds up those that were sent after it on the same connection.
   */
  read<T>(statement: PreparedStatement, use: (answered: ResultRows) => T): Promise<T>;
  close(): Promise<void>;
};

type Asked<T> = { readonly statement: PreparedStatement; readonly use: (answered: ResultRows) => T };

type Lane = {
  client: Client | null;
  opening: Promise<Client> | null;
  inFlight: number;
  /** When it was last empty or last answered. */
  movedMs: number;
};

// What the driver's client has beyond its declared type.
type WiredClient = Client & { readonly connection: { readonly stream: Writable } };

export type PipelinedReaderOptions = {
  readonly connections: number;
  /** So many reads share a connection before the next one is used. */
  readonly readsPerConnectionMax: number;
  readonly statementTimeoutMs: number;
  /** What the server calls the connections. */
  readonly purpose: string;
  /** Settings of each session. */
  readonly setup?: string;
};

/**
 * Many point reads on few connections. Together they cost both sides less than apart, because each packet then wakes the
 * other side for several. A point read takes well under a millisecond; one that needs a second is not quick.
 */
export const QUICK_READER_OPTIONS: PipelinedReaderOptions = {
  connections: 4,
  readsPerConnectionMax: 64,
  statementTimeoutMs: 1_000,
  purpose: "reader",
};

// At 8,000 reads a second and connection, this many wait about a tenth of a second.
const IN_FLIGHT_MAX = 1_000;
const ATTEMPTS = 2;
// Reads do not join a connection whose last response is older than this, unless no other is better: something slow is
// ahead of them there.
const STANDSTILL_MS = 5;

// The reads of one turn leave in one packet: a system call for each would cost more than making it.
function sendTogether(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}

function enter(lane: Lane): void {
  if (lane.inFlight === 0) lane.movedMs = performance.now();
  lane.inFlight += 1;
}

function leave(lane: Lane): void {
  lane.inFlight -= 1;
  lane.movedMs = performance.now();
}

/** The first that moves and has room, else the emptiest of those that move; where all stand still, the last to. */
function bestOf(lanes: readonly Lane[], togetherMax: number): Lane {
  const sinceMs = performance.now() - STANDSTILL_MS;
  return (
    lanes.find((lane) => lane.inFlight < togetherMax && moves(lane, sinceMs)) ??
    lanes.reduce((best, next) => (isBetter(next, best, sinceMs) ? next : best))
  );
}

function moves({ inFlight, movedMs }: Lane, sinceMs: number): boolean {
  return inFlight === 0 || movedMs > sinceMs;
}

function isBetter(one: Lane, other: Lane, sinceMs: number): boolean {
  const bothMove = moves(one, sinceMs) && moves(other, sinceMs);
  return bothMove ? one.inFlight < other.inFlight : one.movedMs > other.movedMs;
}

export function openPipelinedReader(
  database: Database,
  options: PipelinedReaderOptions = QUICK_READER_OPTIONS,
): PipelinedReader {
  const lanes: Lane[] = Array.from({ length: options.connections }, () => ({
    client: null,
    opening: null,
    inFlight: 0,
    movedMs: 0,
  }));
  const limits = { place: database.target, statementTimeoutMs: options.statementTimeoutMs };
  let closed = false;

  async function open(lane: Lane): Promise<Client> {
    const client = await database.connect(options.purpose, {
      pipeline: true,
      statementTimeoutMs: options.statementTimeoutMs,
      beforeConnect: installRowParser,
    });
    await client.query(`SET default_transaction_read_only TO on; ${options.setup ?? ""}`);
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

  function connected(lane: Lane): Promise<Client> {
    lane.opening ??= open(lane).finally(() => {
      lane.opening = null;
    });
    return lane.opening;
  }

  // Not an async function: on a connection that works, a read is made of as few promises as can be.
  function readOn<T>(lane: Lane, client: Client, asked: Asked<T>, attempts: number): Promise<T> {
    sendTogether((client as WiredClient).connection.stream);
    enter(lane);
    return queryRawRows(client, asked.statement, asked.use, limits).then(
      (made) => {
        leave(lane);
        return made;
      },
      (error: unknown) => {
        leave(lane);
        if (!mustDiscardConnection(client)) throw error;
        retire(lane, client);
        // A connection can break under many reads that are not to blame, or know a statement as it was before a
        // migration. A read may be repeated; one that used up its time may not, and no other failure is passing.
        const timedOut = error instanceof Fault && error.code === "TIMED_OUT";
        if (timedOut || attempts <= 1) throw error;
        return readSoon(lane, asked, attempts - 1);
      },
    );
  }

  /** On a connection that may have to be opened first; whoever waits for that is counted, too. */
  async function readSoon<T>(lane: Lane, asked: Asked<T>, attempts: number): Promise<T> {
    let client = lane.client;
    if (!client) {
      enter(lane);
      try {
        client = await connected(lane);
      } finally {
        leave(lane);
      }
    }
    return await readOn(lane, client, asked, attempts);
  }

  function laneOrRefusal(): Lane | Fault {
    if (closed) return new Fault("SHUTTING_DOWN", "The database has been closed.");
    const lane = bestOf(lanes, options.readsPerConnectionMax);
    if (lane.inFlight < IN_FLIGHT_MAX) return lane;
    return new Fault("OVERLOADED", "Too many reads are waiting; try again in a moment.");
  }

  return {
    read(statement, use) {
      const lane = laneOrRefusal();
      if (lane instanceof Fault) return Promise.reject(lane);
      const asked = { statement, use };
      return lane.client ? readOn(lane, lane.client, asked, ATTEMPTS) : readSoon(lane, asked, ATTEMPTS);
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
