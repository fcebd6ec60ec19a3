// The parts that pages are made of: facts, badges, addresses, hashes, amounts, times, gauges, timelines.

import { type Html, type HtmlValue, html } from "../lib/html.ts";
import { isBeforeKeptBlocks } from "../schema/reads/read.ts";
import { ZERO_ADDRESS } from "../schema/table.ts";
import { type KnownToken, linkHere, linkTo, type PageContext, pagePath } from "./context.ts";
import {
  formatBasisPoints,
  formatDuration,
  formatExchangeRate,
  formatIsoTime,
  formatNumber,
  formatSeconds,
  formatUnits,
  renderForeignText,
  type ShownNumber,
  type ShownTime,
  shareOf,
  shorten,
  splitWords,
  UNNAMED_UNITS,
} from "./format.ts";

/** A part of a page with its own heading. */
export function card(
  title: string,
  content: HtmlValue,
  options: { readonly id?: string | undefined; readonly aside?: HtmlValue } = {},
): Html {
  const id = options.id ?? title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return html`<section class="card" id="${id}" aria-labelledby="${id}-title"><div class="card-head"><h2 id="${id}-title">${title}</h2>${options.aside}</div>${content}</section>`;
}

export type Fact = readonly [label: string, value: HtmlValue];

/** Labels and values; a fact without a value says so instead of leaving a gap. */
export function facts(items: readonly Fact[]): Html {
  return html`<dl class="facts">${items.map(([label, value]) => html`<div><dt>${label}</dt><dd>${isEmpty(value) ? unknown() : value}</dd></div>`)}</dl>`;
}

function isEmpty(value: HtmlValue): boolean {
  return value === null || value === undefined || value === "" || value === false;
}

/** Nothing is known or nothing is there: never a zero, never a guess. */
export function unknown(): Html {
  return html`<span class="soft" title="Not known">–</span>`;
}

/** A notice above or inside a part; a warning says what is wrong and what to do. */
export function notice(kind: "info" | "warn", content: HtmlValue): Html {
  return html`<p class="notice ${kind}">${content}</p>`;
}

/** The API's message about what it does not know at the shown block, or does not accept. */
export function unavailable(what: string, problem: string): Html {
  return notice(
    "info",
    html`${isBeforeKeptBlocks(problem) && `${what} are kept for recent blocks only. `}${problem}`,
  );
}

type Tone = "good" | "bad" | "warn" | "plain" | "accent";

const TONES: Readonly<Record<string, Tone>> = {
  OPEN: "accent",
  FILLED: "good",
  SELECTED: "good",
  RESOLVED: "good",
  ACTIVE: "good",
  SETTLED: "good",
  CANCELLED: "plain",
  EXPIRED: "plain",
  REJECTED: "plain",
  INACTIVE: "plain",
  REVOKED: "bad",
  FROZEN: "bad",
};

/** The state of a record. The word itself says it; the colour only helps. */
export function status(state: string, tone: Tone = TONES[state.toUpperCase()] ?? "plain"): Html {
  return html`<span class="badge ${tone}">${splitWords(state)}</span>`;
}

/** A small label. */
export function badge(text: string, tone: Tone = "plain"): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** The page of each kind of record. */
export const RECORD_PAGES = {
  account: "/accounts/:id",
  agent: "/agents/:id",
  attestation: "/attestations/:id",
  attestor: "/attestors/:id",
  block: "/blocks/:id",
  dispute: "/disputes/:id",
  document: "/documents/:id",
  facilitator: "/facilitators/:id",
  intent: "/intents/:id",
  merchant: "/merchants/:id",
  quote: "/quotes/:id",
  receipt: "/receipts/:id",
  schema: "/schemas/:id",
  service: "/services/:id",
  solver: "/solvers/:id",
  transaction: "/transactions/:id",
} as const;

export type PageKind = keyof typeof RECORD_PAGES;

/** The routes of the API that differ from the pages of their records. */
const RECORD_ROUTES: Readonly<Partial<Record<PageKind, string>>> = {
  agent: "/agents/:agentId",
  quote: "/quotes/:quoteHash",
  schema: "/attestations/schemas/:schemaHash",
  transaction: "/tx/:hash/explain",
};

