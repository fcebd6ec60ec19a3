// `sextant portfolio`: serves wallet snapshots, paid per request.

import { Registry } from "prom-client";
import { createRpcMetrics } from "../../chain/rpc/metrics.ts";
import type { CallObserver } from "../../chain/rpc/types.ts";
import {
  channelSettings,
  gasSettings,
  ledgerSettings,
  paymentSettings,
  paywallSettings,
} from "../../config/payment-settings.ts";
import { portfolioSettings, readPortfolioNodes } from "../../config/portfolio-settings.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import {
  databaseSettings,
  listenSettings,
  metricsSettings,
  requestSettings,
  signingSettings,
} from "../../config/service-settings.ts";
import { createHttpServer } from "../../http/server.ts";
import type { Readiness } from "../../http/status-routes.ts";
import { Fault } from "../../lib/fault.ts";
import { delayOptimization } from "../../lib/optimization.ts";
import { closeWithDeadline, createCloseStack, waitForAbort } from "../../lib/shutdown.ts";
import { checkLedgerReplication, type FindLedgerRisk } from "../../payments/ledger/replication.ts";
import { countPaymentOutcomes } from "../../payments/watch-payments.ts";
import { openPortfolioChains, type PortfolioChains } from "../../portfolio/chain-nodes.ts";
import { createGoldRush } from "../../portfolio/cross-check/goldrush.ts";
import { openStoredSnapshots } from "../../portfolio/diff/figures.ts";
import { checkPaywallConfig, openPortfolioPaywall } from "../../portfolio/http/open-paywall.ts";
import { servePortfolio } from "../../portfolio/http/serve.ts";
import { POSITION_READERS } from "../../portfolio/positions/readers.ts";
import { createPriceSources } from "../../portfolio/prices/sources.ts";
import { createAlchemyProvider } from "../../portfolio/providers/alchemy/provider.ts";
import { rpcHoldingsProvider } from "../../portfolio/providers/rpc/provider.ts";
import { openRememberedWallets } from "../../portfolio/remember-wallets.ts";
import type { HoldingsProvider } from "../../portfolio/types.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { openSnapshotTable } from "../../store/postgres/stored-snapshots.ts";
import { openWalletLogsTable } from "../../store/postgres/wallet-logs.ts";
import type { RunCommand } from "../command.ts";
import { observeDebts } from "../observe-debts.ts";
import { readSigningKeys } from "../signing-keys.ts";

const settings = {
  ...listenSettings,
  ...metricsSettings,
  ...requestSettings,
  ...databaseSettings,
  ...ledgerSettings,
  ...portfolioSettings,
  ...paymentSettings,
  ...paywallSettings,
  ...channelSettings,
  ...gasSettings,
  ...signingSettings,
};

export const portfolioCommand: RunCommand = async ({ environment, log, stop, onListening }) => {
  const config = readConfig(environment, settings);
  const registry = new Registry();
  // Report configuration errors before anything starts.
  checkPaywallConfig(config);
  assertPublicUrl(config);
  delayOptimization();
  const signingKeys = readSigningKeys(config);
  const onCall = createRpcMetrics(registry);
  const provider = openProvider(config, onCall);
  let url = `http://${config.host}:${config.portfolioPort}`;
  const opened = createCloseStack();
  try {
    const nodes = await openPortfolioChains(config, readPortfolioNodes(environment), {
      log,
      onCall,
      signal: stop,
    });
    opened.push(nodes.close);
    const { database, close } = await openConfiguredDatabase(config, log, "portfolio");
    opened.push(close);
    const findLedgerRisk = await checkLedgerReplication(database, config, log);
    const count = countPaymentOutcomes(registry);
    const dependencies = { database, log, count, onCall, listenUrl: () => url, signingKeys, signal: stop };
    const paywall = await openPortfolioPaywall(config, dependencies);
    opened.push(paywall.close);
    const { decimals } = paywall.sold[0]?.sale.offer ?? { decimals: 0 };
    await observeDebts(paywall, { registry, decimals, log });
    const server = createHttpServer({
      ...config,
      log,
      registry,
      checkReadiness: () => checkReadiness(findLedgerRisk, paywall.findProblem, nodes),
    });
    const records = openRecordStore(database);
    const remembered = openRememberedWallets(openWalletLogsTable(records), {
      enabled: config.rememberWallets,
      log,
    });
    opened.push(remembered.close);
    const service = servePortfolio(server.app, {
      chains: nodes.chains.map(remembered.remember),
      provider,
      priceSources: createPriceSources(config.portfolioDefiLlama ? { defiLlama: {} } : {}),
      positionReaders: POSITION_READERS,
      storedSnapshots: openStoredSnapshots(openSnapshotTable(records)),
      crossCheck: config.goldRushApiKey === null ? null : createGoldRush({ key: config.goldRushApiKey }),
      sold: paywall.sold,
      reconcile: paywall.reconcile,
      devBypass: paywall.devBypass,
      signingKeys,
      registry,
      log,
    });
    opened.push(() => closeWithDeadline([service.close, server.close]));
    const metrics = { host: config.metricsHost, port: config.metricsPort };
    const address = { host: config.host, port: config.portfolioPort, portVariable: "PORTFOLIO_PORT" };
    url = await server.listen({ ...address, metrics });
    log.info({ component: "cli", event: "portfolio_listening", url }, "Portfolio service is listening");
    onListening?.(url);
    await waitForAbort(stop);
  } catch (error) {
    // An abort while waiting for a node is a normal shutdown.
    if (!stop.aborted) throw error;
  } finally {
    await opened.closeAll();
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

/** A wildcard address is not a URL that clients can use. */
function assertPublicUrl({ host, portfolioPublicUrl }: Config<typeof settings>): void {
  if (portfolioPublicUrl !== null || !["0.0.0.0", "::"].includes(host)) return;
  throw new Fault(
    "CONFIG_INVALID",
    `PORTFOLIO_PUBLIC_URL must be the URL for clients, because HOST=${host} is not one.`,
  );
}

async function checkReadiness(
  findLedgerRisk: FindLedgerRisk,
  findProblem: () => Promise<string | null>,
  nodes: PortfolioChains,
): Promise<Readiness> {
  try {
    const risk = await findLedgerRisk();
    if (risk !== null) return { ready: false, reason: risk };
  } catch {
    return { ready: false, reason: "The database does not respond." };
  }
  // A payment node that is down for a moment stops no offer; a request with a payment says so itself.
  const problem = await findProblem().catch(() => null);
  if (problem !== null) return { ready: false, reason: problem };
  const unreachable = nodes.unreachableChains();
  if (unreachable.length > 0) {
    return { ready: false, reason: `No node responds for ${unreachable.join(", ")}.` };
  }
  return { ready: true };
}
