// `sextant serve`: runs the indexer, the API and, if configured, the portfolio service in one process on one database.
import { resolve } from "node:path";
import { socketUrl } from "@sextant/embedded-postgres/shared";
import { indexerSettings } from "../../config/indexing-settings.ts";
import { channelSettings, paywallSettings } from "../../config/payment-settings.ts";
import { portfolioSettings, readPortfolioNodes } from "../../config/portfolio-settings.ts";
import { type Config, type Environment, readConfig } from "../../config/read-config.ts";
import { databaseSettings, metricsSettings } from "../../config/service-settings.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { Secret } from "../../lib/secret.ts";
import { createCloseStack } from "../../lib/shutdown.ts";
import { registerRun } from "../../local/registered-runs.ts";
import { deleteRunFile, type RunState, writeRunFile } from "../../local/run-files.ts";
import { isDeploymentFile } from "../../protocol/deployment.ts";
import { openEmbeddedPostgres } from "../../store/open-database.ts";
import { type Database, openDatabase } from "../../store/postgres/database.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { startStatusLine } from "../display/progress.ts";
import {
  assertNodes,
  chooseDeployments,
  chooseServedDeployments,
  type InstalledDeployment,
  listKeylessNodes,
} from "../installation.ts";
import { findStateFolder } from "../run-folder.ts";
import { createServeStatus, formatServeBanner, readShownDeployments } from "../serve-view.ts";
import { apiCommand } from "./api.ts";
import { indexerCommand } from "./indexer.ts";
import { portfolioCommand } from "./portfolio.ts";

type PortfolioNodes = ReturnType<typeof readPortfolioNodes>;

type Service = {
  readonly name: "indexer" | "api" | "portfolio";
  readonly run: RunCommand;
  /** The variables that the environment has instead. */
  readonly environment?: Environment;
};

const settings = {
  ...databaseSettings,
  ...indexerSettings,
  ...metricsSettings,
  ...portfolioSettings,
  ...paywallSettings,
  ...channelSettings,
};

export const serveCommand: RunCommand = async (context) => {
  const { print } = context;
  const config = readConfig(context.environment, settings);
  const indexed = await chooseDeployments(context);
  if (indexed.some(({ base, rpcUrls }) => base === "" && rpcUrls.length === 0)) {
    throw new Fault(
      "CONFIG_INVALID",
      "A node of the chain is required, such as: sextant serve --rpc https://sepolia.base.org",
    );
  }
  assertNodes(indexed);
  const services = chooseServices(config, readPortfolioNodes(context.environment));
  const served = await chooseServedDeployments(context);
  // The status view replaces the info log, unless a level is set.
  const log = context.environment.SEXTANT_LOG_LEVEL ? context.log : context.log.child({}, { level: "warn" });
  const names = served.map(({ deployment: { network, chainId } }) => `${network} (chain ${chainId})`);
  print(`Starting ${names.join(", ")} …\n`);
  const { database, environment, close } = await openServeDatabase(context.environment, config, log);
  // One line for all services: the one below.
  const running = startServices(services, { ...context, environment, log, progress: undefined });
  const opened = createCloseStack();
  opened.push(close, database.close, running.stop);
  try {
    const urls = await Promise.race([running.listening, running.ended.then(() => null)]);
    const readStates = () => readShownDeployments(database, served);
    if (urls !== null) {
      const dataFolder = dataFolderOf(config);
      const state = describeRun(config, served, urls);
      const file = await writeRunFile(config.dataFolder, "serve", state);
      opened.push(async () => void (await deleteRunFile(file)));
      const run = { api: state.api, dataFolder: config.dataFolder };
      opened.push(await registerRun(findStateFolder(context.environment), run, log));
      print(
        formatServeBanner({ urls, states: await readStates(), dataFolder, channelsOn: config.channelsOn }),
      );
    }
    const formatStatus = createServeStatus();
    const stopStatus = startStatusLine(context, async () => formatStatus(await readStates()));
    try {
      await running.ended;
    } finally {
      stopStatus();
      print("\nStopping …\n");
    }
  } finally {
    await opened.closeAll();
  }
  return 0;
};

function dataFolderOf({ databaseUrl, dataFolder }: Config<typeof databaseSettings>): string | null {
  return databaseUrl === null ? dataFolder : null;
}

