// Reads of the index: one statement per read, with the head of the same snapshot; slow reads are separate from quick ones.
import { createHash } from "node:crypto";
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { IndexHead, ResultRows, RunRead } from "../../schema/reads/read.ts";
import { openPipelinedReader, type PipelinedReader } from "../fast/pipelined-reader.ts";
import type { Database } from "../postgres/database.ts";
import { createIndexEmptyFault, SQLSTATE, sqlState } from "../postgres/errors.ts";
import type { PreparedStatement } from "../postgres/session.ts";

type StatementReaders = {
  readonly quick: Pick<PipelinedReader, "read">;
  readonly slow: Pick<ReturnType<typeof openSlowReader>, "read">;
};

export function openIndexReader({ quick, slow }: StatementReaders): { readonly read: RunRead } {
  const prepared = new Map<string, NamedText>();

  function runSlowly<T>(statement: PreparedStatement, client: string, use: Use<T>): Promise<T> {
    return slow.read(statement, (result) => useWithHead(result, use), client);
  }

  // A statement that is declared quick but is slow, for example because of a bad plan, gets a second chance on a
  // connection on which it blocks no other read.
  function runQuickly<T>(statement: PreparedStatement, client: string, use: Use<T>): Promise<T> {
    return quick
      .read(statement, (result) => useWithHead(result, use))
      .catch((error: unknown) => {
        if (sqlState(error) !== SQLSTATE.queryCanceled) throw error;
        return runSlowly(statement, client, use);
      });
  }

  return {
    read({ sql: { text, values }, cost, client = "" }, use) {
      const statement = { ...prepareText(text, prepared), values };
      const run = cost === "quick" ? runQuickly : runSlowly;
      return run(statement, client, use).catch((error: unknown) => {
        throw explainMissingTable(error);
      });
    },
  };
}

type Use<T> = (head: IndexHead, result: ResultRows) => T;

function useWithHead<T>({ columns, rows }: ResultRows, use: Use<T>): T {
  const [first] = rows;
  if (!first) throw createIndexEmptyFault();
  // The order of the columns in prepareText.
  const [revision, number, hash, timestamp, finalized, start, found] = first;
  const head = {
    revision: BigInt(requireText(revision)),
    number: BigInt(requireText(number)),
    hash: `0x${requireText(hash)}` as const,
    timestamp: BigInt(requireText(timestamp)),
    finalized: BigInt(requireText(finalized)),
    start: BigInt(requireText(start)),
  };
  return use(head, { columns, rows: found ? rows : [] });
}

function requireText(value: unknown): string {
  if (typeof value !== "string") throw new Error("the head of the index is not text");
  return value;
}

// The indexer creates tables and columns when it first runs, and again after an upgrade.
const UNDEFINED_TABLE_OR_COLUMN: ReadonlySet<string | undefined> = new Set([
  SQLSTATE.undefinedTable,
  SQLSTATE.undefinedColumn,
]);

function explainMissingTable(error: unknown): unknown {
  if (!UNDEFINED_TABLE_OR_COLUMN.has(sqlState(error))) return error;
  const message = "The rows of this version are not ready yet; retry when /ready returns 200.";
  return new Fault("INDEX_EMPTY", message, { cause: error });
}

type NamedText = { readonly name: string; readonly text: string };

// Texts come from our own declarations, a few hundred of them; bounded all the same.
const TEXTS_MAX = 10_000;

/** PostgreSQL stores a prepared statement per name; the name is derived from the text. */
function prepareText(inner: string, prepared: Map<string, NamedText>): NamedText {
  const known = prepared.get(inner);
  if (known) return known;
  if (prepared.size >= TEXTS_MAX) prepared.clear();
  const named = nameReadText(inner);
  prepared.set(inner, named);
  return named;
}

/** The text of buildReadText with its name, which is the same in every process. */
export function nameReadText(inner: string): NamedText {
  const text = buildReadText(inner);
  return { name: createHash("sha256").update(text).digest("hex").slice(0, 32), text };
}

/** The statement that a read runs: its rows and the head, joined so that both come from one snapshot. */
export function buildReadText(inner: string): string {
  return `select h.revision as _revision, h.block_number as _head, encode(h.block_hash, 'hex') as _hash, h.block_timestamp as _timestamp, h.finalized_block as _finalized, d.start_block as _start, r.* from checkpoint h cross join deployment d left join lateral (select true as _found, s.* from (${inner}) s) r on true`;
}

// The limit for a page of a hundred. A table that needs longer is read by cursor, or without ?block=.
const STATEMENT_MS_MAX = 2_000;
// The last one waits 20 seconds if every statement takes its full time: less than the request timeout.
const WAITING_PER_CLIENT_MAX = 10;
// Beyond this, an immediate 503 is better than one after half a minute.
const WAITING_MAX = 50;

type SlowReaderOptions = {
  readonly connections: number;
  readonly attempts?: number;
  readonly statementTimeoutMs?: number;
  /** Part of the application name that the server shows. */
  readonly purpose?: string;
  readonly waitingMax?: number;
  readonly waitingPerClientMax?: number;
};

/**
 * Reads that may scan a whole table: on separate connections, one at a time on each, shared fairly between clients. Two
 * connections if there is room, because one client uses at most one; more would take CPU time from quick reads.
 */
export function openSlowReader(database: Database, options: SlowReaderOptions) {
  const { waitingMax = WAITING_MAX, waitingPerClientMax = WAITING_PER_CLIENT_MAX, ...connected } = options;
  const reader = openPipelinedReader(database, {
    statementTimeoutMs: STATEMENT_MS_MAX,
    purpose: "slow reader",
    ...connected,
    readsPerConnectionMax: 1,
    // Limits a statement to one CPU.
    setup: "SET max_parallel_workers_per_gather TO 0",
  });
  const queue = createFairLimit({
    runningMax: options.connections,
    runningPerKeyMax: 1,
    waitingMax,
    waitingPerKeyMax: waitingPerClientMax,
  });
  return {
    /** As PipelinedReader.read; `client` is the requester. */
    read: <T>(statement: PreparedStatement, use: (result: ResultRows) => T, client: string) =>
      queue.run(client, () => reader.read(statement, use)),
    disconnect: reader.disconnect,
    close: reader.close,
  };
}
