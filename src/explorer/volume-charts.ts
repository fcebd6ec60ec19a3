// Settled volumes over time as charts: one for each token, because units of different tokens make no sum.

import { formatAmount } from "../lib/decimal.ts";
import { type Html, html } from "../lib/html.ts";
import type { volumesSchema } from "../protocol/reads/volumes.ts";
import type { TypeOf } from "../schema/json-schema.ts";
import { sourceLinks } from "./api-call.ts";
import type { ApiReader, ApiResult } from "./api-reader.ts";
import { barChart, type ChartBar } from "./charts.ts";
import { amount, card, findToken, number, token, unavailable, withNoun } from "./components.ts";
import { linkHere, type PageContext, type PageRequest } from "./context.ts";
import { formatCompact, formatTick, formatUnits, shorten } from "./format.ts";

export type Volumes = TypeOf<typeof volumesSchema>;
type Interval = Volumes["interval"];

/** The volumes, or the sentence of the API if it does not know them at the shown block. */
export type VolumesResult = ApiResult<Volumes> | { readonly problem: string };

/** The query of a page with such a card. */
export const VOLUME_KEYS = ["interval"] as const;

export function readVolumes(
  api: ApiReader,
  { query }: PageRequest,
  filter: Readonly<Record<string, string>>,
): Promise<VolumesResult> {
  return api.attempt<Volumes>("/analytics/volumes", { query: { ...filter, interval: query.interval } });
}

const SECONDS: Readonly<Record<Interval, number>> = { hour: 3_600, day: 86_400 };
// As many intervals as the API has at most.
const BARS_MAX = 400;

/** The starts of all intervals, those without receipts too. */
function startsOf({ interval, from, to }: Volumes): readonly number[] {
  if (from === null || to === null) return [];
  const count = Math.round((Number(to) - Number(from)) / SECONDS[interval]) + 1;
  return Array.from(
    { length: Math.min(Math.max(count, 0), BARS_MAX) },
    (_, index) => Number(from) + index * SECONDS[interval],
  );
}

/** In UTC, as the intervals are: a day in the time of a visitor would be another one. */
function formatStart(seconds: number, interval: Interval): string {
  const iso = new Date(seconds * 1_000).toISOString();
  return interval === "day" ? iso.slice(0, 10) : iso.slice(0, 16).replace("T", " ");
}

const NOTHING = { receipts: "0", settled_volume: "0", protocol_fees: "0" };

function tokenChart(data: Volumes, of: string, page: PageContext): Html {
  const { interval } = data;
  const known = findToken(page, of);
  const symbol = known?.symbol ?? "units";
  const elements = new Map(
    data.volumes.filter((each) => each.token === of).map((each) => [each.start, each]),
  );
  const bars = startsOf(data).map((start): ChartBar => {
    const { receipts, settled_volume, protocol_fees } = elements.get(String(start)) ?? NOTHING;
    const text = formatUnits(settled_volume, known?.decimals ?? null).text;
    return {
      tick: formatTick(start, interval),
      value: BigInt(settled_volume),
      title: `${formatStart(start, interval)}: ${text} ${symbol} in ${receipts} receipt${receipts === "1" ? "" : "s"}`,
      cells: [
        formatStart(start, interval),
        number(receipts),
        amount(page, settled_volume, of),
        amount(page, protocol_fees, of),
      ],
    };
  });
  const all = [...elements.values()];
  const sum = (key: "settled_volume" | "receipts") =>
    all.reduce((total, each) => total + BigInt(each[key]), 0n).toString();
  const name = known?.symbol ?? shorten(of);
  const chart = barChart({
    sentence: `Settled volume in ${name} by ${interval}: ${formatUnits(sum("settled_volume"), known?.decimals ?? null).text} ${symbol} in ${sum("receipts")} receipts`,
    columns: [interval === "day" ? "Day (UTC)" : "Hour (UTC)", "Receipts", "Settled", "Protocol fees"],
    bars,
    formatValue: (value) => formatCompact(known ? formatAmount(value, known.decimals) : value.toString()),
    empty: "There is no such interval.",
    tableLabel: `Table of ${name}`,
  });
  return html`<div class="chart-of-token"><h3>${token(page, of)} <span class="soft">${amount(page, sum("settled_volume"), of)} in ${withNoun(sum("receipts"), "receipt")}</span></h3>${chart}</div>`;
}

function intervalLinks({ interval }: Volumes, page: PageContext): Html {
  const link = (each: Interval, label: string) =>
    each === interval
      ? html`<strong aria-current="true">${label}</strong>`
      : html`<a href="${linkHere(page, { interval: each })}">${label}</a>`;
  return html`<span class="choices">${link("day", "Days")} ${link("hour", "Hours")}</span>`;
}

/** Tokens with the most receipts first. */
function tokensOf({ volumes }: Volumes): readonly string[] {
  const counts = new Map<string, bigint>();
  for (const { token: of, receipts } of volumes) counts.set(of, (counts.get(of) ?? 0n) + BigInt(receipts));
  return [...counts].sort(([, a], [, b]) => (a === b ? 0 : a < b ? 1 : -1)).map(([of]) => of);
}

/** A card with a chart for each token. */
export function volumeCard(result: VolumesResult, page: PageContext, title = "Settled volume"): Html {
  if ("problem" in result) {
    return card(title, unavailable("Volumes", result.problem), { id: "volumes" });
  }
  const { body, call } = result;
  const tokens = tokensOf(body);
  const charts =
    tokens.length === 0
      ? html`<p class="empty">No payment was settled in this time.</p>`
      : tokens.map((each) => tokenChart(body, each, page));
  return card(title, html`${charts}${sourceLinks(page, call)}`, {
    id: "volumes",
    aside: intervalLinks(body, page),
  });
}
