// The indexing API over a test database, listening on a port the system chose.

import { Registry } from "prom-client";
import type { EventStreamLimits } from "../../../src/api/events/streams.ts";
import type { RecordProverOptions } from "../../../src/api/proofs/record-prover.ts";
import type { SaleOptions } from "../../../src/api/sale/sold-routes.ts";
import { serveApi } from "../../../src/api/serve.ts";
import { webhookSettings, writeSettings } from "../../../src/config/indexing-settings.ts";
import { readConfig } from "../../../src/config/read-config.ts";
import type { ExplorerChain } from "../../../src/explorer/context.ts";
import type { BlockWaitersOptions } from "../../../src/http/block-waiters.ts";
import { createHttpServer, type HttpServerOptions } from "../../../src/http/server.ts";
import type { SigningKeys } from "../../../src/http/signing/signing-keys.ts";
import { addStatusRoutes } from "../../../src/http/status-routes.ts";
import { CONTRACT_NAMES, type Deployment } from "../../../src/protocol/deployment.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import type { ReplicaOptions } from "../../../src/store/replicas/read-router.ts";
import { silentLog } from "../quiet-log.ts";
import { NO_LIMITS } from "./no-limits.ts";

export type TestApi = {
  readonly url: string;
  /** Every route that was registered, as `GET /agents/:agentId`. */
  readonly routes: readonly string[];
  /** As /ready lists them. */
  describeReplicas(): readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
};

// Unauthenticated writes call no contract, but each needs an address.
const UNUSED_CONTRACTS = Object.fromEntries(
  CONTRACT_NAMES.map((name, index) => [name, `0x${String(index + 1).padStart(40, "0")}`]),
) as Deployment["contracts"];

const TEST_CHAIN = {
  network: "local",
  chainId: 31_337,
  explorerUrl: null,
  native: { symbol: "ETH", decimals: 18 },
  contracts: UNUSED_CONTRACTS,
};

// Registered and managed, without deliveries in the background.
const WEBHOOKS = { SEXTANT_WEBHOOK_KEY: `0x${"5e".repeat(32)}`, SEXTANT_WEBHOOK_DELIVERY: "false" };

type TestApiOptions = Partial<HttpServerOptions> & {
  readonly replicas?: ReplicaOptions;
  readonly blockWaits?: Omit<BlockWaitersOptions, "readHead" | "requestMsMax">;
  readonly eventStreams?: Partial<EventStreamLimits>;
  /** Tokens whose amounts the pages show with symbol and decimals. */
  readonly tokens?: ExplorerChain["tokens"];
  /** 0 for tests that change rows behind the API's back. */
  readonly cacheBytesMax?: number;
  /** Sells reads, at the URL of the API unless it has another. */
  readonly sale?: (Omit<SaleOptions, "publicUrl"> & Partial<SaleOptions>) | undefined;
  /** The nodes that prove records; none by default. */
  readonly proofs?: RecordProverOptions;
  /** Signs responses, at the URL of the API. */
  readonly signing?: { readonly keys: SigningKeys; readonly signsAll: boolean };
};

/** Anyone may write; signatures have their own tests. */
export async function startTestApi(
  database: Database,
  {
    blockWaits = {},
    eventStreams = {},
    tokens = {},
    cacheBytesMax,
    replicas,
    sale,
    signing,
    proofs,
    ...options
  }: TestApiOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<TestApi> {
  const server = createHttpServer({
    ...NO_LIMITS,
    log: silentLog,
    bodyBytesMax: 262_144,
    requestMsMax: 10_000,
    checkReadiness: async () => ({ ready: true }),
    ...options,
  });
  // The server adds this one itself, before the hook.
  const routes: string[] = ["GET /ready"];
  server.app.addHook("onRoute", ({ method, url }) => {
    routes.push(...[method].flat().map((each) => `${each} ${url}`));
  });
  let url = "";
  const registry = new Registry();
  const writes = {
    deployment: { chainId: 31_337, contracts: UNUSED_CONTRACTS },
    config: readConfig(environment, writeSettings),
    urls: [],
    onCall: null,
    listenUrl: () => url,
  };
  const webhooks = { config: readConfig(WEBHOOKS, webhookSettings), chainId: 31_337 };
  const given = { database, log: silentLog, registry, blockWaits, eventStreams };
  const explorer = { chain: { ...TEST_CHAIN, tokens }, publicUrl: () => url };
  const sold = sale && { sale: { publicUrl: () => url, ...sale } };
  const cached = {
    ...sold,
    ...(signing && { signing: { ...signing, publicUrl: () => url } }),
    ...(cacheBytesMax !== undefined && { cacheBytesMax }),
    ...(replicas && { replicas }),
    proofs: proofs ?? { deployment: writes.deployment, urls: [], onCall: null },
  };
  const api = serveApi(server, { ...given, ...cached, writes, webhooks, explorer });
  addStatusRoutes(server.app, registry);
  url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
  return {
    url,
    describeReplicas: api.describeReplicas,
    routes,
    async close() {
      await server.close();
      await api.close();
    },
  };
}
