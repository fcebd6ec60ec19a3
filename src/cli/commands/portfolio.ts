// `sextant portfolio`: the wallet snapshot service, paid per request.
import { Registry } from "prom-client";
import { createRpcMetrics } from "../../chain/rpc/metrics.ts";
import type { CallObserver } from "../../chain/rpc/types.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import {
  databaseSettings,
  gasSettings,
  listenSettings,
  paymentSettings,
  paywallSettings,
  portfolioSettings,
  requestSettings,
} from "../../config/settings.ts";
import { createHttpServer, type Readiness } from "../../http/server.ts";
import { Fault } from "../../lib/fault.ts";
import { closeWithDeadline } from "../../lib/shutdown.ts";
import { openPortfolioChains, type PortfolioChains } from "../../portfolio/chain-nodes.ts";
import { checkPaywallConfig, openPortfolioPaywall } from "../../portfolio/http/open-paywall.ts";
import { countPaymentOutcomes, servePortfolio } from "../../portfolio/http/serve.ts";
import { POSITION_READERS } from "../../portfolio/positions/readers.ts";
import { createPriceSources } from "../../portfolio/prices/sources.ts";
import { createAlchemyProvider } from "../../portfolio/providers/alchemy/provider.ts";
import { rpcHoldingsProvider } from "../../portfolio/providers/rpc/provider.ts";
import type { HoldingsProvider } from "../../portfolio/types.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import type { Database } from "../../store/postgres/database.ts";
import { type RunCommand, waitForAbort } from "../command.ts";

const settings = {
  ...listenSettings,
  ...requestSettings,
  ...databaseSettings,
  ...portfolioSettings,
  ...paymentSettings,
  ...paywallSettings,
  ...gasSettings,
};

export const portfolioCommand: RunCommand = async ({ environment, log, stop, onListening }) => {
  const config = readConfig(environment, settings);
  const registry = new Registry();
  // What is configured wrongly is told before anything is started for it.
  checkPaywallConfig(config);
  refuseNowhere(config);
  const onCall = createRpcMetrics(registry);
  const provider = openProvider(config, onCall);
  let url = `http://${config.host}:${config.portfolioPort}`;
  const closers: (() => Promise<void> | void)[] = [];
  try {
    const nodes = await openPortfolioChains(config, { log, onCall, signal: stop });
    closers.push(nodes.close);
    const { database, close } = await openConfiguredDatabase(config, log, "portfolio");
    closers.push(close);
    const count = countPaymentOutcomes(registry);
    const needs = { database, log, count, onCall, listenUrl: () => url, signal: stop };
    const seller = await openPortfolioPaywall(config, needs);
    closers.push(seller.close);
    const server = createHttpServer({
      ...config,
      log,
      registry,
      checkReadiness: () => readiness(database, nodes),
    });
    const service = servePortfolio(server.app, {
      chains: nodes.chains,
      provider,
      priceSources: createPriceSources(config.portfolioDefiLlama ? { defiLlama: {} } : {}),
      positionReaders: POSITION_READERS,
      gate: seller.gate,
      devBypass: seller.devBypass,
      registry,
      log,
    });
    closers.push(() => closeWithDeadline(service.close, server.close));
    const address = { host: config.host, port: config.portfolioPort, portVariable: "PORTFOLIO_PORT" };
    url = await server.listen(address);
    log.info(`Portfolio service on ${url}`);
    onListening?.(url);
    await waitForAbort(stop);
  } catch (error) {
    // Told to stop while it waited for a node.
    if (!stop.aborted) throw error;
  } finally {
    for (const end of closers.reverse()) await end();
  }
  return 0;
};

function openProvider(config: Config<typeof portfolioSettings>, onCall: CallObserver): HoldingsProvider {
  if (config.portfolioProvider === "rpc") return rpcHoldingsProvider;
  if (config.alchemyApiKey === null) {
    throw new Fault("CONFIG_INVALID", "PORTFOLIO_PROVIDER=alchemy needs ALCHEMY_API_KEY.");
  }
  return createAlchemyProvider({ key: config.alchemyApiKey, onCall });
}

/** "Everywhere" is no address that a client could be told to come to. */
function refuseNowhere({ host, portfolioPublicUrl }: Config<typeof settings>): void {
  if (portfolioPublicUrl !== null || !["0.0.0.0", "::"].includes(host)) return;
  throw new Fault(
    "CONFIG_INVALID",
    `PORTFOLIO_PUBLIC_URL must say where clients reach the service, because HOST=${host} does not.`,
  );
}

async function readiness(database: Database, nodes: PortfolioChains): Promise<Readiness> {
  try {
    await database.query("select 1");
  } catch {
    return { ready: false, reason: "The database does not answer." };
  }
  const silent = nodes.unreachableChains();
  if (silent.length > 0) return { ready: false, reason: `No node answers for ${silent.join(", ")}.` };
  return { ready: true };
}