/** The route of a record, and the name of the parameter that has its id. */
export function recordRoute(kind: PageKind): { readonly route: string; readonly parameter: string } {
  const route = RECORD_ROUTES[kind] ?? RECORD_PAGES[kind];
  return { route, parameter: /:(\w+)/.exec(route)?.[1] ?? "" };
}

/** The page of a record as of the same block; null if the explorer has none. */
export function recordPath(
  page: Pick<PageContext, "site" | "block" | "base">,
  kind: PageKind,
  id: string,
): string | null {
  const pattern = RECORD_PAGES[kind];
  if (!page.site.pagePaths.has(pattern)) return null;
  return linkTo(page, pattern.replace(":id", encodeURIComponent(id)));
}

/** The patterns of all pages of records, for links that the browser makes. */
export function listRecordPaths(page: Pick<PageContext, "site" | "base">): Record<string, string> {
  const known = Object.entries(RECORD_PAGES).filter(([, pattern]) => page.site.pagePaths.has(pattern));
  return Object.fromEntries(known.map(([kind, pattern]) => [kind, pagePath(page, pattern)]));
}

/** A record by its name, as a link if it has a page. */
export function recordLink(page: PageContext, kind: PageKind, id: string, label?: HtmlValue): Html {
  const path = recordPath(page, kind, id);
  const text = label ?? `#${formatNumber(id).text}`;
  return path === null
    ? html`<span class="record">${text}</span>`
    : html`<a class="record" href="${path}">${text}</a>`;
}

/** The name of a contract or token of the deployment; null for any other address. */
export function findAddressName({ site }: Pick<PageContext, "site">, value: string): string | null {
  const { contracts, tokens } = site.chain;
  const [contract] = Object.entries(contracts).find(([, address]) => address === value) ?? [];
  return contract ?? (Object.hasOwn(tokens, value) ? (tokens[value]?.symbol ?? null) : null);
}

/** An address by its name or its ends, with all of it to copy, and its page. */
export function addressLink(page: PageContext, value: unknown): Html {
  if (typeof value !== "string") return unknown();
  if (value === ZERO_ADDRESS) return html`<span class="soft" title="${value}">none</span>`;
  const name = findAddressName(page, value);
  const label =
    name === null
      ? identifier(value)
      : html`<span class="known" title="${value}" data-copy="${value}">${name}</span>`;
  return recordLink(page, "account", value, label);
}

/** A hash by its ends, with all of it to copy; with its page if it names a record. */
export function hash(page: PageContext, value: unknown, kind?: PageKind): Html {
  if (typeof value !== "string") return unknown();
  if (/^0x0*$/.test(value)) return html`<span class="soft" title="${value}">none</span>`;
  return kind === undefined ? identifier(value) : recordLink(page, kind, value, identifier(value));
}

function identifier(value: string): Html {
  return html`<code class="id" title="${value}" data-copy="${value}">${shorten(value)}</code>`;
}

/** A transaction: its page here, and the chain's own explorer if the deployment names one. */
export function transaction(page: PageContext, value: unknown): Html {
  if (typeof value !== "string") return unknown();
  const { explorerUrl } = page.site.chain;
  const outside =
    explorerUrl !== null &&
    html` <a class="outside" href="${explorerUrl}/tx/${encodeURIComponent(value)}" rel="noopener noreferrer" title="In the explorer of the chain">↗<span class="hidden"> in the explorer of the chain</span></a>`;
  return html`${hash(page, value, "transaction")}${outside}`;
}

/** A number with separators; all digits in the title if some are left out. */
export function number(value: unknown): Html {
  if (typeof value !== "string" && typeof value !== "number") return unknown();
  return shownNumber(formatNumber(String(value)));
}

/** A number with what it counts: `1 receipt`, `2 receipts`. */
export function withNoun(value: unknown, noun: string, plural = `${noun}s`): Html {
  return html`${number(value)} ${String(value) === "1" ? noun : plural}`;
}

