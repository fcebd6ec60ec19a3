// `sextant api`: serves the indexing API of each deployment. Any number of processes can share one database.
import { Registry } from "prom-client";
import { DeploymentStates, type ServedDeployment } from "../../api/deployments/endpoint.ts";
import { type ApiSale, checkSaleConfig, openApiSale } from "../../api/sale/open-sale.ts";
import { CACHE_BYTES_MAX, readIndexReadiness, serveApi } from "../../api/serve.ts";
import { storeWebhooksFile } from "../../api/webhooks/configured.ts";
import { resolveWriteMode } from "../../api/write-service.ts";
import { findChainById, localChain } from "../../chain/chains/chains.ts";
import { createRpcMetrics } from "../../chain/rpc/metrics.ts";
import type { CallObserver } from "../../chain/rpc/types.ts";
import {
  apiSettings,
  eventSettings,
  replicaSettings,
  webhookSettings,
  writeSettings,
} from "../../config/indexing-settings.ts";
import {
  channelSettings,
  ledgerSettings,
  paymentSettings,
  paywallSettings,
} from "../../config/payment-settings.ts";
import { type Config, type Environment, readConfig } from "../../config/read-config.ts";
import {
  databaseSettings,
  listenSettings,
  metricsSettings,
  requestSettings,
  signingSettings,
} from "../../config/service-settings.ts";
import { mergeMetrics } from "../../http/metrics.ts";
import { createLocalCallers } from "../../http/security/request-guard.ts";
import { createHttpServer, type HttpServer } from "../../http/server.ts";
import type { SigningKeys } from "../../http/signing/signing-keys.ts";
import { addStatusRoutes, type Readiness } from "../../http/status-routes.ts";
import { assertDefined } from "../../lib/assert-defined.ts";
import type { Log } from "../../lib/log.ts";
import { closeWithDeadline, createCloseStack, waitForAbort } from "../../lib/shutdown.ts";
import { checkLedgerReplication } from "../../payments/ledger/replication.ts";
import { countPaymentOutcomes, startReconciling } from "../../payments/watch-payments.ts";
import { assertSameDeployment } from "../../store/index/prepare.ts";
import { openConfiguredDatabases, openConfiguredReplicas } from "../../store/open-database.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { RunCommand } from "../command.ts";
import {
  chooseServedDeployments,
  type InstalledDeployment,
  readInstallation,
  toWebhookDeployments,
} from "../installation.ts";
import { observeDebts } from "../observe-debts.ts";
import { readSigningKeys } from "../signing-keys.ts";

/** The coin of a chain that Sextant does not know: every EVM chain counts its coin in wei. */
const UNNAMED_COIN = { symbol: "native coin", decimals: 18 };

const settings = {
  ...listenSettings,
  ...metricsSettings,
  ...apiSettings,
  ...databaseSettings,
  ...replicaSettings,
  ...eventSettings,
  ...requestSettings,
  ...writeSettings,
  ...webhookSettings,
  ...signingSettings,
};

const saleSettings = {
  ...paymentSettings,
  ...channelSettings,
  ...ledgerSettings,
  payTo: paywallSettings.payTo,
  facilitatorUrl: paywallSettings.facilitatorUrl,
  unpaidPerMinute: paywallSettings.unpaidPerMinute,
};

type ApiConfig = Config<typeof settings>;
type SaleConfig = ApiConfig & Config<typeof saleSettings>;

export const apiCommand: RunCommand = async ({ environment, options, log, stop, onListening }) => {
  const config = readConfig(environment, settings);
  const saleConfig = readSaleConfig(environment, config);
  const signingKeys = readSigningKeys(config);
  const chosen = await chooseServedDeployments({ environment, options });
  // Report a forbidden write mode before anything starts.
  for (const { deployment } of chosen) resolveWriteMode(config, deployment.chainId);
  const schemas = chosen.map(({ databaseSchema }) => databaseSchema);
  const { databases, close } = await openConfiguredDatabases(config, schemas, log, "api");
  const apis: ReturnType<typeof serveApi>[] = [];
  const installed = chosen.map((each, index): ServedInstallation => {
    const database = assertDefined(databases[index], "the database of a deployment");
    const checkReadiness = async () =>
      withReplicas(await readIndexReadiness(database), apis[index]?.describeReplicas() ?? []);
    const { chainId } = each.deployment;
    const own = chosen.length === 1 ? log : log.child({ deployment: each.name });
    const replicas = openConfiguredReplicas({ ...config, databaseSchema: each.databaseSchema }, own, "api");
    const registry = new Registry();
    const onCall = createRpcMetrics(registry);
    return { ...each, chainId, database, replicas, checkReadiness, log: own, registry, onCall };
  });
  const [first] = installed;
  const { database, registry, onCall, ...served } = assertDefined(first, "the default deployment");
  const isLocal = installed.some(({ chainId }) => chainId === localChain.chainId);
  const findForeignCaller = isLocal ? createLocalCallers({ publicUrl: config.publicBaseUrl }) : null;
  const listened = { url: "" };
  const deployments = new DeploymentStates(installed);
  const opened = createCloseStack();
  opened.push(close);
  opened.push(async () => {
    for (const { replicas } of installed) await replicas.close();
  });
  try {
    const listenUrl = () => listened.url;
    const needs = { database, registry, onCall, log, listenUrl, signingKeys, signal: stop };
    const sold = await openSoldReads(saleConfig, needs);
    if (sold) opened.push(sold.close);
    const checkReadiness = sold ? () => sold.checkReadiness(served.checkReadiness) : served.checkReadiness;
    const server = createHttpServer({ ...config, log, registry, checkReadiness, findForeignCaller });
    opened.push(async () => {
      for (const api of apis) await api.close();
    });
    opened.push(() => closeWithDeadline([server.close]));
    const surroundings = { config, deployments, listened, sale: sold?.sale, signingKeys };
    for (const each of installed) apis.push(serveOne(server, each, surroundings));
    for (const { database, deployment } of installed) await assertSameDeployment(database, deployment);
    const all = await readInstallation({ environment, options });
    await storeWebhooksFile(config.webhooksFile, toWebhookDeployments(all, installed));
    addStatusRoutes(server.app, mergeMetrics(installed.map((each) => each.registry)));
    const { host, apiPort: port } = config;
    const metrics = { host: config.metricsHost, port: config.metricsPort };
    listened.url = await server.listen({ host, port, portVariable: "API_PORT", metrics });
    const { url } = listened;
    log.info({ component: "cli", event: "api_listening", url }, "Indexing API is listening");
    onListening?.(url);
    await waitForAbort(stop);
  } catch (error) {
    // An abort while waiting for a node of the payment chain is a normal shutdown.
    if (!stop.aborted) throw error;
  } finally {
    await opened.closeAll();
  }
  return 0;
};