/** For commands alongside it: what they read, and what those of the operator work on. */
function describeRun(
  config: Config<typeof settings>,
  served: readonly InstalledDeployment[],
  urls: ReadonlyMap<string, string>,
): RunState {
  const portfolio = urls.get("portfolio");
  const [network = "", ...others] = served.map(({ source }) => toAbsoluteSource(source));
  return {
    pid: process.pid,
    api: urls.get("api") ?? "",
    ...(portfolio === undefined ? {} : { portfolio }),
    hasDatabaseUrl: config.databaseUrl !== null,
    operator: {
      NETWORK: network,
      ...(others.length === 0 ? {} : { DEPLOYMENTS: others.join(",") }),
      ...listKeylessNodes(served),
      SEXTANT_DATA: resolve(config.dataFolder),
    },
  };
}

/** A command may run in another folder. */
function toAbsoluteSource(source: string): string {
  return isDeploymentFile(source) ? resolve(source) : source;
}

/** Starts one embedded server for all services and passes it to them as DATABASE_URL. */
async function openServeDatabase(
  environment: Environment,
  config: Config<typeof databaseSettings>,
  log: Log,
): Promise<{ database: Database; environment: Environment; close(): Promise<void> }> {
  const embedded = config.databaseUrl === null ? await openEmbeddedPostgres(config.dataFolder, log) : null;
  const url = embedded ? new Secret(socketUrl(embedded.connection)) : (config.databaseUrl ?? undefined);
  try {
    if (url === undefined) throw new Error("a database is either embedded or has a URL");
    const database = await openDatabase({
      connection: { url },
      schema: config.databaseSchema,
      poolMax: 1,
      log,
      applicationName: "sextant serve",
    });
    return {
      database,
      environment: { ...environment, DATABASE_URL: url.reveal() },
      close: async () => embedded?.stop(),
    };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

type Services = {
  /** URL of each service, once all listen. */
  readonly listening: Promise<ReadonlyMap<Service["name"], string>>;
  /** Rejects when a service fails. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
};

function chooseServices(config: Config<typeof settings>, nodes: PortfolioNodes): readonly Service[] {
  const { metricsPort } = config;
  const services: readonly Service[] = [
    { name: "indexer", run: indexerCommand },
    { name: "api", run: apiCommand },
  ];
  if (!isPortfolioConfigured(config, nodes)) return services;
  // The API gets the given port and the portfolio service the next one. With 0 the system chooses both.
  if (typeof metricsPort !== "number" || metricsPort === 0) {
    return [...services, { name: "portfolio", run: portfolioCommand }];
  }
  if (metricsPort === PORT_MAX) {
    throw new Fault(
      "CONFIG_INVALID",
      `SEXTANT_METRICS_PORT must be at most ${PORT_MAX - 1}: the metrics of the portfolio service are on the port after it.`,
    );
  }
  const environment = { SEXTANT_METRICS_PORT: String(metricsPort + 1) };
  return [...services, { name: "portfolio", run: portfolioCommand, environment }];
}

const PORT_MAX = 65_535;

/** When one service ends, all stop, so that a supervisor sees one process with one exit code. */
function startServices(services: readonly Service[], context: CommandContext): Services {
  const shutdown = new AbortController();
  const stop = AbortSignal.any([context.stop, shutdown.signal]);
  const urls = new Map<Service["name"], string>();
  let onAllListening: (urls: ReadonlyMap<Service["name"], string>) => void = () => undefined;
  const listening = new Promise<ReadonlyMap<Service["name"], string>>((resolve) => {
    onAllListening = resolve;
  });
  const running = services.map(({ name, run, environment }) => {
    const onListening = (url: string) => {
      urls.set(name, url);
      if (urls.size === services.length) onAllListening(urls);
    };
    const log = context.log.child({ service: name });
    const own = { ...context.environment, ...environment };
    return run({ ...context, environment: own, log, stop, onListening }).finally(() => shutdown.abort());
  });
  return {
    listening,
    ended: Promise.all(running),
    async stop() {
      shutdown.abort();
      await Promise.allSettled(running);
    },
  };
}

function isPortfolioConfigured(config: Config<typeof settings>, nodes: PortfolioNodes): boolean {
  const hasNodes = [...nodes.values()].some((urls) => urls.length > 0) || config.alchemyApiKey !== null;
  return hasNodes && (config.payTo !== null || config.devBypass);
}