function shownNumber({ text, exact }: ShownNumber): Html {
  return exact === null
    ? html`<span class="number">${text}</span>`
    : html`<span class="number" title="${exact}">${text}</span>`;
}

/** A length of time, or a mean of several, in one unit; all digits in the title. */
export function seconds(value: string | null): Html {
  if (value === null) return unknown();
  return html`<span class="number" title="${value} s">${formatDuration(Math.round(Number(value)) * 1_000)}</span>`;
}

/** Basis points as percent, exactly. */
export function basisPoints(value: unknown): Html {
  const text = String(value);
  const percent = formatBasisPoints(text);
  return percent === null
    ? unknown()
    : html`<span class="number" title="${text} basis points">${percent}</span>`;
}

/** The coin of the chain, or a token that the deployment file names; null for any other. */
export function findToken({ site }: PageContext, token: unknown): KnownToken | null {
  const { native, tokens } = site.chain;
  const named = typeof token === "string" && Object.hasOwn(tokens, token) ? tokens[token] : undefined;
  return named ?? (token === ZERO_ADDRESS ? native : null);
}

// Below a millionth of a coin only zeros would be seen of it.
const FEW_WEI = /^-?[1-9][0-9]{0,11}$/;

/** An amount of a token: with its symbol and decimals if they are known, otherwise in the smallest unit. */
export function amount(page: PageContext, units: unknown, of: unknown, isLinked = false): Html {
  if (typeof units !== "string") return unknown();
  const known = findToken(page, of);
  if (of === ZERO_ADDRESS && FEW_WEI.test(units))
    return html`<span class="amount">${number(units)} <span class="symbol">wei</span></span>`;
  if (known)
    return html`<span class="amount" title="${units} units">${shownNumber(formatUnits(units, known.decimals))} ${isLinked ? token(page, of) : html`<span class="symbol">${known.symbol}</span>`}</span>`;
  const reason = of === null ? "no token is named for it" : "the decimals of this token are not known";
  const noun = of === null && isLinked ? UNNAMED_UNITS : "units";
  return html`<span class="amount" title="In the smallest unit: ${reason}">${shownNumber(formatUnits(units, null))} <span class="symbol">${noun}</span></span>`;
}

type AmountOf = { readonly units: string; readonly token: string };

/**
 * The price of a pair, and the inverse: in the same direction wherever the pair is shown, by the order of the symbols.
 * Unknown unless the decimals of both are known. As a limit, it is the least that is paid out for what is taken in.
 */
export function price(page: PageContext, out: AmountOf, taken: AmountOf, isLimit = false): Html {
  const [of, per] = [findToken(page, out.token), findToken(page, taken.token)];
  if (of === null || per === null) return unknown();
  const paid = { units: BigInt(out.units), decimals: of.decimals };
  const given = { units: BigInt(taken.units), decimals: per.decimals };
  const line = (rate: string, limit: string, units: string) =>
    html`${isLimit && html`<span class="soft" title="${limit === "≥" ? "At least" : "At most"}">${limit}</span> `}<span class="number">${rate}</span> <span class="symbol">${units}</span>`;
  const [direct, inverse] = [formatExchangeRate(paid, given), formatExchangeRate(given, paid)];
  if (direct === null || inverse === null) return unknown();
  const lines = [
    line(direct, "≥", `${of.symbol} per ${per.symbol}`),
    line(inverse, "≤", `${per.symbol} per ${of.symbol}`),
  ];
  const [first, second] = of.symbol <= per.symbol ? lines : lines.toReversed();
  return html`${first}<span class="under">${second}</span>`;
}

/** A token by its symbol if it is known, otherwise by its address; with its page, but for the coin of the chain. */
export function token(page: PageContext, value: unknown): Html {
  const known = findToken(page, value);
  if (!known || typeof value !== "string") return addressLink(page, value);
  const symbol = html`<span class="symbol" title="${value}">${known.symbol}</span>`;
  return value === ZERO_ADDRESS ? symbol : recordLink(page, "account", value, symbol);
}

