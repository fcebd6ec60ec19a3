// Point reads: many requests share a few pipelined connections, and the reads of one event-loop turn leave in one packet.
//
// Gain: 9 µs of CPU time per read instead of 35 µs with a pool of ten connections and prepared statements (64 reads at
// a time, local socket; includes raw-row-query.ts and row-parser.ts). See pipelined-reader.bench.ts.
// Delete it when pg writes the statements of one turn in one packet and spreads pipelined reads over its pool.
import type { Writable } from "node:stream";
import type { Client } from "pg";
import { Fault } from "../../lib/fault.ts";
import type { ResultRows } from "../../schema/reads/read.ts";
import type { Database } from "../postgres/database.ts";
import {
  mustDiscardConnection,
  type PreparedStatement,
  queryRawRows,
  type StatementLimits,
} from "../postgres/session.ts";
import { installRowParser } from "./row-parser.ts";

export type PipelinedReader = {
  /**
   * Resolves with the result of `use`, or rejects with what it throws; `use` must not retain the rows. A slow read
   * delays the reads that were sent after it on the same connection.
   */
  read<T>(statement: PreparedStatement, use: (result: ResultRows) => T): Promise<T>;
  /** Drops all connections, so that reads on them fail at once; later reads open new ones. */
  disconnect(): void;
  close(): Promise<void>;
};

type PendingRead<T> = { readonly statement: PreparedStatement; readonly use: (result: ResultRows) => T };

type PipelinedReaderOptions = {
  readonly connections: number;
  /** How many reads share a connection before the next one is used. */
  readonly readsPerConnectionMax: number;
  readonly statementTimeoutMs: number;
  /** Part of the application name that the server shows. */
  readonly purpose: string;
  /** How often a read is sent that meets a broken connection; 2 unless the caller has other servers to try. */
  readonly attempts?: number;
  /** Settings of each session. */
  readonly setup?: string;
};

/** Point reads take well under a millisecond; one that needs a second is not a quick read. */
export const QUICK_READER_OPTIONS: PipelinedReaderOptions = {
  connections: 4,
  readsPerConnectionMax: 64,
  statementTimeoutMs: 1_000,
  purpose: "reader",
};

// At 8,000 reads per second and connection, this many wait about a tenth of a second.
const IN_FLIGHT_MAX = 1_000;
const ATTEMPTS = 2;
// Reads avoid a connection whose last response is older than this, unless no other is better: a slow read blocks it.
const STALLED_MS = 5;

/** A pipelined connection, opened on first use and replaced when it breaks; reads are repeated on the new one. */
class ConnectionSlot {
  inFlight = 0;
  /** When it was last empty or last received a response. */
  lastProgressMs = 0;
  #client: Client | null = null;
  #opening: Promise<Client> | null = null;
  readonly #database: Database;
  readonly #options: PipelinedReaderOptions;
  readonly #limits: StatementLimits;

  constructor(database: Database, options: PipelinedReaderOptions) {
    this.#database = database;
    this.#options = options;
    const { statementTimeoutMs } = options;
    this.#limits = { target: database.target, statementTimeoutMs, readOnly: true };
  }

  isProgressing(sinceMs: number): boolean {
    return this.inFlight === 0 || this.lastProgressMs > sinceMs;
  }

  read<T>(pending: PendingRead<T>): Promise<T> {
    const { attempts = ATTEMPTS } = this.#options;
    return this.#client
      ? this.#readOn(this.#client, pending, attempts)
      : this.#readAfterConnect(pending, attempts);
  }

  disconnect(): void {
    const client = this.#client;
    this.#client = null;
    client?.connection.stream.destroy();
  }

  async close(): Promise<void> {
    // A connection that failed to open has reported that to the reads that waited for it.
    const client = this.#client ?? (await this.#opening?.catch(() => null));
    await client?.end();
  }

  // Not an async function: on a working connection, a read creates as few promises as possible.
  #readOn<T>(client: Client, pending: PendingRead<T>, attempts: number): Promise<T> {
    corkUntilNextTurn(client.connection.stream);
    this.#enter();
    return queryRawRows(client, pending.statement, pending.use, this.#limits).then(
      (result) => {
        this.#leave();
        return result;
      },
      (error: unknown) => {
        this.#leave();
        if (!mustDiscardConnection(client)) throw error;
        this.#retire(client);
        // A connection can break under many unrelated reads, or have a statement prepared before a migration. Reads
        // are safe to repeat, except for one that used up its time.
        const hasTimedOut = error instanceof Fault && error.code === "TIMED_OUT";
        if (hasTimedOut || attempts <= 1) throw error;
        return this.#readAfterConnect(pending, attempts - 1);
      },
    );
  }

  /** Opens the connection first if needed; reads that wait for it count as in flight. */
  async #readAfterConnect<T>(pending: PendingRead<T>, attempts: number): Promise<T> {
    let client = this.#client;
    if (!client) {
      this.#enter();
      try {
        client = await this.#connect();
      } finally {
        this.#leave();
      }
    }
    return await this.#readOn(client, pending, attempts);
  }

  #enter(): void {
    if (this.inFlight === 0) this.lastProgressMs = performance.now();
    this.inFlight += 1;
  }

  #leave(): void {
    this.inFlight -= 1;
    this.lastProgressMs = performance.now();
  }

  #connect(): Promise<Client> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** Statements already sent on the client still get their response; the next one opens a new connection. */
  #retire(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    void client.end();
  }

  async #open(): Promise<Client> {
    const { purpose, statementTimeoutMs, setup = "" } = this.#options;
    const client = await this.#database.connect(purpose, {
      pipeline: true,
      statementTimeoutMs,
      beforeConnect: installRowParser,
    });
    await client.query(`SET default_transaction_read_only TO on; ${setup}`);
    client.once("error", () => this.#retire(client));
    this.#client = client;
    return client;
  }
}

/** The first that progresses and has room, else the emptiest of those that progress, else the last to progress. */
function chooseSlot(slots: readonly ConnectionSlot[], readsMax: number): ConnectionSlot {
  const sinceMs = performance.now() - STALLED_MS;
  return (
    slots.find((slot) => slot.inFlight < readsMax && slot.isProgressing(sinceMs)) ??
    slots.reduce((best, next) => (isBetter(next, best, sinceMs) ? next : best))
  );
}

function isBetter(one: ConnectionSlot, other: ConnectionSlot, sinceMs: number): boolean {
  const bothProgress = one.isProgressing(sinceMs) && other.isProgressing(sinceMs);
  return bothProgress ? one.inFlight < other.inFlight : one.lastProgressMs > other.lastProgressMs;
}

/** Sends the reads of one event-loop turn in one packet: a system call for each costs more than building it. */
function corkUntilNextTurn(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}

export function openPipelinedReader(
  database: Database,
  options: PipelinedReaderOptions = QUICK_READER_OPTIONS,
): PipelinedReader {
  const slots = Array.from({ length: options.connections }, () => new ConnectionSlot(database, options));
  let isClosed = false;
  return {
    read(statement, use) {
      if (isClosed) return Promise.reject(new Fault("SHUTTING_DOWN", "The database has been closed."));
      const slot = chooseSlot(slots, options.readsPerConnectionMax);
      if (slot.inFlight < IN_FLIGHT_MAX) return slot.read({ statement, use });
      const message = "Too many reads are waiting; try again in a moment.";
      return Promise.reject(new Fault("OVERLOADED", message));
    },
    disconnect() {
      for (const slot of slots) slot.disconnect();
    },
    async close() {
      isClosed = true;
      await Promise.all(slots.map((slot) => slot.close()));
    },
  };
}
