// Runs everything on this machine: chains, simulator, database, indexer, API, facilitator and portfolio service.
import { Registry } from "prom-client";
import { generatePrivateKey } from "viem/accounts";
import { serveApi } from "../api/serve.ts";
import { localChain } from "../chain/chains/chains.ts";
import { createRpcMetrics } from "../chain/rpc/metrics.ts";
import type { CallObserver } from "../chain/rpc/types.ts";
import { type ProgressLine, startStatusLine, WorkMeter } from "../cli/display/progress.ts";
import { readSigningKeys } from "../cli/signing-keys.ts";
import type { Config } from "../config/read-config.ts";
import type { allSettings } from "../config/settings.ts";
import { createLocalCallers } from "../http/security/request-guard.ts";
import { createHttpServer, type HttpServer, type ListenAddress } from "../http/server.ts";
import type { SigningKeys } from "../http/signing/signing-keys.ts";
import { addStatusRoutes } from "../http/status-routes.ts";
import { createIndexerStatus, type IndexerStatus } from "../indexer/status.ts";
import { systemClock } from "../lib/clock.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import { type CloseStack, closeWithDeadline, createCloseStack, waitForAbort } from "../lib/shutdown.ts";
import { createFacilitatorServer } from "../payments/facilitator/server.ts";
import type { Database } from "../store/postgres/database.ts";
import { publishExampleDocuments } from "./documents.ts";
import { openLocalDatabase, startLocalIndexing, waitUntilSynced, writeOperatorSettings } from "./indexing.ts";
import { type LocalMarket, startLocalMarkets } from "./markets.ts";
import {
  createLocalPaymentConfig,
  type LocalPortfolioService,
  localChannelAccount,
  serveLocalPortfolio,
} from "./portfolio.ts";
import { registerRun } from "./registered-runs.ts";
import { openLocalSale } from "./sale.ts";
import { makeSigningKeys } from "./signing-keys.ts";
import { type LocalSimulation, startLocalSimulation } from "./simulation.ts";
import { deleteLocalState, type LocalUrls, writeLocalState } from "./state-file.ts";
import { formatLocalBanner, formatLocalStatus, readLocalCounters } from "./status-view.ts";

/** Everything runs here, so every setting is read. */
type LocalConfig = Config<typeof allSettings>;

type LocalRunOptions = {
  readonly seed: number;
  /** Whether the simulator keeps running after the initial data exists. */
  readonly traffic: boolean;
  /** Folder in which the database stays after the run. */
  readonly keepFolder: string | undefined;
  /** Folder of the user in which runs are listed, if there is one. */
  readonly stateFolder: string | null;
  /** Payees of the facilitator, alongside the portfolio service. */
  readonly payees: readonly Hex[];
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly print: (text: string) => void;
  readonly progress: ProgressLine | undefined;
};

/** Runs until `stop` aborts, or rejects when a part fails. */
export async function runLocal(config: LocalConfig, options: LocalRunOptions): Promise<void> {
  const { log, stop, print } = options;
  const status = createIndexerStatus(log, systemClock);
  await assertPortsFree(config, log);
  const opened = createCloseStack();
  try {
    print("Starting three chains, a database and the simulator …\n");
    const backends = await startBackends(config, options, opened);
    const { database, folder, simulation, markets } = backends;
    const indexing = startLocalIndexing(database, simulation, config, status, { log, stop });
    opened.push(indexing.close);
    const signingKeys = readSigningKeys(config) ?? (await makeSigningKeys(folder));
    const dependencies = { ...backends, status, signingKeys, ...options };
    const { urls, portfolio } = await startServices(config, dependencies, opened);
    const operator = await writeOperatorSettings(folder, simulation);
    const hasDatabaseUrl = config.databaseUrl !== null;
    const run = { urls, simulation, markets, offer: portfolio.offer, operator, hasDatabaseUrl };
    const file = await writeLocalState(config.dataFolder, run);
    opened.push(() => deleteLocalState(file));
    opened.push(await registerRun(options.stateFolder, { api: urls.api, ...config }, log));
    const meter = new WorkMeter(systemClock);
    const stopStatus = startStatusLine(options, async () =>
      formatLocalStatus({
        ...(await readLocalCounters(database)),
        steps: simulation.counters().steps,
        paid: portfolio.settledCount(),
        report: status.report(),
        meter,
      }),
    );
    try {
      await Promise.race([waitUntilSynced(status, stop), indexing.failed]);
      await publishExampleDocuments(urls.api);
      await backends.keepMining();
      const traffic = options.traffic ? simulation.run(stop) : waitForAbort(stop);
      print(formatLocalBanner({ ...run, file }));
      await Promise.race([waitForAbort(stop), indexing.failed, traffic.then(() => waitForAbort(stop))]);
    } finally {
      stopStatus();
      print("\nStopping …\n");
    }
  } finally {
    await opened.closeAll();
  }
}

type Backends = {
  readonly database: Database;
  /** The folder of the run, which contains an embedded database. */
  readonly folder: string;
  readonly simulation: LocalSimulation;
  readonly markets: readonly LocalMarket[];
  readonly keepMining: () => Promise<void>;
  /** Metrics of the portfolio service; the calls to the nodes of its chains are among them. */
  readonly portfolioRegistry: Registry;
  readonly portfolioCalls: CallObserver;
};

