// The indexing API put together: reads over a pipelined reader, kept as bytes until the database tells of a change.
import type { FastifyInstance } from "fastify";
import { createAnswerCache } from "../http/answer-cache.ts";
import { addReadRoutes } from "../http/read-routes.ts";
import type { Log } from "../kit/log.ts";
import { reads } from "../protocol/reads.ts";
import type { Database } from "../store/database.ts";
import { openIndexReader } from "../store/index-reader.ts";
import { openReader } from "../store/reader.ts";
import { watchChanges } from "../store/watch-changes.ts";

export type ApiOptions = {
  readonly database: Database;
  readonly log: Log;
};

// A few megabytes hold the answers that are asked for between two blocks; more would only be forgotten sooner.
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
// Pipelined connections: one per core of the database is enough to keep it busy.
const READER_CONNECTIONS = 2;

/** Adds the routes; `close` ends what they stand on. */
export function serveApi(app: FastifyInstance, options: ApiOptions): { close(): Promise<void> } {
  const { database, log } = options;
  const leaving = new AbortController();
  const cache = createAnswerCache({ bytesMax: CACHE_BYTES_MAX });
  const reader = openReader(database, { connections: READER_CONNECTIONS });
  const index = openIndexReader(reader);
  const watching = watchChanges(database, {
    onChange: cache.changed,
    onDeaf: cache.deaf,
    log,
    signal: leaving.signal,
  });
  addReadRoutes(app, reads, { run: index.read, cache });
  return {
    async close() {
      leaving.abort();
      await watching;
      await reader.close();
    },
  };
}
