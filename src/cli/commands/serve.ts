// `sextant serve`: runs the indexer, the API and, if configured, the portfolio service in one process on one database.
import { socketUrl } from "@sextant/embedded-postgres/shared";
import { type Config, type Environment, readConfig } from "../../config/read-config.ts";
import {
  databaseSettings,
  indexerSettings,
  paywallSettings,
  portfolioSettings,
} from "../../config/settings.ts";
import { describeIndexPosition, type IndexerReport, startStatusLine } from "../../indexer/status.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { Secret } from "../../lib/secret.ts";
import { type Deployment, readDeployment } from "../../protocol/deployment.ts";
import { readIndexerStatus } from "../../store/index/checkpoint.ts";
import { openEmbeddedPostgres } from "../../store/open-database.ts";
import { type Database, openDatabase } from "../../store/postgres/database.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { apiCommand } from "./api.ts";
import { indexerCommand } from "./indexer.ts";
import { portfolioCommand } from "./portfolio.ts";

type Service = { readonly name: "indexer" | "api" | "portfolio"; readonly run: RunCommand };

const settings = { ...databaseSettings, ...indexerSettings, ...portfolioSettings, ...paywallSettings };

export const serveCommand: RunCommand = async (context) => {
  const { print } = context;
  const config = readConfig(context.environment, settings);
  if (config.rpcUrls.length === 0) {
    throw new Fault(
      "CONFIG_INVALID",
      "A node of the chain is required, such as: sextant serve --rpc https://sepolia.base.org",
    );
  }
  const deployment = await readDeployment(config.network);
  // The status view replaces the info log, unless a level is set.
  const log = context.environment.SEXTANT_LOG_LEVEL ? context.log : context.log.child({}, { level: "warn" });
  print(`Starting ${deployment.network} (chain ${deployment.chainId}) …\n`);
  const { database, environment, close } = await openServeDatabase(context.environment, config, log);
  const services = startServices(config, { ...context, environment, log });
  try {
    const urls = await Promise.race([services.listening, services.ended.then(() => null)]);
    if (urls !== null) print(formatServeBanner(urls, { deployment, dataFolder: dataFolderOf(config) }));
    const statusLine = startStatusLine(print, async () => formatServeStatus(await readServeStatus(database)));
    try {
      await services.ended;
    } finally {
      clearInterval(statusLine);
      print("\nStopping …\n");
    }
  } finally {
    await services.stop();
    await database.close();
    await close();
  }
  return 0;
};

function dataFolderOf({ databaseUrl, dataFolder }: Config<typeof databaseSettings>): string | null {
  return databaseUrl === null ? dataFolder : null;
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

/** When one service ends, all stop, so that a supervisor sees one process with one exit code. */
function startServices(config: Config<typeof settings>, context: CommandContext): Services {
  const services: readonly Service[] = [
    { name: "indexer", run: indexerCommand },
    { name: "api", run: apiCommand },
    ...(isPortfolioConfigured(config) ? [{ name: "portfolio", run: portfolioCommand } as const] : []),
  ];
  const shutdown = new AbortController();
  const stop = AbortSignal.any([context.stop, shutdown.signal]);
  const urls = new Map<Service["name"], string>();
  let onAllListening: (urls: ReadonlyMap<Service["name"], string>) => void = () => undefined;
  const listening = new Promise<ReadonlyMap<Service["name"], string>>((resolve) => {
    onAllListening = resolve;
  });
  const running = services.map(({ name, run }) => {
    const onListening = (url: string) => {
      urls.set(name, url);
      if (urls.size === services.length) onAllListening(urls);
    };
    const log = context.log.child({ service: name });
    return run({ ...context, log, stop, onListening }).finally(() => shutdown.abort());
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

function isPortfolioConfigured(config: Config<typeof settings>): boolean {
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

function formatServeBanner(
  urls: ReadonlyMap<string, string>,
  { deployment, dataFolder }: { readonly deployment: Deployment; readonly dataFolder: string | null },
): string {
  const api = urls.get("api") ?? "";
  const portfolio = urls.get("portfolio");
  const database = dataFolder === null ? "DATABASE_URL" : `embedded, in ${dataFolder}`;
  return [
    "",
    `  Sextant is indexing and serving ${deployment.network} (chain ${deployment.chainId}).`,
    "",
    `  Indexing API       ${api}/docs`,
    ...(portfolio ? [`  Portfolio service  ${portfolio}/`] : []),
    `  Health, metrics    ${urls.get("indexer")}/ready   ${api}/metrics`,
    `  Database           ${database}`,
    "",
    "  Open in a browser",
    `    ${api}/intents?status=open`,
    `    ${api}/analytics/commerce`,
    "",
    "  Run in a terminal",
    `    curl -s '${api}/merchants?limit=3'`,
    `    curl -s ${api}/ready`,
    "",
    ...(portfolio
      ? []
      : ["  To sell wallet snapshots as well, set RPC_URL_8453 and PAY_TO: see docs/portfolio.md"]),
    "  Press Ctrl-C to stop; the next start resumes from here.",
    "",
    "",
  ].join("\n");
}

type ServeStatus = {
  readonly report: IndexerReport | null;
  /** Estimated number of stored events: counting a long history every second is expensive. */
  readonly events: string;
};

async function readServeStatus(database: Database): Promise<ServeStatus> {
  const { rows } = await database.query<{ events: string | null }>(
    "select n_live_tup::text as events from pg_stat_user_tables where relid = to_regclass('logs')",
  );
  const stored = await readIndexerStatus(database);
  return { report: (stored?.report as IndexerReport | undefined) ?? null, events: rows[0]?.events ?? "0" };
}

function formatServeStatus({ report, events }: ServeStatus): string {
  if (report === null) return "  Waiting for a node";
  const { reason } = report;
  const parts = [...describeIndexPosition(report), `${Number(events).toLocaleString("en")} events indexed`];
  return `  ${[...parts, ...(reason === null ? [] : [reason])].join(" · ")}`;
}