/** Starts the independent parts concurrently: each takes seconds. */
async function startBackends(
  config: LocalConfig,
  { seed, keepFolder, log, stop }: LocalRunOptions,
  opened: CloseStack,
): Promise<Backends> {
  const portfolioRegistry = new Registry();
  const portfolioCalls = createRpcMetrics(portfolioRegistry);
  const [database, simulation, markets] = await Promise.allSettled([
    openLocalDatabase(config, keepFolder, log),
    startLocalSimulation({ seed, signal: stop }),
    startLocalMarkets(log, portfolioCalls),
  ]);
  if (database.status === "fulfilled") opened.push(database.value.close);
  if (simulation.status === "fulfilled") opened.push(simulation.value.stop);
  if (markets.status === "fulfilled") opened.push(markets.value.stop);
  return {
    database: unwrapSettled(database).database,
    folder: unwrapSettled(database).folder,
    simulation: unwrapSettled(simulation),
    markets: unwrapSettled(markets).markets,
    keepMining: unwrapSettled(markets).keepMining,
    portfolioRegistry,
    portfolioCalls,
  };
}

type ServiceDependencies = Backends &
  Pick<LocalRunOptions, "log" | "payees"> & {
    readonly status: IndexerStatus;
    readonly signingKeys: SigningKeys;
  };

async function startServices(
  config: LocalConfig,
  dependencies: ServiceDependencies,
  opened: CloseStack,
): Promise<{ readonly urls: LocalUrls; readonly portfolio: LocalPortfolioService }> {
  const { database, simulation, log, payees } = dependencies;
  const addresses = listenAddresses(config);
  const paymentConfig = {
    ...config,
    ...createLocalPaymentConfig(simulation, payees),
    facilitatorChannelAuthorizers: [localChannelAccount().address],
  };
  const { server: facilitatorServer, release } = await createFacilitatorServer(paymentConfig, {
    database,
    // Its tokens have no value.
    findLedgerRisk: async () => null,
    findForeignCaller: createLocalCallers({ publicUrl: config.publicBaseUrl }),
    log,
  });
  opened.push(release);
  opened.push(() => closeWithDeadline([facilitatorServer.close]));
  const facilitator = await facilitatorServer.listen(addresses.facilitator);
  const api = await startApi(config, dependencies, facilitator, opened);

  let portfolioUrl = "http://127.0.0.1";
  const server = createServer(config, dependencies);
  const portfolio = await serveLocalPortfolio(server.app, {
    ...dependencies,
    config,
    registry: dependencies.portfolioRegistry,
    onCall: dependencies.portfolioCalls,
    facilitatorUrl: facilitator,
    listenUrl: () => portfolioUrl,
  });
  opened.push(() => closeWithDeadline([portfolio.close, server.close]));
  portfolioUrl = await server.listen(addresses.portfolio);
  return { urls: { api, facilitator, portfolio: portfolioUrl }, portfolio };
}

async function startApi(
  config: LocalConfig,
  dependencies: ServiceDependencies,
  facilitatorUrl: string,
  opened: CloseStack,
): Promise<string> {
  const { database, simulation, status, signingKeys: keys, log } = dependencies;
  const server = createServer(config, dependencies);
  addStatusRoutes(server.app, status.registry);
  let url = "";
  const proofs = {
    deployment: simulation.deployment,
    urls: [new Secret(simulation.rpcUrl)],
    onCall: status.onCall,
  };
  const writes = { ...proofs, config, listenUrl: () => url };
  const webhookKey = config.webhookKey ?? new Secret(generatePrivateKey());
  const webhooks = {
    config: { ...config, webhookKey },
    chainId: simulation.deployment.chainId,
  };
  const publicUrl = () => config.publicBaseUrl ?? url;
  const { registry, onCall } = status;
  const payments = { simulation, facilitatorUrl, database, registry, onCall, log, listenUrl: () => url };
  const sale = await openLocalSale(config, { ...payments, signingKeys: keys, opened });
  const { native } = localChain;
  const explorer = { chain: { explorerUrl: null, tokens: {}, native, ...simulation.deployment }, publicUrl };
  const signing = { keys, publicUrl, signsAll: config.signReads };
  const sold = sale === null ? {} : { sale: { ...sale, publicUrl } };
  const api = serveApi(server, { database, log, writes, proofs, webhooks, explorer, signing, ...sold });
  opened.push(api.close, server.close);
  url = await server.listen(listenAddresses(config).api);
  return url;
}

function createServer(
  config: LocalConfig,
  { status, log }: Pick<ServiceDependencies, "status" | "log">,
): HttpServer {
  return createHttpServer({
    ...config,
    log,
    findForeignCaller: createLocalCallers({ publicUrl: config.publicBaseUrl }),
    checkReadiness: async () => status.readiness(),
  });
}

function listenAddresses(config: LocalConfig): Record<keyof LocalUrls, ListenAddress> {
  const { host, apiPort, portfolioPort, facilitatorPort } = config;
  return {
    api: { host, port: apiPort, portVariable: "API_PORT" },
    portfolio: { host, port: portfolioPort, portVariable: "PORTFOLIO_PORT" },
    facilitator: { host, port: facilitatorPort, portVariable: "FACILITATOR_PORT" },
  };
}

/** Reports a port in use before anything else starts. */
async function assertPortsFree(config: LocalConfig, log: Log): Promise<void> {
  // Nothing is served yet: a line that a server listens would mislead.
  const silent = log.child({}, { level: "silent" });
  for (const address of Object.values(listenAddresses(config))) {
    const probe = createHttpServer({ ...config, log: silent, checkReadiness: async () => ({ ready: true }) });
    await probe.listen(address);
    await probe.close();
  }
}

function unwrapSettled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
