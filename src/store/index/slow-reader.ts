// Reads that may scan a whole table: on separate connections, one at a time on each, shared fairly between clients.
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import type { ResultRows } from "../../schema/reads/result-rows.ts";
import { openPipelinedReader } from "../fast/pipelined-reader.ts";
import type { Database } from "../postgres/database.ts";
import type { PreparedStatement } from "../postgres/session.ts";

export type SlowReader = {
  /** As PipelinedReader.read; `client` is the requester. */
  read<T>(statement: PreparedStatement, use: (result: ResultRows) => T, client: string): Promise<T>;
  close(): Promise<void>;
};

// Two, because one client uses at most one; more would take CPU time from quick reads.
const CONNECTIONS = 2;
// The limit for a page of a hundred. A table that needs longer is read by cursor, or without ?block=.
const STATEMENT_MS_MAX = 2_000;
// The last one waits 20 seconds if every statement takes its full time: less than the request timeout.
const WAITING_PER_CLIENT_MAX = 10;
// Beyond this, an immediate 503 is better than one after half a minute.
const WAITING_MAX = 50;

export function openSlowReader(database: Database): SlowReader {
  const reader = openPipelinedReader(database, {
    connections: CONNECTIONS,
    readsPerConnectionMax: 1,
    statementTimeoutMs: STATEMENT_MS_MAX,
    purpose: "slow reader",
    // Limits a statement to one CPU.
    setup: "SET max_parallel_workers_per_gather TO 0",
  });
  const queue = createFairLimit({
    runningMax: CONNECTIONS,
    runningPerKeyMax: 1,
    waitingMax: WAITING_MAX,
    waitingPerKeyMax: WAITING_PER_CLIENT_MAX,
  });
  return {
    read: (statement, use, client) => queue.run(client, () => reader.read(statement, use)),
    close: reader.close,
  };
}
