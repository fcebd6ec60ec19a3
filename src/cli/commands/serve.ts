// `sextant serve`: indexer, API and, where it is configured, the portfolio service, on one database in one process.
import { socketUrl } from "@sextant/embedded-postgres/shared";
import { type Config, type Environment, readConfig } from "../../config/read-config.ts";
import {
  databaseSettings,
  indexerSettings,
  paywallSettings,
  portfolioSettings,
} from "../../config/settings.ts";
import { startStatusLine } from "../../indexer/status-line.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { Secret } from "../../lib/secret.ts";
import { readDeployment } from "../../protocol/read-deployment.ts";
import { openEmbeddedPostgres } from "../../store/open-database.ts";
import { type Database, openDatabase } from "../../store/postgres/database.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { formatServeBanner, formatServeStatus, readServeStatus } from "../serve-status-view.ts";
import { apiCommand } from "./api.ts";
import { indexerCommand } from "./indexer.ts";
import { portfolioCommand } from "./portfolio.ts";

type Service = { readonly name: "indexer" | "api" | "portfolio"; readonly run: RunCommand };

const settings = { ...databaseSettings, ...indexerSettings, ...portfolioSettings, ...paywallSettings };

export const serveCommand: RunCommand = async (context) => {
  const { options, print: say } = context;
  const given = withOptions(context.environment, options);
  const config = readConfig(given, settings);
  if (config.rpcUrls.length === 0) {
    throw new Fault(
      "CONFIG_INVALID",
      "Name a node of the chain, such as: sextant serve --rpc https://sepolia.base.org",
    );
  }
  const deployment = await readDeployment(config.network);
  // The status view is for the person who started it; services log warnings only, unless a level is set.
  const log = given.SEXTANT_LOG_LEVEL ? context.log : context.log.child({}, { level: "warn" });
  say(`Starting ${deployment.network} (chain ${deployment.chainId}) …\n`);
  const { database, environment, close } = await openServeDatabase(given, config, log);
  const services = startServices(config, { ...context, environment, log });
  try {
    const urls = await Promise.race([services.listening, services.ended.then(() => null)]);
    if (urls !== null) say(formatServeBanner(urls, { deployment, dataFolder: dataFolderOf(config) }));
    const screen = startStatusLine(say, async () => formatServeStatus(await readServeStatus(database)));
    try {
      await services.ended;
    } finally {
      clearInterval(screen);
      say("\nStopping …\n");
    }
  } finally {
    await services.stop();
    await database.close();
    await close();
  }
  return 0;
};

/** What is named on the command line wins over the environment. */
function withOptions(environment: Environment, options: CommandContext["options"]): Environment {
  const named = { NETWORK: options.network, RPC_URL: options.rpc, SEXTANT_DATA: options.data };
  const given = Object.entries(named).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return { ...environment, ...Object.fromEntries(given) };
}

function dataFolderOf({ databaseUrl, dataFolder }: Config<typeof databaseSettings>): string | null {
  return databaseUrl === null ? dataFolder : null;
}

/** One embedded server for all services, which then find it as they would any other. */
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
  /** The address of each service, once all listen. */
  readonly listening: Promise<ReadonlyMap<Service["name"], string>>;
  /** Rejects with the failure of the first service that fails. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
};

/** All of them stop with the first one that ends, so that a supervisor sees one process with one outcome. */
function startServices(config: Config<typeof settings>, context: CommandContext): Services {
  const services: readonly Service[] = [
    { name: "indexer", run: indexerCommand },
    { name: "api", run: apiCommand },
    ...(sellsSnapshots(config) ? [{ name: "portfolio", run: portfolioCommand } as const] : []),
  ];
  const leaving = new AbortController();
  const stop = AbortSignal.any([context.stop, leaving.signal]);
  const urls = new Map<Service["name"], string>();
  let tell: (urls: ReadonlyMap<Service["name"], string>) => void = () => undefined;
  const listening = new Promise<ReadonlyMap<Service["name"], string>>((resolve) => {
    tell = resolve;
  });
  const running = services.map(({ name, run }) => {
    const onListening = (url: string) => {
      urls.set(name, url);
      if (urls.size === services.length) tell(urls);
    };
    const log = context.log.child({ service: name });
    return run({ ...context, log, stop, onListening }).finally(() => leaving.abort());
  });
  return {
    listening,
    ended: Promise.all(running),
    async stop() {
      leaving.abort();
      await Promise.allSettled(running);
    },
  };
}

function sellsSnapshots(config: Config<typeof settings>): boolean {
  const nodes = [
    config.rpcUrlsBase,
    config.rpcUrlsEthereum,
    config.rpcUrlsArbitrum,
    config.rpcUrlsOptimism,
    config.rpcUrlsPolygon,
  ];
  const hasNodes = nodes.some((urls) => urls.length > 0) || config.alchemyApiKey !== null;
  return hasNodes && (config.payTo !== null || config.devBypass);
}
