// HTTP server of the facilitator: verify and settle endpoints, readiness, metrics and OpenAPI document.
import { Counter, Registry } from "prom-client";
import { findChainById } from "../../chain/chains/chains.ts";
import { createRpcMetrics } from "../../chain/rpc/metrics.ts";
import type { facilitatorSettings, paymentSettings } from "../../config/payment-settings.ts";
import type { Config } from "../../config/read-config.ts";
import type { listenSettings, requestSettings } from "../../config/service-settings.ts";
import { readVersion } from "../../config/version.ts";
import { siteFiles } from "../../http/icon.ts";
import { buildOpenApiDocument, type OpenApiDocument } from "../../http/openapi/document.ts";
import { describeEndpoint, serviceRoutes } from "../../http/openapi/route-description.ts";
import { addOpenApiRoutes, addStaticDocument } from "../../http/routes/documents.ts";
import { addEndpointRoutes } from "../../http/routes/endpoints.ts";
import type { FindForeignCaller } from "../../http/security/request-guard.ts";
import { createHttpServer, type HttpServer } from "../../http/server.ts";
import { addStatusRoutes, type Readiness } from "../../http/status-routes.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { FindLedgerRisk } from "../ledger/replication.ts";
import { describeToken, openPaymentToken, resolvePaymentAsset } from "../payment-token.ts";
import { createFacilitatorEndpoints } from "./endpoints.ts";
import { type ClaimedFacilitator, checkGasSettings, openLocalFacilitator } from "./local.ts";

type FacilitatorConfig = Config<
  typeof listenSettings & typeof requestSettings & typeof paymentSettings & typeof facilitatorSettings
>;

type FacilitatorNeeds = {
  readonly database: Database;
  readonly findLedgerRisk: FindLedgerRisk;
  /** As in HttpServerOptions. */
  readonly findForeignCaller?: FindForeignCaller;
  readonly log: Log;
  readonly signal?: AbortSignal;
};

const API_INFO = {
  title: "Sextant facilitator",
  description:
    "Verifies and settles x402 payments (version 2, scheme exact, EIP-3009) in one token on one chain, and sends the transactions of payment channels (scheme batch-settlement).",
};

/** Counts requests for monitoring. */
export function countFacilitatorRequests(registry: Registry): (operation: string, outcome: string) => void {
  const counter = new Counter({
    name: "sextant_facilitator_requests_total",
    help: "Payments verified and settled, by outcome.",
    labelNames: ["operation", "outcome"],
    registers: [registry],
  });
  return (operation, outcome) => counter.inc({ operation, outcome });
}

/**
 * Returns the server before it listens. Throws if the token on chain is not the configured one, or if another process
 * keeps the key. `release` gives the key up, once nothing is in flight.
 */
export async function createFacilitatorServer(
  config: FacilitatorConfig,
  needs: FacilitatorNeeds,
): Promise<{ readonly server: HttpServer; readonly address: Hex; release(): Promise<void> }> {
  const { database, log, signal } = needs;
  const { privateKey, urls } = checkFacilitatorConfig(config);
  const registry = new Registry();
  const onCall = createRpcMetrics(registry);
  const token = await openPaymentToken(config, { log, onCall, signal }, async (opened) => {
    opened.rpc.close();
    return opened.token;
  });
  const facilitator = await openLocalFacilitator(config, token, {
    privateKey,
    urls,
    database,
    log,
    onCall,
    signal,
  });
  const payees = config.facilitatorPayees.map((payee) => payee.toLowerCase() as Hex);
  const endpoints = createFacilitatorEndpoints({
    facilitator,
    log,
    rules: {
      ...describeToken(token),
      amountMin: BigInt(config.facilitatorAmountMin),
      payees: payees.length > 0 ? payees : null,
      authorizers: config.facilitatorChannelAuthorizers.map((each) => each.toLowerCase() as Hex),
    },
    count: countFacilitatorRequests(registry),
  });
  const server = createHttpServer({
    ...config,
    log,
    registry,
    findForeignCaller: needs.findForeignCaller ?? null,
    checkReadiness: () => checkReadiness(facilitator, needs),
  });
  addEndpointRoutes(server.app, endpoints);
  addStatusRoutes(server.app, registry);
  addOpenApiRoutes(server.app, () => buildFacilitatorDocument(endpoints));
  for (const { path, render } of siteFiles) addStaticDocument(server.app, path, render);
  return { server, address: facilitator.address, release: facilitator.close };
}

export function buildFacilitatorDocument(endpoints: readonly Endpoint[]): OpenApiDocument {
  return buildOpenApiDocument({
    info: { ...API_INFO, version: readVersion() },
    routes: [...endpoints.map(describeEndpoint), ...serviceRoutes],
    samples: { variable: "FACILITATOR_URL", fallback: "http://127.0.0.1:3004", client: null },
    tags: { Facilitator: "The operations of an x402 facilitator: verify, settle, and what is supported." },
  });
}

/** Rejects a configuration that cannot settle anything, or that would pay gas for arbitrary payees. */
export function checkFacilitatorConfig(config: FacilitatorConfig) {
  const asset = resolvePaymentAsset(config);
  const { facilitatorPrivateKey: privateKey, paymentRpcUrls: urls } = config;
  if (privateKey === null) {
    throw new Fault(
      "CONFIG_INVALID",
      "FACILITATOR_PRIVATE_KEY must be the key of the account that pays the gas.",
    );
  }
  if (urls.length === 0) {
    throw new Fault("CONFIG_INVALID", `PAYMENT_RPC_URL must name at least one node of ${asset.network}.`);
  }
  // On a mainnet, a facilitator for anyone would let third parties spend its gas.
  if (config.facilitatorPayees.length === 0 && findChainById(asset.chainId)?.mainnet !== false) {
    throw new Fault(
      "CONFIG_INVALID",
      "FACILITATOR_PAYEES must list the payees to settle payments for on this chain.",
    );
  }
  checkGasSettings(config, asset);
  return { privateKey, urls };
}

async function checkReadiness(
  facilitator: ClaimedFacilitator,
  { findLedgerRisk, log }: FacilitatorNeeds,
): Promise<Readiness> {
  try {
    const risk = await findLedgerRisk();
    if (risk !== null) return { ready: false, reason: risk };
  } catch (err) {
    log.debug(
      { component: "payments", event: "database_unreachable", err },
      "The facilitator's database does not respond",
    );
    return { ready: false, reason: "The database does not respond." };
  }
  try {
    const problem = await facilitator.findProblem();
    return problem === null ? { ready: true } : { ready: false, reason: problem };
  } catch (err) {
    log.debug(
      { component: "payments", event: "gas_balance_unreadable", err },
      "The facilitator's gas balance could not be read",
    );
    return { ready: false, reason: "No node responds." };
  }
}
