// Small charts drawn on the server as SVG, and settled volumes in them; with attributes only, as the policy allows no inline style.

import { formatAmount } from "../lib/decimal.ts";
import { type Html, type HtmlValue, html } from "../lib/html.ts";
import type { volumesSchema } from "../protocol/reads/volumes.ts";
import type { TypeOf } from "../schema/json-schema.ts";
import type { ApiReader, ApiResult } from "./api-reader.ts";
import { amount, card, findToken, number, token, unavailable, withNoun } from "./components.ts";
import { linkHere, type PageContext, type PageRequest, sourceLinks } from "./context.ts";
import { formatCompact, formatTick, formatUnits, shareOf, shorten } from "./format.ts";

type Bar = { readonly label: HtmlValue; readonly value: bigint; readonly text: HtmlValue };

/** Bars alongside their values: as parts of a whole, or the largest as wide as it gets. */
export function bars(items: readonly Bar[], whole?: bigint): Html {
  const most = whole ?? items.reduce((largest, { value }) => (value > largest ? value : largest), 0n);
  return html`<ul class="bars">${items.map(({ label, value, text }) => html`<li><span class="bar-label">${label}</span><span class="bar-value">${text}</span>${track(shareOf(value, most))}</li>`)}</ul>`;
}

/** A bar of so many hundredths of a percent. */
function track(share: number): Html {
  return html`<svg class="track" width="100%" height="6" aria-hidden="true"><rect class="track-rest" width="100%" height="6" rx="3"/><rect class="track-part" width="${(share / 100).toFixed(2)}%" height="6" rx="3"/></svg>`;
}

type RangeMark = { readonly at: bigint; readonly kind: "limit" | "good" | "bad" | "plain" };

/** A value on a line between two ends, measured from a mark: right of it is better. */
export function rangeLine(from: bigint, to: bigint, limit: bigint, value: RangeMark): Html {
  const place = (at: bigint) => 4 + (shareOf(at - from, to - from) / 10_000) * 92;
  const [start, end] = [place(limit), place(value.at)].sort((a, b) => a - b);
  return html`<svg class="range" width="100%" height="18" aria-hidden="true"><rect class="track-rest" x="0" y="7" width="100%" height="4" rx="2"/><rect class="range-${value.kind}" x="${(start ?? 0).toFixed(2)}%" y="7" width="${((end ?? 0) - (start ?? 0)).toFixed(2)}%" height="4"/><rect class="range-limit" x="${place(limit).toFixed(2)}%" y="1" width="2" height="16"/><circle class="range-${value.kind}" cx="${place(value.at).toFixed(2)}%" cy="9" r="5"/></svg>`;
}

export type ChartBar = {
  /** Short, for the axis below the bars. */
  readonly tick: string;
  readonly value: bigint;
  /** The bar in words, shown while a pointer is on it. */
  readonly title: string;
  /** Its row in the table, the first cell names it. */
  readonly cells: readonly HtmlValue[];
};

type ChartParts = {
  /** The meaning of the bars, for those who do not see them. */
  readonly sentence: string;
  /** The heads of the table: the first is that of the names, the others are those of numbers. */
  readonly columns: readonly string[];
  /** In order, the empty ones too: the axis has no gaps. */
  readonly bars: readonly ChartBar[];
  /** A value as the axis alongside the bars shows it. */
  readonly formatValue: (value: bigint) => string;
  /** The sentence instead of a chart without bars. */
  readonly empty: string;
  /** The name of the table, if a page has several. */
  readonly tableLabel?: string;
};

const PLOT_HEIGHT = 168;
// The part of its place that a bar fills.
const BAR_SHARE = 0.72;
// As many labels as fit below the bars on a wide screen; a phone shows every third.
const TICKS_MAX = 7;
const TICKS_STEP_NARROW = 3;

/** Bars over time or over groups, with both axes, and the same as a table. */
export function barChart(parts: ChartParts): Html {
  const { bars: shown, columns, formatValue, sentence, empty, tableLabel = "Table" } = parts;
  if (shown.length === 0) return html`<p class="empty">${empty}</p>`;
  const top = axisTop(shown.map(({ value }) => value));
  const scale = [top, top / 2n, 0n].map((value) => html`<span>${formatValue(value)}</span>`);
  const body = shown.map(
    ({ cells }) =>
      html`<tr>${cells.map((cell, index) => (index === 0 ? html`<th scope="row">${cell}</th>` : html`<td class="number">${cell}</td>`))}</tr>`,
  );
  const head = columns.map(
    (label, index) => html`<th scope="col" class="${index === 0 ? "" : "number"}">${label}</th>`,
  );
  return html`<figure class="chart"><div class="chart-plot"><div class="chart-scale" aria-hidden="true">${scale}</div><svg width="100%" height="${PLOT_HEIGHT + 24}" role="img" aria-label="${sentence}">${gridLines()}${drawBars(shown, top)}${drawTicks(shown)}</svg></div><details class="chart-table"><summary>${tableLabel}</summary><div class="scroll" tabindex="0" role="group" aria-label="${tableLabel}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div></details></figure>`;
}

/** A round number that no value exceeds, and whose half is whole. */
export function axisTop(values: readonly bigint[]): bigint {
  const most = values.reduce((largest, value) => (value > largest ? value : largest), 0n);
  for (let unit = 1n; ; unit *= 10n) {
    for (const digit of [2n, 4n, 6n, 8n, 10n]) if (digit * unit >= most) return digit * unit;
  }
}

function gridLines(): Html[] {
  return [0.5, PLOT_HEIGHT / 2, PLOT_HEIGHT - 0.5].map(
    (y) => html`<line class="chart-line" x1="0" x2="100%" y1="${y}" y2="${y}"/>`,
  );
}

function drawBars(shown: readonly ChartBar[], top: bigint): Html[] {
  const place = 100 / shown.length;
  return shown.map(({ value, title }, index) => {
    const share = shareOf(value, top) / 10_000;
    // Minimum bar width: a value that is not zero is always visible.
    const height = value > 0n ? Math.max(1.5, share * PLOT_HEIGHT) : 0;
    const x = index * place + (place * (1 - BAR_SHARE)) / 2;
    return html`<g class="chart-bar"><title>${title}</title><rect class="chart-place" x="${(index * place).toFixed(2)}%" y="0" width="${place.toFixed(2)}%" height="${PLOT_HEIGHT}"/><rect class="chart-value" x="${x.toFixed(2)}%" y="${(PLOT_HEIGHT - height).toFixed(1)}" width="${(place * BAR_SHARE).toFixed(2)}%" height="${height.toFixed(1)}"/></g>`;
  });
}

/** Some of the labels, evenly from the newest on: those at the ends stay inside the chart. */
function drawTicks(shown: readonly ChartBar[]): Html[] {
  const step = Math.max(1, Math.ceil(shown.length / TICKS_MAX));
  const place = 100 / shown.length;
  return shown.flatMap(({ tick }, index) => {
    const fromEnd = shown.length - 1 - index;
    if (fromEnd % step !== 0) return [];
    const at = (index + 0.5) * place;
    const anchor = at < 8 ? "start" : at > 92 ? "end" : "middle";
    const x = anchor === "start" ? index * place : anchor === "end" ? (index + 1) * place : at;
    const isExtra = (fromEnd / step) % TICKS_STEP_NARROW !== 0 && shown.length > TICKS_STEP_NARROW;
    return [
      html`<text class="chart-tick${isExtra && " extra"}" x="${x.toFixed(2)}%" y="${PLOT_HEIGHT + 18}" text-anchor="${anchor}">${tick}</text>`,
    ];
  });
}

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
