// The indexing API put together: reads over a pipelined reader, kept as bytes until the database tells of a change.
import { readVersion } from "../config/version.ts";
import { ResponseCache } from "../http/cache/response-cache.ts";
import { type ApiInfo, buildOpenApiDocument } from "../http/openapi/document.ts";
import { describeEndpoint, describeRead, serviceRoutes } from "../http/openapi/route-description.ts";
import { addOpenApiRoutes } from "../http/routes/documents.ts";
import { addEndpointRoutes } from "../http/routes/endpoints.ts";
import { addReadRoutes } from "../http/routes/reads.ts";
import type { HttpServer } from "../http/server.ts";
import type { Log } from "../lib/log.ts";
import { tables } from "../protocol/domains.ts";
import { createPreflightEndpoint } from "../protocol/preflight/endpoint.ts";
import { indexReads as protocolReads } from "../protocol/reads.ts";
import type { Endpoint } from "../schema/endpoint.ts";
import { openPipelinedReader } from "../store/fast/pipelined-reader.ts";
import { openIndexReader } from "../store/index/reader.ts";
import { openSlowReader } from "../store/index/slow-reader.ts";
import { watchChanges } from "../store/postgres/change-notifications.ts";
import type { Database } from "../store/postgres/database.ts";
import { runExpiryLoop } from "./expiry/run.ts";
import { openWriteService, type WriteServiceOptions } from "./write-service.ts";
import { writeReads } from "./writes/endpoints.ts";

// How the indexing API introduces itself.

export function describeIndexingApi(): ApiInfo {
  return {
    title: "Sextant indexing API",
    version: readVersion(),
    description:
      'Agents, intents, bids, policies, solvers, attestations and commerce of the protocol, indexed from its chain, and the documents they refer to. Addresses and hex are lower-case; numbers are strings unless a type says integer; every error is {"error": "one sentence"} with its code in the header x-error-code. Every indexed answer can be asked for as of an earlier block.',
  };
}

export type ServeApiOptions = {
  readonly database: Database;
  readonly log: Log;
  /** What people may write; without it the API only reads. */
  readonly writes?: WriteServiceOptions;
  /** Whether the index is whole, so that what it does not refer to may expire; without it nothing does. */
  readonly isIndexReady?: () => Promise<boolean>;
  /** 64 MiB unless said otherwise; 0 keeps no answer. */
  readonly cacheBytesMax?: number;
};

// A few megabytes hold the answers that are asked for between two blocks; more would only be forgotten sooner.
const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Adds the routes; `close` ends what they stand on. */
export function serveApi(server: HttpServer, options: ServeApiOptions): { close(): Promise<void> } {
  const { database, log } = options;
  const leaving = new AbortController();
  const reads = [...protocolReads, ...(options.writes ? writeReads : [])];
  const cache = new ResponseCache({ bytesMax: options.cacheBytesMax ?? CACHE_BYTES_MAX });
  const readers = { quick: openPipelinedReader(database), slow: openSlowReader(database) };
  const index = openIndexReader(readers);
  const read: typeof index.read = (statement, use) =>
    index.read(statement, (head, answered) => {
      cache.observeHead(head.hash);
      return use(head, answered);
    });
  const dropMadeFrom = (tables: readonly string[]) => {
    const affected = reads.filter(({ writableTables: written = [] }) =>
      written.some((table) => tables.includes(table)),
    );
    cache.invalidateRoutes(affected.map(({ path }) => path));
  };
  const watching = watchChanges(database, {
    onChange: (tables) => (tables === null ? cache.invalidateAll() : dropMadeFrom(tables)),
    onDisconnect: () => cache.disable(),
    log,
    signal: leaving.signal,
  });
  const writing =
    options.writes && openWriteService(options.writes, { database, log, changed: dropMadeFrom });
  const { isIndexReady } = options;
  const expiring =
    options.writes && isIndexReady
      ? runExpiryLoop({
          database,
          tables,
          unreferredDays: options.writes.config.unreferredDays,
          storedBytesMax: options.writes.config.storedBytesMax,
          isIndexReady,
          log,
          signal: leaving.signal,
        })
      : undefined;
  const endpoints: readonly Endpoint[] = [
    createPreflightEndpoint({ run: read }),
    ...(writing?.endpoints ?? []),
  ];
  addReadRoutes(server, reads, { run: read, cache });
  addEndpointRoutes(server.app, endpoints);
  const routes = [...reads.map(describeRead), ...endpoints.map(describeEndpoint), ...serviceRoutes];
  addOpenApiRoutes(server.app, buildOpenApiDocument(describeIndexingApi(), routes));
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
