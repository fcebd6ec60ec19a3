// Banner and status line of `sextant serve`.
import type { IndexerReport } from "../indexer/status.ts";
import { describeIndexPosition } from "../indexer/status-line.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { readIndexerStatus } from "../store/index/indexer-status.ts";
import type { Database } from "../store/postgres/database.ts";

export function formatServeBanner(
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

export async function readServeStatus(database: Database): Promise<ServeStatus> {
  const { rows } = await database.query<{ events: string | null }>(
    "select n_live_tup::text as events from pg_stat_user_tables where relid = to_regclass('logs')",
  );
  const stored = await readIndexerStatus(database);
  return { report: (stored?.report as IndexerReport | undefined) ?? null, events: rows[0]?.events ?? "0" };
}

export function formatServeStatus({ report, events }: ServeStatus): string {
  if (report === null) return "  Waiting for a node";
  const { reason } = report;
  const parts = [...describeIndexPosition(report), `${Number(events).toLocaleString("en")} events indexed`];
  return `  ${[...parts, ...(reason === null ? [] : [reason])].join(" · ")}`;
}
