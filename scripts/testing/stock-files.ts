// Tests that run again on a stock PostgreSQL over TLS, each with what can differ there from the embedded server.
export const ON_A_STOCK_SERVER: Readonly<Record<string, string>> = {
  "src/store/fast/pipelined-reader.test.ts":
    "replies arrive in TLS records, split elsewhere than on a socket",
  "src/store/fast/raw-row-query.test.ts": "column descriptions and errors in TLS records",
  "src/store/fast/row-parser.test.ts": "rows that a TLS record ends in the middle of",
  "src/store/index/store.test.ts": "COPY and the transaction of a batch, with synchronous commits",
  "src/store/index/raw-logs.test.ts": "COPY of large rows",
  "src/store/index/rebuild.test.ts": "locks while tables are swapped",
  "src/store/index/row-indexes.test.ts": "CREATE INDEX CONCURRENTLY during reads and after a crash",
  "src/store/index/row-summaries.test.ts": "summaries while autovacuum runs with its default settings",
  "src/store/index/as-of.test.ts": "plans of reads of the past",
  "src/store/postgres/advisory-lock.test.ts": "locks, heartbeats and time limits of sessions",
  "src/store/postgres/database.test.ts": "lost connections and time limits of statements",
  "src/store/postgres/migrate.test.ts": "migrations and their lock",
  "src/store/postgres/migrations.test.ts": "every migration on the server's own version",
  "src/store/postgres/open-database.test.ts": "TLS, passwords and encodings",
  "src/store/postgres/pool.test.ts": "settings of sessions that several schemas share",
  "src/store/postgres/record-store.test.ts": "notifications after a commit",
  "src/store/postgres/storage-limits.test.ts": "row locks of concurrent processes",
  "src/payments/ledger/open.test.ts": "row locks of concurrent payments",
  "src/payments/ledger/transitions.test.ts": "leases and conditional updates by the server's clock",
  "src/payments/paywall/row-waiters.test.ts": "notifications to other processes",
  "tests/payments/channel-purchases.test.ts":
    "a statement that waits for a channel's row sees what the one before has charged",
  "tests/api/read-costs.integration.test.ts": "plans of every read with the default costs of the planner",
  "tests/api/filter-pair-costs.integration.test.ts":
    "plans of two filters with the default costs of the planner",
  "tests/api/events/costs.integration.test.ts":
    "plans of pages of events with the default costs of the planner",
  "tests/api/slow-reads.test.ts": "time limits of statements, and connections",
  "tests/api/outage.test.ts": "a server that goes away and comes back",
  "tests/api/reads.test.ts": "every read, by the server's own version",
  "tests/stock/image.test.ts": "the steps of the Dockerfile, with a server over TCP as a container has it",
  "tests/stock/runbook.test.ts": "commands of docs/runbook.md with the tools that an operator has",
  "tests/indexer/identical-tables.test.ts": "backfill, reorg and rebuild by the server's own version",
};

/** Many or large statements, with the latency to another data centre added to each round trip. */
export const AT_A_DISTANCE: Readonly<Record<string, string>> = {
  "src/store/fast/pipelined-reader.test.ts": "many statements in flight on one connection",
  "src/store/index/store.test.ts": "large batches in one pipeline",
};
