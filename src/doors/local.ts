// `sextant local`: everything on this machine, with a chain, a database and an economy of its own.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createServer, type ListenAddress, type Server } from "../http/server.ts";
import { systemClock } from "../kit/clock.ts";
import { type Config, readConfig } from "../kit/config.ts";
import type { Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import { parseUint } from "../kit/uint.ts";
import type { Database } from "../store/database.ts";
import { aborted, type Command, type CommandContext } from "./command.ts";
import { closeSoon, facilitatorServer } from "./facilitator.ts";
import { createIndexerStatus, type IndexerStatus } from "./indexer-status.ts";
import { type LocalEconomy, startLocalEconomy } from "./local-economy.ts";
import { startLocalMarkets } from "./local-markets.ts";
import { localPayment, serveLocalPortfolio } from "./local-portfolio.ts";
import { localBanner, localStatusLine } from "./local-screen.ts";
import { forgetLocalState, writeLocalState } from "./local-state.ts";
import { readLocalTally } from "./local-tally.ts";
import { type OpenDatabase, openConfiguredDatabase } from "./open-database.ts";
import { runIndexer } from "./run-indexer.ts";
import { serveApi } from "./serve-api.ts";
import {
  apiSettings,
  databaseSettings,
  facilitatorSettings,
  indexerSettings,
  listenSettings,
  paymentSettings,
  portfolioSettings,
  requestSettings,
  sellerSettings,
  writeSettings,
} from "./settings.ts";
import { addStatusRoutes } from "./status-routes.ts";

const localSettings = {
  ...listenSettings,
  ...requestSettings,
  ...apiSettings,
  ...databaseSettings,
  ...indexerSettings,
  ...writeSettings,
  ...portfolioSettings,
  ...paymentSettings,
  ...sellerSettings,
  ...facilitatorSettings,
};

// A terminal shows a living line; a log file wants a line now and then.
const LINE_MS_TERMINAL = 1_000;
const LINE_MS_FILE = 15_000;
// The first few hundred blocks are indexed within a second or two.
const LEVEL_MS_MAX = 15_000;
const LEVEL_LOOK_MS = 50;

export const local: Command = {
  about:
    "Starts embedded chains with the protocol and a market on them, an embedded PostgreSQL, an economy that keeps them\n" +
    "busy, the indexer, the API and the portfolio service. Needs no key, no account and no network; everything is gone\n" +
    "when it stops. Where everything is stands in local.json in the data folder while it runs.",
  options: {
    seed: {
      type: "string",
      value: "N",
      meaning: "which economy is played; the same seed plays the same one (default 1)",
    },
    still: { type: "boolean", meaning: "stop the economy once there is something to look at" },
    data: {
      type: "string",
      value: "DIR",
      meaning: "keep the database in DIR when it stops; the next start there begins anew, as the chains do",
    },
  },
  async run(context) {
    const { environment, options, stop, say } = context;
    const config = readConfig(environment, localSettings);
    // The screen is for the person who started it; the machinery speaks up only when asked, or when in trouble.
    const log = environment.SEXTANT_LOG_LEVEL ? context.log : context.log.child({}, { level: "warn" });
    const seed = Number(parseUint(options.seed ?? "1", "--seed", 2n ** 32n - 1n));
    const status = createIndexerStatus(log, systemClock);
    const newServer = () => createServer({ ...config, log, ready: async () => status.readiness() });
    const apiAddress = { host: config.host, port: config.apiPort, variable: "API_PORT" };
    const portfolioAddress = { host: config.host, port: config.portfolioPort, variable: "PORTFOLIO_PORT" };
    const payAddress = { host: config.host, port: config.facilitatorPort, variable: "FACILITATOR_PORT" };
    for (const address of [apiAddress, portfolioAddress, payAddress])
      await refuseBusyPort(newServer(), address);
    const closers: (() => Promise<void>)[] = [];
    try {
      say("Starting three chains, a database and an economy …\n");
      // All take seconds and none needs another.
      const [opened, populated, traded] = await Promise.allSettled([
        openLocalDatabase(config, options.data as string | undefined, log),
        startLocalEconomy({ seed, signal: stop }),
        startLocalMarkets(log),
      ]);
      if (opened.status === "fulfilled") closers.push(opened.value.close);
      if (populated.status === "fulfilled") closers.push(populated.value.stop);
      if (traded.status === "fulfilled") closers.push(traded.value.stop);
      const { database } = settled(opened);
      const economy = settled(populated);
      const { markets } = settled(traded);
      const indexing = startIndexing(database, economy, config.logRangeMax, status, { ...context, log });
      closers.push(indexing.close);

      const urls = { api: "", portfolio: "http://127.0.0.1", facilitator: "" };
      const server = newServer();
      addStatusRoutes(server.app, status.registry);
      const nodes = [new Secret(economy.rpcUrl)];
      const writing = { deployment: economy.deployment, config, urls: nodes, listensAt: () => urls.api };
      const api = serveApi(server.app, { database, log, writing });
      closers.push(api.close, server.close);
      urls.api = await server.listen(apiAddress);

      const { server: payments } = facilitatorServer({ ...config, ...localPayment(economy) }, log);
      closers.push(() => closeSoon(payments));
      urls.facilitator = await payments.listen(payAddress);

      const shop = newServer();
      const sold = serveLocalPortfolio(shop.app, {
        config,
        economy,
        markets,
        facilitator: urls.facilitator,
        database,
        log,
        listensAt: () => urls.portfolio,
      });
      closers.push(sold.close, shop.close);
      urls.portfolio = await shop.listen(portfolioAddress);

      const state = { urls, economy, markets, offer: sold.offer };
      const file = await writeLocalState(config.dataFolder, state);
      closers.push(() => forgetLocalState(file));
      await Promise.race([level(status, stop), indexing.failed]);
      const playing = options.still === true ? aborted(stop) : economy.play(stop);
      say(localBanner({ ...state, file }));
      const screen = showStatus(context, async () =>
        localStatusLine({
          ...(await readLocalTally(database)),
          steps: economy.tally().steps,
          paid: sold.settled(),
          report: status.report(),
        }),
      );
      try {
        await Promise.race([aborted(stop), indexing.failed, playing.then(() => aborted(stop))]);
      } finally {
        clearInterval(screen);
        say("\nStopping …\n");
      }
    } finally {
      // The last thing started is the first to go.
      for (const close of closers.reverse()) await close();
    }
    return 0;
  },
};

/** Whoever clicks at once should find something: a moment more, but never long. */
async function level(status: IndexerStatus, stop: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < LEVEL_MS_MAX && !stop.aborted; waitedMs += LEVEL_LOOK_MS) {
    if (status.readiness().ready) return;
    await systemClock.sleep(LEVEL_LOOK_MS, stop).catch(() => undefined);
  }
}