/** Null without a price: services that sell share these settings, and a mistake in them must not stop a free API. */
function readSaleConfig(environment: Environment, config: ApiConfig): SaleConfig | null {
  if (config.apiPriceUsd === null) return null;
  const read = { ...config, ...readConfig(environment, saleSettings) };
  checkSaleConfig(read);
  return read;
}

/** Reads are sold from the ledger of the portfolio service: the same database and schema. Null without a price. */
async function openSoldReads(
  config: SaleConfig | null,
  { registry, ...needs }: Omit<Parameters<typeof openApiSale>[1], "count"> & { readonly registry: Registry },
) {
  if (config === null) return null;
  const { database, log } = needs;
  const findLedgerRisk = await checkLedgerReplication(database, config, log);
  const count = countPaymentOutcomes(registry);
  const opened = await openApiSale(config, { ...needs, count });
  if (opened === null) return null;
  await observeDebts(opened, { registry, decimals: opened.decimals, log });
  const reconciling = startReconciling(opened.gate.reconcile, log);
  return {
    sale: opened.sale,
    async checkReadiness(next: () => Promise<Readiness>): Promise<Readiness> {
      const risk = await findLedgerRisk().catch(() => "The database does not respond.");
      return risk === null ? next() : { ready: false, reason: risk };
    },
    async close() {
      await reconciling.close();
      opened.close();
    },
  };
}

/** Reports what is wrong with a replica; the primary serves its reads meanwhile. */
function withReplicas(readiness: Readiness, replicas: readonly unknown[]): Readiness {
  return readiness.ready && replicas.length > 0
    ? { ...readiness, details: { ...readiness.details, replicas } }
    : readiness;
}

type ServedInstallation = InstalledDeployment &
  ServedDeployment & {
    readonly log: Log;
    readonly registry: Registry;
    readonly onCall: CallObserver;
    readonly database: Database;
    readonly replicas: ReturnType<typeof openConfiguredReplicas>;
  };

type Surroundings = {
  readonly config: ApiConfig;
  readonly deployments: DeploymentStates;
  /** The URL is known once the server listens. */
  readonly listened: { readonly url: string };
  readonly sale: ApiSale | undefined;
  readonly signingKeys: SigningKeys | undefined;
};

/** The default deployment at the root, and every one below its path. */
function serveOne(
  server: HttpServer,
  each: ServedInstallation,
  { config, deployments, listened, sale, signingKeys: keys }: Surroundings,
): ReturnType<typeof serveApi> {
  const { name, base, deployment, database, replicas, rpcUrls, log, registry, onCall, checkReadiness } = each;
  const { length } = deployments.served;
  if (length > 1) registry.setDefaultLabels({ deployment: name });
  const app = server.mount(name, base === "" ? undefined : { log, registry, checkReadiness });
  const listenUrl = () => listened.url + base;
  const publicBaseUrl = config.publicBaseUrl === null ? null : config.publicBaseUrl + base;
  const { chainId } = deployment;
  const proofs = { deployment, urls: rpcUrls, onCall };
  const writes = { ...proofs, config: { ...config, publicBaseUrl }, listenUrl };
  const isIndexReady = async () => (await checkReadiness()).ready;
  const eventStreams = {
    // Together below the limit of connections, so that ordinary requests always find one.
    streamsMax: Math.floor(config.eventStreamsMax / length),
    streamsPerClientMax: config.eventStreamsPerClientMax,
  };
  const native = findChainById(chainId)?.native ?? UNNAMED_COIN;
  const chain = { explorerUrl: null, tokens: {}, native, ...deployment };
  const publicUrl = () => publicBaseUrl ?? listenUrl();
  const explorer = { chain, publicUrl };
  const cacheBytesMax = Math.floor(CACHE_BYTES_MAX / length);
  const sold = sale && { sale: { ...sale, publicUrl } };
  const signing = keys && { keys, publicUrl, signsAll: config.signReads };
  const shown = { base, deployments, explorer, signing, ...sold };
  const common = { database, replicas, log, registry, cacheBytesMax, ...shown };
  return serveApi(app, {
    ...common,
    writes,
    proofs,
    webhooks: { config, chainId },
    isIndexReady,
    eventStreams,
  });
}
