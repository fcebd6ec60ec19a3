// `sextant local`: everything on this machine, with a chain, a database and an economy of its own.

import { Registry } from "prom-client";
import { serveApi } from "../../api/serve.ts";
import { createRpcMetrics } from "../../chain/rpc/metrics.ts";
import { readConfig } from "../../config/read-config.ts";
import {
  apiSettings,
  databaseSettings,
  facilitatorSettings,
  indexerSettings,
  listenSettings,
  paymentSettings,
  paywallSettings,
  portfolioSettings,
  requestSettings,
  writeSettings,
} from "../../config/settings.ts";
import { createHttpServer, type HttpServer, type ListenAddress } from "../../http/server.ts";
import { addStatusRoutes } from "../../http/status-routes.ts";
import { createIndexerStatus } from "../../indexer/status.ts";
import { startStatusLine } from "../../indexer/status-line.ts";
import { systemClock } from "../../lib/clock.ts";
import { Secret } from "../../lib/secret.ts";
import { closeWithDeadline } from "../../lib/shutdown.ts";
import { parseUint } from "../../lib/uint.ts";
import { openLocalDatabase } from "../../local/database.ts";
import { startLocalIndexing, waitUntilSynced } from "../../local/indexing.ts";
import { startLocalMarkets } from "../../local/markets.ts";
import { createLocalPaymentConfig, serveLocalPortfolio } from "../../local/portfolio.ts";
import { startLocalSimulation } from "../../local/simulation.ts";
import { deleteLocalState, writeLocalState } from "../../local/state-file.ts";
import { formatLocalBanner, formatLocalStatus, readLocalCounters } from "../../local/status-view.ts";
import { type RunCommand, waitForAbort } from "../command.ts";
import { createFacilitatorServer } from "./facilitator.ts";

const localSettings = {
  ...listenSettings,
  ...requestSettings,
  ...apiSettings,
  ...databaseSettings,
  ...indexerSettings,
  ...writeSettings,
  ...portfolioSettings,
  ...paymentSettings,
  ...paywallSettings,
  ...facilitatorSettings,
};

export const localCommand: RunCommand = async (context) => {
  const { environment, options, stop, print: say } = context;
  const config = readConfig(environment, localSettings);
  // The screen is for the person who started it; the machinery speaks up only when asked, or when in trouble.
  const log = environment.SEXTANT_LOG_LEVEL ? context.log : context.log.child({}, { level: "warn" });
  const seed = Number(parseUint(options.seed ?? "1", "--seed", 2n ** 32n - 1n));
  const status = createIndexerStatus(log, systemClock);
  const newServer = () =>
    createHttpServer({ ...config, log, checkReadiness: async () => status.readiness() });
  const apiAddress = { host: config.host, port: config.apiPort, portVariable: "API_PORT" };
  const portfolioAddress = { host: config.host, port: config.portfolioPort, portVariable: "PORTFOLIO_PORT" };
  const payAddress = { host: config.host, port: config.facilitatorPort, portVariable: "FACILITATOR_PORT" };
  for (const address of [apiAddress, portfolioAddress, payAddress])
    await refuseBusyPort(newServer(), address);
  const portfolioRegistry = new Registry();
  const portfolioCalls = createRpcMetrics(portfolioRegistry);
  const closers: (() => Promise<void>)[] = [];
  try {
    say("Starting three chains, a database and an economy …\n");
    // All take seconds and none needs another.
    const [opened, populated, traded] = await Promise.allSettled([
      openLocalDatabase(config, options.data as string | undefined, log),
      startLocalSimulation({ seed, signal: stop }),
      startLocalMarkets(log, portfolioCalls),
    ]);
    if (opened.status === "fulfilled") closers.push(opened.value.close);
    if (populated.status === "fulfilled") closers.push(populated.value.stop);
    if (traded.status === "fulfilled") closers.push(traded.value.stop);
    const { database } = settled(opened);
    const economy = settled(populated);
    const { markets } = settled(traded);
    const indexing = startLocalIndexing(database, economy, config, status, { ...context, log });
    closers.push(indexing.close);

    const urls = { api: "", portfolio: "http://127.0.0.1", facilitator: "" };
    const server = newServer();
    addStatusRoutes(server.app, status.registry);
    const nodes = [new Secret(economy.rpcUrl)];
    const { onCall } = status;
    const writing = {
      deployment: economy.deployment,
      config,
      urls: nodes,
      onCall,
      listenUrl: () => urls.api,
    };
    const api = serveApi(server, { database, log, writes: writing });
    closers.push(api.close, server.close);
    urls.api = await server.listen(apiAddress);

    const paying = { ...config, ...createLocalPaymentConfig(economy) };
    const { server: payments } = await createFacilitatorServer(paying, { database, log });
    closers.push(() => closeWithDeadline(payments.close));
    urls.facilitator = await payments.listen(payAddress);

    const shop = newServer();
    const sold = await serveLocalPortfolio(shop.app, {
      config,
      economy,
      markets,
      facilitator: urls.facilitator,
      database,
      log,
      registry: portfolioRegistry,
      onCall: portfolioCalls,
      listensAt: () => urls.portfolio,
    });
    closers.push(() => closeWithDeadline(sold.close, shop.close));
    urls.portfolio = await shop.listen(portfolioAddress);

    const state = { urls, simulation: economy, markets, offer: sold.offer };
    const file = await writeLocalState(config.dataFolder, state);
    closers.push(() => deleteLocalState(file));
    await Promise.race([waitUntilSynced(status, stop), indexing.failed]);
    const playing = options.still === true ? waitForAbort(stop) : economy.run(stop);
    say(formatLocalBanner({ ...state, file }));
    const screen = startStatusLine(say, async () =>
      formatLocalStatus({
        ...(await readLocalCounters(database)),
        steps: economy.counters().steps,
        paid: sold.settledCount(),
        report: status.report(),
      }),
    );
    try {
      await Promise.race([waitForAbort(stop), indexing.failed, playing.then(() => waitForAbort(stop))]);
    } finally {
      clearInterval(screen);
      say("\nStopping …\n");
    }
  } finally {
    // The last thing started is the first to go.
    for (const close of closers.reverse()) await close();
  }
  return 0;
};

/** A taken port is better told at once than after everything else has started. */
async function refuseBusyPort(probe: HttpServer, address: ListenAddress): Promise<void> {
  await probe.listen(address);
  await probe.close();
}

function settled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
