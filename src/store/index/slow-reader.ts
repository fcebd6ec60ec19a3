// Reads that may look at a whole table: on connections of their own, one at a time on each, shared out among clients.
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import type { ResultRows } from "../../schema/reads/result-rows.ts";
import { openPipelinedReader } from "../fast/pipelined-reader.ts";
import type { Database } from "../postgres/database.ts";
import type { PreparedStatement } from "../postgres/session.ts";

export type SlowReader = {
  /** As a Reader's; `client` is who requested it. */
  read<T>(statement: PreparedStatement, use: (answered: ResultRows) => T, client: string): Promise<T>;
  close(): Promise<void>;
};

// Two, so that one client, which has one at the most, never has them all; more would take the processor from quick reads.
const CONNECTIONS = 2;
// What a page of a hundred may cost at the most. A table that needs longer is read by cursor, or without ?block=.
const STATEMENT_MS_MAX = 2_000;
// A client's last waits 20 seconds if each of its statements takes its whole time: less than a request may take.
const WAITING_PER_CLIENT_MAX = 10;
// Several busy clients take turns; beyond that, a 503 at once is better than one after half a minute.
const WAITING_MAX = 50;

export function openSlowReader(database: Database): SlowReader {
  const reader = openPipelinedReader(database, {
    connections: CONNECTIONS,
    readsPerConnectionMax: 1,
    statementTimeoutMs: STATEMENT_MS_MAX,
    purpose: "slow reader",
    // Without workers a statement takes one processor and no more.
    setup: "SET max_parallel_workers_per_gather TO 0",
  });
  const turn = createFairLimit({
    runningMax: CONNECTIONS,
    runningPerKeyMax: 1,
    waitingMax: WAITING_MAX,
    waitingPerKeyMax: WAITING_PER_CLIENT_MAX,
  });
  return {
    read: (statement, use, client) => turn.run(client, () => reader.read(statement, use)),
    close: reader.close,
  };
}