/** A taken port is better told at once than after everything else has started. */
async function refuseBusyPort(probe: Server, address: ListenAddress): Promise<void> {
  await probe.listen(address);
  await probe.close();
}

/** The chain begins anew with every start, so the rows of the last one are of no use and these will be of none. */
async function openLocalDatabase(
  config: Config<typeof localSettings>,
  kept: string | undefined,
  log: Log,
): Promise<OpenDatabase> {
  const folder = kept ?? join(config.dataFolder, `local-${config.apiPort || process.pid}`);
  await rm(join(folder, "postgres"), { recursive: true, force: true });
  const { database, close } = await openConfiguredDatabase({ ...config, dataFolder: folder }, log, "local");
  return {
    database,
    async close() {
      await close();
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

function startIndexing(
  database: Database,
  economy: LocalEconomy,
  logRangeMax: number,
  status: IndexerStatus,
  { log, stop }: CommandContext,
): { failed: Promise<never>; close(): Promise<void> } {
  const leaving = new AbortController();
  const indexing = runIndexer({
    database,
    deployment: economy.deployment,
    urls: [new Secret(economy.rpcUrl), new Secret(economy.wsUrl)],
    logRangeMax,
    log,
    stop: AbortSignal.any([stop, leaving.signal]),
    report: status,
    onCall: status.onCall,
  });
  return {
    // Ends only by failing, or because it was told to.
    failed: indexing.then(() => new Promise<never>(() => undefined)),
    async close() {
      leaving.abort();
      await indexing.catch(() => undefined);
    },
  };
}

function settled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}

function showStatus({ say }: CommandContext, line: () => Promise<string>): NodeJS.Timeout {
  const terminal = process.stdout.isTTY === true;
  const show = async () => {
    // While the tables are made, or when everything is about to stop, there is nothing to count; the next line tells.
    const text = await line().catch(() => null);
    if (text !== null) say(terminal ? `\r\x1b[K${text}` : `${text}\n`);
  };
  return setInterval(() => void show(), terminal ? LINE_MS_TERMINAL : LINE_MS_FILE);
}