/** Unix seconds. UTC without JavaScript; with it the distance from now, and the time itself in the title. */
export function time(seconds: unknown): Html {
  const shown = typeof seconds === "string" ? formatSeconds(seconds) : null;
  if (shown !== null) return shownTime(shown);
  return typeof seconds === "string"
    ? html`<span title="${seconds} seconds">beyond any calendar</span>`
    : unknown();
}

/** A time that the API writes as ISO 8601: of its own clock, which no block has, unless it is that of a block. */
export function isoTime(value: unknown, clock: "server" | "chain" = "server"): Html {
  const shown = typeof value === "string" ? formatIsoTime(value) : null;
  return shown === null ? unknown() : shownTime(shown, clock);
}

function shownTime({ iso, text }: ShownTime, clock: "server" | "chain" = "chain"): Html {
  return html`<time datetime="${iso}" title="${text}"${clock === "server" && html` data-clock="server"`}>${text}</time>`;
}

/** A block, and this page as of it. */
export function block(page: PageContext, value: unknown): Html {
  if (typeof value !== "string") return unknown();
  const path = linkHere(page, { block: value });
  return html`<a class="block" href="${path}" title="This page as of block ${value}">${formatNumber(value).text}</a>`;
}

/** Third-party text, such as a name. */
export function name(value: unknown): Html {
  return typeof value === "string" && value !== "" ? renderForeignText(value) : unknown();
}

type GaugeParts = {
  readonly label: string;
  readonly used: bigint;
  readonly limit: bigint;
  /** The used part and the limit, as people read them. */
  readonly text: HtmlValue;
};

/** How much of a limit is used. */
export function gauge({ label, used, limit, text }: GaugeParts): Html {
  const share = shareOf(used, limit);
  const tone = share >= 10_000 ? "bad" : share >= 8_000 ? "warn" : "good";
  return html`<div class="gauge ${tone}"><div class="gauge-text"><span>${label}</span><span>${text}</span></div><meter min="0" max="10000" low="8000" high="9999" optimum="0" value="${share}" aria-label="${label}">${(share / 100).toFixed(0)} %</meter></div>`;
}

export type TimelineStep = {
  readonly title: HtmlValue;
  readonly at?: HtmlValue;
  readonly detail?: HtmlValue;
  readonly state: "done" | "current" | "open" | "failed";
};

/** Steps that happened, in order, and what may happen next. */
export function timeline(steps: readonly TimelineStep[]): Html {
  return html`<ol class="timeline">${steps.map(({ title, at, detail, state }) => html`<li class="${state}"><div class="step-title">${title}</div>${at !== undefined && html`<div class="step-time">${at}</div>`}${detail !== undefined && html`<div class="step-detail">${detail}</div>`}</li>`)}</ol>`;
}

/** Numbers that a page begins with. */
export function totals(
  items: readonly {
    readonly label: string;
    readonly value: HtmlValue;
    readonly chart?: HtmlValue;
    readonly note?: HtmlValue;
  }[],
): Html {
  return html`<ul class="totals">${items.map(({ label, value, chart, note }) => html`<li class="card"><div class="total-label">${label}</div><div class="total-value">${value}</div>${chart}${note !== undefined && note !== false && html`<div class="total-note soft">${note}</div>`}</li>`)}</ul>`;
}

const WIDTH = 240;
const HEIGHT = 48;
const EDGE = 3;

/** A line over counts; the sentence says the same to those who do not see it. */
export function sparkline(counts: readonly number[], sentence: string): Html {
  const most = Math.max(1, ...counts);
  const step = (WIDTH - 2 * EDGE) / Math.max(1, counts.length - 1);
  const points = counts.map((count, index) => {
    const y = HEIGHT - EDGE - (count / most) * (HEIGHT - 2 * EDGE);
    return `${(EDGE + index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const bottom = HEIGHT - EDGE;
  const area = `${EDGE},${bottom} ${points.join(" ")} ${(WIDTH - EDGE).toFixed(1)},${bottom}`;
  return html`<svg class="sparkline" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${sentence}"><polygon class="area" points="${area}"/><polyline class="line" points="${points.join(" ")}" vector-effect="non-scaling-stroke"/></svg>`;
}
