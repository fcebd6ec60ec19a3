// Composes the indexing API: pipelined reads, responses cached until the database reports a change, readiness.

import { Registry } from "prom-client";
import { EXPLORER_PATH } from "../explorer/context.ts";
import { type ExplorerOptions, serveExplorer } from "../explorer/serve.ts";
import { BlockWaiters, type BlockWaitersOptions } from "../http/block-waiters.ts";
import { siteFiles } from "../http/icon.ts";
import { describeEndpoint, describeRead, type RouteDescription } from "../http/openapi/route-description.ts";
import { ResponseCache } from "../http/response-cache.ts";
import { addOpenApiRoutes, addStaticDocument } from "../http/routes/documents.ts";
import { addEndpointRoutes } from "../http/routes/endpoints.ts";
import { addReadRoutes } from "../http/routes/reads.ts";
import type { HttpApp } from "../http/server.ts";
import { addKeyRoutes } from "../http/signing/key-routes.ts";
import { type ReadSigning, signOnRequest } from "../http/signing/read-signing.ts";
import { ResponseSigner } from "../http/signing/response-signer.ts";
import type { SigningKeys } from "../http/signing/signing-keys.ts";
import type { Readiness } from "../http/status-routes.ts";
import { readinessOfAudit } from "../indexer/self-audit/status.ts";
import type { IndexerReport } from "../indexer/status.ts";
import { publicMessage, toFault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import { type ClientSender, createRouteSender } from "../mcp/endpoint.ts";
import { tables } from "../protocol/domains.ts";
import { createPreflightEndpoint } from "../protocol/preflight/endpoint.ts";
import { indexReads } from "../protocol/reads.ts";
import type { Endpoint } from "../schema/endpoint.ts";
import type { Read, RunRead } from "../schema/reads/read.ts";
import { ZERO_ADDRESS } from "../schema/table.ts";
import { REPORT_AGE_SECONDS_MAX, readIndexerStatus } from "../store/index/checkpoint.ts";
import { watchChanges } from "../store/postgres/change-notifications.ts";
import type { Database } from "../store/postgres/database.ts";
import type { QueryRunner } from "../store/postgres/session.ts";
import { openRoutedReads, type ReplicaOptions, type RoutedReads } from "../store/replicas/read-router.ts";
import { renderApiLlmsText } from "../web/llms.ts";
import { renderVerifyPage, VERIFY_PATH } from "../web/verify-page.ts";
import { createDeploymentsEndpoint, DeploymentStates } from "./deployments/endpoint.ts";
import { describeApi } from "./describe.ts";
import { openEvents } from "./events/open.ts";
import type { EventStreamLimits } from "./events/streams.ts";
import { runExpiryLoop } from "./expiry/run.ts";
import { createIntegrityEndpoint } from "./integrity/endpoint.ts";
import { openRecordProver, type RecordProverOptions } from "./proofs/record-prover.ts";
import { rejectSoldTools, type SaleOptions, sellRoutes } from "./sale/sold-routes.ts";
import { createReplicaMetrics, openSourceReaders } from "./source-readers.ts";
import { createApiMcpEndpoint } from "./tools.ts";
import { openWebhooks, type WebhooksOptions } from "./webhooks/open.ts";
import { openWriteService, type WriteServiceOptions, writeReads } from "./write-service.ts";

type ServeApiOptions = {
  readonly database: Database;
  /** Servers to read the index from; without them the primary serves everything. */
  readonly replicas?: ReplicaOptions;
  readonly log: Log;
  /** The path below which this deployment is served; absent at the root. */
  readonly base?: string;
  /** The deployments of this server, this one included; absent if it lists none. */
  readonly deployments?: DeploymentStates;
  /** Without it the API is read-only. */
  readonly writes?: WriteServiceOptions;
  /** Without it reads are free. */
  readonly sale?: SaleOptions;
  /** Without it nothing is signed. */
  readonly signing?: ApiSigning | undefined;
  /** The nodes that prove records; without it nothing is proven. */
  readonly proofs?: RecordProverOptions;
  /** Without it there are no webhooks. */
  readonly webhooks?: WebhooksOptions;
  /** Whether the index is complete, so that unreferenced records may expire. Without it nothing expires. */
  readonly isIndexReady?: () => Promise<boolean>;
  /** Default: 64 MiB. 0 disables the cache. */
  readonly cacheBytesMax?: number;
  /** Receives the metrics of event streams. */
  readonly registry?: Registry;
  /** Limits of event streams; the usual ones if absent. */
  readonly eventStreams?: Partial<EventStreamLimits>;
  /** Without it there are no pages for people. */
  readonly explorer?: ExplorerOptions;
  /** Limits of requests with x-min-block or min_block. */
  readonly blockWaits?: Omit<BlockWaitersOptions, "readHead" | "requestMsMax">;
};

type ApiSigning = {
  readonly keys: SigningKeys;
  /** The URL of the deployment for clients. */
  readonly publicUrl: () => string;
  /** Whether responses are signed that did not ask for it. */
  readonly signsAll: boolean;
};

// A few megabytes hold the responses requested between two blocks, after which they are stale anyway.
export const CACHE_BYTES_MAX = 64 * 1024 * 1024;

type ServedApi = {
  /** The servers, besides the primary, that read the index. */
  describeReplicas(): readonly Readonly<Record<string, unknown>>[];
  /** Stops the readers and background jobs behind the routes. */
  close(): Promise<void>;
};

/** Adds the routes. */
export function serveApi(server: HttpApp, options: ServeApiOptions): ServedApi {
  const { database, log, base = "", deployments = new DeploymentStates([]) } = options;
  const shutdown = new AbortController();
  const reads = [...indexReads, ...(options.writes ? writeReads : [])];
  const cache = new ResponseCache({ bytesMax: options.cacheBytesMax ?? CACHE_BYTES_MAX });
  const { routed, waiters } = openIndexReads(server, options, cache);
  const { read, primary, pinHistory } = routed;
  // Records that clients write may show on any page.
  let pageRoutes: readonly string[] = [];
  const invalidateTables = (tables: readonly string[]) => {
    routed.onRecordsWritten();
    cache.invalidateRoutes([...findAffectedRoutes(reads, tables), ...pageRoutes]);
  };
  const events = openEvents({ ...options, run: primary.readers.history, pinHistory });
  const webhooks =
    options.webhooks && openWebhooks(options.webhooks, { ...options, readEvents: events.readEvents });
  const watcher = watchChanges(database, {
    onChange: (tables) => {
      if (tables === null || tables.includes("webhooks")) webhooks?.onChange();
      if (tables !== null) return invalidateTables(tables);
      cache.invalidateAll();
      routed.onIndexChanged();
      waiters.onChange();
      events.onChange();
    },
    onConnect: () => void routed.onConnected(),
    onDisconnect: () => cache.disable(),
    log,
    signal: shutdown.signal,
  });
  const needs = { database, log, onChange: invalidateTables, webhooks: webhooks?.service ?? null };
  const writeService = options.writes && openWriteService(options.writes, needs);
  const expiryLoop = startExpiryLoop(options, shutdown.signal);
  const endpoints = [
    ...createIndexEndpoints(read, deployments, options.explorer?.chain),
    events.endpoint,
    ...(writeService?.endpoints ?? []),
  ];
  const signing = prepareSigning(server, options.signing);
  const sendFor = prepareSale(server, [reads, endpoints], options.sale, signing?.signer);
  const mcp = createApiMcpEndpoint(reads, endpoints, sendFor);
  const prover = options.proofs && openRecordProver(options.proofs, log);
  const proving = prover && { prove: prover.prove };
  const isSold = options.sale !== undefined;
  addReadRoutes(server, reads, { run: read, cache, waiters, signing, isSold, ...proving });
  addEndpointRoutes(server.app, [...endpoints, mcp], { waiters, sign: signOnRequest(signing) });
  endWaitsOnClose(server, waiters, events);
  const routes = addDocuments(server, reads, [...endpoints, mcp], options);
  if (options.explorer) {
    const api = { app: server.app, routes, reads, run: read };
    pageRoutes = serveExplorer({ ...options.explorer, base, api, cache, deployments: deployments.served });
  }
  return {
    describeReplicas: () => routed.replicas.map((replica) => replica.describe()),
    async close() {
      shutdown.abort();
      await watcher;
      await expiryLoop;
      await webhooks?.close();
      events.close();
      await routed.close();
      writeService?.close();
      prover?.close();
    },
  };
}

/** The server waits for requests in flight, which would wait for their block, or forever for another event. */
function endWaitsOnClose(
  { app }: HttpApp,
  waiters: BlockWaiters,
  events: { readonly endStreams: () => void },
): void {
  app.addHook("preClose", async () => {
    waiters.close();
    events.endStreams();
  });
}

/** Serves the keys of the deployment, free of charge, and returns how reads are signed with them. */
function prepareSigning({ app }: HttpApp, signing: ApiSigning | undefined): ReadSigning | undefined {
  if (signing === undefined) return undefined;
  addKeyRoutes(app, signing.keys, signing.publicUrl);
  const reads = { signsAll: signing.signsAll, signer: new ResponseSigner(signing) };
  app.signError = signOnRequest(reads);
  return reads;
}

/** Charges for the routes that are added next, if there is a price; returns how tools reach them. */
function prepareSale(
  { app }: HttpApp,
  [reads, endpoints]: readonly [readonly Read[], readonly Endpoint[]],
  sale: SaleOptions | undefined,
  signer: ResponseSigner | undefined,
): ClientSender {
  const sendFor = createRouteSender(app);
  if (sale === undefined) return sendFor;
  const described = [...reads.map(describeRead), ...endpoints.map((each) => describeEndpoint(each))];
  sellRoutes(app, described, sale, signer);
  return rejectSoldTools(sendFor, described, sale);
}

/** Routes that read the index but are neither a list nor a record of it. */
function createIndexEndpoints(
  run: RunRead,
  deployments: DeploymentStates,
  chain: ExplorerOptions["chain"] | undefined,
): readonly Endpoint[] {
  return [
    createPreflightEndpoint({ run }),
    createIntegrityEndpoint({ run }),
    createDeploymentsEndpoint(deployments, chain && { [ZERO_ADDRESS]: chain.native, ...chain.tokens }),
  ];
}

/** Reads that let the cache and what waits know which state they met. */
function openIndexReads(
  server: HttpApp,
  options: ServeApiOptions,
  cache: ResponseCache,
): { readonly routed: RoutedReads; readonly waiters: BlockWaiters } {
  const { database, log } = options;
  const deployments = Math.max(1, options.deployments?.served.length ?? 0);
  const { replicas = { databases: [], lagMsMax: 0 }, eventStreams = {} } = options;
  const metrics = createReplicaMetrics(options.registry ?? new Registry());
  const routed = openRoutedReads({
    database,
    replicas,
    log,
    observer: metrics,
    openReaders: (each, { isReplica }) => openSourceReaders(each, { isReplica, eventStreams, deployments }),
    onState: (state) => {
      cache.observeState(state);
      waiters.observeHead(state.number);
    },
    onReset: () => cache.forgetState(),
  });
  metrics.observeReplicas(routed.replicas);
  const waiters = new BlockWaiters({
    ...options.blockWaits,
    requestMsMax: server.app.server.requestTimeout,
    readHead: async () => {
      const state = await routed.readNewest();
      // A request that waited for this state must not get a cached response from before it.
      if (state) cache.observeState(state);
      return state?.number ?? null;
    },
  });
  return { routed, waiters };
}

/** The reads that show something of these tables. */
function findAffectedRoutes(reads: readonly Read[], tables: readonly string[]): readonly string[] {
  const affected = reads.filter(({ writableTables = [] }) =>
    writableTables.some((table) => tables.includes(table)),
  );
  return affected.map(({ path }) => path);
}

/** Nothing expires unless the API takes writes and can tell when the index is complete. */
function startExpiryLoop(
  { database, log, writes, isIndexReady }: ServeApiOptions,
  signal: AbortSignal,
): Promise<void> | undefined {
  if (!writes || !isIndexReady) return undefined;
  const { unreferredDays, storedBytesMax } = writes.config;
  return runExpiryLoop({ database, tables, unreferredDays, storedBytesMax, isIndexReady, log, signal });
}

/** Returns the routes of the API as they are described. */
function addDocuments(
  server: HttpApp,
  reads: readonly Read[],
  endpoints: readonly Endpoint[],
  { base = "", sale, signing }: Pick<ServeApiOptions, "base" | "sale" | "signing">,
): readonly RouteDescription[] {
  const { info, routes, buildDocument } = describeApi(reads, endpoints, base, {
    sale: sale ?? null,
    isSigned: signing !== undefined,
  });
  addStaticDocument(server.app, "/llms.txt", () => ({
    content: renderApiLlmsText(info, routes, base),
    contentType: "text/plain",
  }));
  addStaticDocument(server.app, VERIFY_PATH, () => {
    const links = [{ path: EXPLORER_PATH, label: "Explorer" }];
    const { html, contentSecurityPolicy } = renderVerifyPage({ links, base });
    return { content: html, contentType: "text/html", contentSecurityPolicy };
  });
  for (const { path, render } of siteFiles) addStaticDocument(server.app, path, render);
  addOpenApiRoutes(server.app, buildDocument);
  return routes;
}

/** Reports of earlier versions have no audit. */
type StoredReport = Omit<IndexerReport, "audit"> & Partial<Pick<IndexerReport, "audit">>;

/** Readiness of the index, derived from the report that the indexer stores. */
export async function readIndexReadiness(database: QueryRunner): Promise<Readiness> {
  try {
    const stored = await readIndexerStatus(database);
    if (!stored)
      return {
        ready: false,
        reason: "No indexer has written to this database yet; start `sextant indexer`.",
      };
    const { phase, reason, audit } = stored.report as StoredReport;
    if (stored.ageSeconds > REPORT_AGE_SECONDS_MAX) {
      return { ready: false, reason: `The last report of the indexer is ${stored.ageSeconds} seconds old.` };
    }
    if (phase === "live") return audit ? readinessOfAudit(audit) : { ready: true };
    return { ready: false, reason: reason ?? "The indexer is reading history." };
  } catch (error) {
    return { ready: false, reason: publicMessage(toFault(error)) };
  }
}
