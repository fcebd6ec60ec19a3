// The indexing API put together: reads over a pipelined reader, kept as bytes until the database tells of a change.
import { createAnswerCache } from "../http/cache/response-cache.ts";
import { openApiDocument } from "../http/openapi/document.ts";
import { describeEndpoint, describeRead, ownRoutes } from "../http/openapi/route-description.ts";
import { addDescription } from "../http/routes/documents.ts";
import { addEndpoints } from "../http/routes/endpoints.ts";
import { addReadRoutes } from "../http/routes/reads.ts";
import type { Server } from "../http/server.ts";
import type { Log } from "../lib/log.ts";
import { tables } from "../protocol/domains.ts";
import { preflightEndpoint } from "../protocol/preflight/endpoint.ts";
import { reads as protocolReads } from "../protocol/reads.ts";
import type { Endpoint } from "../schema/endpoint.ts";
import { openReader } from "../store/fast/pipelined-reader.ts";
import { openIndexReader } from "../store/index/reader.ts";
import { openSlowReader } from "../store/index/slow-reader.ts";
import { watchChanges } from "../store/postgres/change-notifications.ts";
import type { Database } from "../store/postgres/database.ts";
import { startExpiry } from "./expiry/run.ts";
import { indexingApiTitle } from "./title.ts";
import { openWriting, type WritingOptions } from "./write-service.ts";
import { writeReads } from "./writes/endpoints.ts";

export type ApiOptions = {
  readonly database: Database;
  readonly log: Log;
  /** What people may write; without it the API only reads. */
  readonly writing?: WritingOptions;
  /** Whether the index is whole, so that what it does not refer to may expire; without it nothing does. */
  readonly isIndexReady?: () => Promise<boolean>;
  /** 64 MiB unless said otherwise; 0 keeps no answer. */
  readonly cacheBytesMax?: number;
};

// A few megabytes hold the answers that are asked for between two blocks; more would only be forgotten sooner.
const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Adds the routes; `close` ends what they stand on. */
export function serveApi(server: Server, options: ApiOptions): { close(): Promise<void> } {
  const { database, log } = options;
  const leaving = new AbortController();
  const reads = [...protocolReads, ...(options.writing ? writeReads : [])];
  const cache = createAnswerCache({ bytesMax: options.cacheBytesMax ?? CACHE_BYTES_MAX });
  const readers = { quick: openReader(database), slow: openSlowReader(database) };
  const index = openIndexReader(readers);
  const read: typeof index.read = (statement, use) =>
    index.read(statement, (head, answered) => {
      cache.saw(head.hash);
      return use(head, answered);
    });
  const dropMadeFrom = (tables: readonly string[]) => {
    const affected = reads.filter(({ written = [] }) => written.some((table) => tables.includes(table)));
    cache.dropRoutes(affected.map(({ path }) => path));
  };
  const watching = watchChanges(database, {
    onChange: (tables) => (tables === null ? cache.changed() : dropMadeFrom(tables)),
    onDeaf: cache.deaf,
    log,
    signal: leaving.signal,
  });
  const writing = options.writing && openWriting(options.writing, { database, log, changed: dropMadeFrom });
  const { isIndexReady } = options;
  const expiring =
    options.writing && isIndexReady
      ? startExpiry({
          database,
          tables,
          unreferredDays: options.writing.config.unreferredDays,
          storedBytesMax: options.writing.config.storedBytesMax,
          isIndexReady,
          log,
          signal: leaving.signal,
        })
      : undefined;
  const endpoints: readonly Endpoint[] = [preflightEndpoint({ run: read }), ...(writing?.endpoints ?? [])];
  addReadRoutes(server, reads, { run: read, cache });
  addEndpoints(server.app, endpoints);
  const routes = [...reads.map(describeRead), ...endpoints.map(describeEndpoint), ...ownRoutes];
  addDescription(server.app, openApiDocument(indexingApiTitle(), routes));
  return {
    async close() {
      leaving.abort();
      await watching;
      await expiring;
      await readers.quick.close();
      await readers.slow.close();
      writing?.close();
    },
  };
}
