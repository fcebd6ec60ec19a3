// `sextant facilitator`: checks payments and carries them out on chain, for the services that ask it.
import { Counter, Registry } from "prom-client";
import { findChainById } from "../../chain/chains/chains.ts";
import { createRpc } from "../../chain/rpc/client.ts";
import { createRpcMetrics } from "../../chain/rpc/metrics.ts";
import type { CallObserver } from "../../chain/rpc/types.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import {
  databaseSettings,
  facilitatorSettings,
  listenSettings,
  paymentSettings,
  requestSettings,
} from "../../config/settings.ts";
import { readVersion } from "../../config/version.ts";
import { buildOpenApiDocument } from "../../http/openapi/document.ts";
import { describeEndpoint, serviceRoutes } from "../../http/openapi/route-description.ts";
import { addOpenApiRoutes } from "../../http/routes/documents.ts";
import { addEndpointRoutes } from "../../http/routes/endpoints.ts";
import { createHttpServer, type HttpServer, type Readiness } from "../../http/server.ts";
import { addStatusRoutes } from "../../http/status-routes.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import { closeWithDeadline } from "../../lib/shutdown.ts";
import { createFacilitatorEndpoints } from "../../payments/facilitator/endpoints.ts";
import type { LocalFacilitator } from "../../payments/facilitator/local.ts";
import { checkGasSettings, openLocalFacilitator } from "../../payments/facilitator/open-local.ts";
import {
  type PaymentAssetConfig,
  type PaymentToken,
  readPaymentToken,
  resolvePaymentAsset,
} from "../../payments/payment-token.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import type { Database } from "../../store/postgres/database.ts";
import { type RunCommand, waitForAbort } from "../command.ts";

const serverSettings = { ...listenSettings, ...requestSettings, ...paymentSettings, ...facilitatorSettings };
const settings = { ...serverSettings, ...databaseSettings };

type FacilitatorConfig = Config<typeof serverSettings>;

export const facilitatorCommand: RunCommand = async ({ environment, log, stop }) => {
  const config = readConfig(environment, settings);
  // What is configured wrongly is told before anything is started for it.
  checkFacilitator(config);
  const { database, close } = await openConfiguredDatabase(config, log, "facilitator");
  const closers = [close];
  try {
    const { server, address } = await createFacilitatorServer(config, { database, log, signal: stop });
    closers.push(() => closeWithDeadline(server.close));
    const port = config.facilitatorPort;
    const url = await server.listen({ host: config.host, port, portVariable: "FACILITATOR_PORT" });
    log.info({ url, address, network: config.paymentNetwork }, `facilitator on ${url}`);
    await waitForAbort(stop);
  } catch (error) {
    // Told to stop while it waited for a node.
    if (!stop.aborted) throw error;
  } finally {
    for (const end of closers.reverse()) await end();
  }
  return 0;
};

/** The whole service but for its port; also a part of a local run. Throws for a token that is not the configured one. */
export async function createFacilitatorServer(
  config: FacilitatorConfig,
  needs: { readonly database: Database; readonly log: Log; readonly signal?: AbortSignal },
): Promise<{ readonly server: HttpServer; readonly address: Hex }> {
  const { database, log, signal } = needs;
  const place = resolvePaymentAsset(config);
  const { privateKey, urls } = checkFacilitator(config);
  const registry = new Registry();
  const onCall = createRpcMetrics(registry);
  const token = await verifyToken(config, place, { log, onCall, signal });
  const payer = openLocalFacilitator(config, token, { privateKey, urls, database, log, onCall });
  const counter = new Counter({
    name: "sextant_facilitator_requests_total",
    help: "Payments verified and settled, by outcome.",
    labelNames: ["operation", "outcome"],
    registers: [registry],
  });
  const payees = config.facilitatorPayees.map((payee) => payee.toLowerCase() as Hex);
  const endpoints = createFacilitatorEndpoints({
    facilitator: payer,
    log,
    rules: {
      network: place.network,
      asset: place.asset,
      assetName: place.name,
      assetVersion: place.version,
      amountMin: BigInt(config.facilitatorAmountMin),
      payees: payees.length > 0 ? payees : null,
    },
    count: (operation, outcome) => counter.inc({ operation, outcome }),
  });
  const server = createHttpServer({
    ...config,
    log,
    registry,
    checkReadiness: () => readiness(payer, database, log),
  });
  addEndpointRoutes(server.app, endpoints);
  addStatusRoutes(server.app, registry);
  const routes = [...endpoints.map(describeEndpoint), ...serviceRoutes];
  addOpenApiRoutes(server.app, buildOpenApiDocument({ ...TITLE, version: readVersion() }, routes));
  return { server, address: payer.address };
}

const TITLE = {
  title: "Sextant facilitator",
  description:
    "Verifies and settles x402 payments (version 2, scheme exact, EIP-3009) in one token on one chain.",
};

/** Refuses what could not settle anything, or would at the cost of strangers' business. */
function checkFacilitator(config: FacilitatorConfig) {
  const place = resolvePaymentAsset(config);
  const { facilitatorPrivateKey: privateKey, paymentRpcUrls: urls } = config;
  if (privateKey === null) {
    throw new Fault(
      "CONFIG_INVALID",
      "FACILITATOR_PRIVATE_KEY must be the key of the account that pays the gas.",
    );
  }
  if (urls.length === 0) {
    throw new Fault("CONFIG_INVALID", `PAYMENT_RPC_URL must name at least one node of ${place.network}.`);
  }
  // Where gas costs money, strangers must not choose whose business we pay it for.
  if (config.facilitatorPayees.length === 0 && findChainById(place.chainId)?.mainnet !== false) {
    throw new Fault(
      "CONFIG_INVALID",
      "FACILITATOR_PAYEES must name who may be paid at our cost on this chain.",
    );
  }
  checkGasSettings(config, place);
  return { privateKey, urls };
}

async function verifyToken(
  { paymentRpcUrls: urls }: FacilitatorConfig,
  place: PaymentAssetConfig,
  {
    log,
    onCall,
    signal,
  }: { readonly log: Log; readonly onCall: CallObserver; readonly signal: AbortSignal | undefined },
): Promise<PaymentToken> {
  const rpc = createRpc({ urls, chainId: place.chainId, log, onCall });
  try {
    return await readPaymentToken(rpc, place, { log, signal });
  } finally {
    rpc.close();
  }
}

async function readiness(payer: LocalFacilitator, database: Database, log: Log): Promise<Readiness> {
  try {
    await database.query("select 1");
  } catch (err) {
    log.debug({ err }, "The facilitator's database does not respond");
    return { ready: false, reason: "The database does not respond." };
  }
  try {
    if ((await payer.readGasBalance()) > 0n) return { ready: true };
    return { ready: false, reason: `The account ${payer.address} has nothing to pay gas with.` };
  } catch (err) {
    log.debug({ err }, "The balance of the facilitator could not be read");
    return { ready: false, reason: "No node answers." };
  }
}
