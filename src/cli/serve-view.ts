// Shows the state of `sextant serve`: every deployment with its URL and block, commands to copy, and the status line.

import { describeIndexPosition, type IndexerReport } from "../indexer/status.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { PROGRAM } from "../lib/program.ts";
import { readCheckpoint, readIndexerStatus } from "../store/index/checkpoint.ts";
import type { Database } from "../store/postgres/database.ts";
import { WorkMeter } from "./display/progress.ts";
import type { InstalledDeployment } from "./installation.ts";

type ShownDeployment = {
  readonly installed: InstalledDeployment;
  /** The newest indexed block; null before the first. */
  readonly block: number | null;
  readonly report: IndexerReport | null;
  /** Estimated number of stored events: counting a long history every second is expensive. */
  readonly events: string;
};

/** One connection reads all schemas, one after the other. */
export async function readShownDeployments(
  database: Database,
  installed: readonly InstalledDeployment[],
): Promise<readonly ShownDeployment[]> {
  const states: ShownDeployment[] = [];
  for (const each of installed) states.push(await readShownDeployment(database, each));
  return states;
}

function readShownDeployment(database: Database, installed: InstalledDeployment): Promise<ShownDeployment> {
  return database.transaction(async (session) => {
    await session.query(`set local search_path to "${installed.databaseSchema}"`);
    const { rows } = await session.query<{ events: string | null }>(
      "select n_live_tup::text as events from pg_stat_user_tables where relid = to_regclass('logs')",
    );
    const stored = await readIndexerStatus(session);
    const checkpoint = await readCheckpoint(session);
    return {
      installed,
      block: checkpoint?.block.number ?? null,
      report: (stored?.report as IndexerReport | undefined) ?? null,
      events: rows[0]?.events ?? "0",
    };
  });
}

type Banner = {
  readonly urls: ReadonlyMap<string, string>;
  readonly states: readonly ShownDeployment[];
  /** The URL of the embedded database; null with one of the operator's own. */
  readonly dataFolder: string | null;
  /** Whether snapshots are sold by payment channel too. */
  readonly channelsOn?: boolean;
};

export function formatServeBanner({ urls, states, dataFolder, channelsOn }: Banner): string {
  const api = urls.get("api") ?? "";
  const portfolio = urls.get("portfolio");
  const database = dataFolder === null ? "DATABASE_URL" : `embedded, in ${dataFolder}`;
  return [
    "",
    ...formatDeployments(api, states),
    ...(portfolio
      ? [`  Portfolio service  ${portfolio}/${channelsOn ? "   paid by transfer or channel" : ""}`]
      : []),
    `  Health, metrics    ${urls.get("indexer")}/ready   ${urls.get("indexer")}/metrics`,
    `  Database           ${database}`,
    "",
    "  Open in a browser",
    `    ${api}/explorer`,
    `    ${api}/explorer/analytics`,
    "",
    "  Run in a terminal",
    `    curl -s '${api}/merchants?limit=3'`,
    `    curl -s ${api}/ready`,
    `    ${PROGRAM} list intents --url ${api}`,
    `    ${PROGRAM} watch --url ${api}`,
    "",
    ...(portfolio ? [] : ["  To sell wallet snapshots too, set RPC_URL_8453 and PAY_TO: docs/portfolio.md"]),
    "  Press Ctrl-C to stop; the next start resumes from here.",
    "",
    "",
  ].join("\n");
}

function formatDeployments(api: string, states: readonly ShownDeployment[]): readonly string[] {
  const [first, ...others] = states;
  if (first && others.length === 0) {
    const { network, chainId } = first.installed.deployment;
    return [
      `  Sextant is indexing and serving ${network} (chain ${chainId}).`,
      "",
      `  Indexing API       ${api}/docs`,
    ];
  }
  const lines = states.map(({ installed: { name, base, deployment }, block }) => ({
    name,
    url: `${api}${base}/docs`,
    rest: `chain ${deployment.chainId}, ${block === null ? "nothing indexed yet" : `block ${block}`}`,
  }));
  const width = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length));
  const nameWidth = Math.max(17, width(lines.map(({ name }) => name)));
  const urlWidth = width(lines.map(({ url }) => url));
  return [
    `  Sextant serves ${states.length} deployments: ${api}/deployments`,
    "",
    ...lines.map(({ name, url, rest }) => `  ${name.padEnd(nameWidth)}  ${url.padEnd(urlWidth)}  ${rest}`),
    "",
  ];
}

/** The returned function is called again and again, and measures how fast each deployment reads its history. */
export function createServeStatus(
  clock: Pick<Clock, "nowMs"> = systemClock,
): (states: readonly ShownDeployment[]) => string {
  const meters: WorkMeter[] = [];
  return (states) => {
    const parts = states.map(({ installed, report, events }, index) => {
      meters[index] ??= new WorkMeter(clock);
      const meter = meters[index];
      if (states.length === 1) return formatOne(report, events, meter);
      // Several deployments show what is needed to see which one is behind.
      const position =
        report === null ? "waiting for a node" : describeIndexPosition(report, meter).join(", ");
      return `${installed.name} ${position}`;
    });
    return `  ${parts.join(" · ")}`;
  };
}

function formatOne(report: IndexerReport | null, events: string, meter: WorkMeter): string {
  if (report === null) return "Waiting for a node";
  const { reason } = report;
  const parts = [
    ...describeIndexPosition(report, meter),
    `${Number(events).toLocaleString("en")} events indexed`,
  ];
  return [...parts, ...(reason === null ? [] : [reason])].join(" · ");
}
