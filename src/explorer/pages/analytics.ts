// Analytics: settled volumes over time and by token, merchant, rail and facilitator, and who pays whom.

import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { commerceSchema } from "../../protocol/reads/analytics.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { bars, readVolumes, VOLUME_KEYS, type Volumes, type VolumesResult, volumeCard } from "../charts.ts";
import {
  addressLink,
  amount,
  card,
  findToken,
  number,
  recordLink,
  token,
  totals,
  unavailable,
  withNoun,
} from "../components.ts";
import { type PageContext, type PageRequest, pagePath, sourceLinks } from "../context.ts";
import { railName, shorten } from "../format.ts";
import { table } from "../list.ts";
import { columns, definePage, type PageView } from "../page.ts";
import { type Flows, flowCard } from "./money-flow.ts";

type Commerce = TypeOf<typeof commerceSchema>;
type Volume = Omit<Commerce["volume_by_token"][number], "token">;

type OfToken = {
  readonly token: string;
  readonly volumes: VolumesResult;
  readonly flows: ApiResult<Flows> | { readonly problem: string };
  /** Names by the number of the rail. */
  readonly rails: readonly VolumesResult[];
};

type AnalyticsData = {
  readonly commerce: ApiResult<Commerce> | { readonly problem: string };
  /** Null if nothing was settled yet. */
  readonly chosen: OfToken | null;
};

// As the protocol numbers them.
const RAILS = ["0", "1", "2", "3"];

/** Amounts of different tokens do not compare; their receipts do. */
function byReceipts({ volume_by_token: volumes }: Commerce): Commerce["volume_by_token"] {
  return [...volumes].sort((a, b) => Number(BigInt(b.receipts) - BigInt(a.receipts)));
}

async function load(api: ApiReader, request: PageRequest): Promise<AnalyticsData> {
  const commerce = await api.attempt<Commerce>("/analytics/commerce");
  const of =
    request.query.token ?? ("problem" in commerce ? null : (byReceipts(commerce.body)[0]?.token ?? null));
  if (of === null) return { commerce, chosen: null };
  const [volumes, flows, ...rails] = await Promise.all([
    readVolumes(api, request, { token: of }),
    api.attempt<Flows>("/analytics/flows", { query: { token: of } }),
    ...RAILS.map((payment_rail) => readVolumes(api, request, { token: of, payment_rail })),
  ]);
  return { commerce, chosen: { token: of, volumes, flows, rails } };
}

/** Bars, and the same as a table. */
function rankedCard<T extends Volume>(
  title: string,
  rows: readonly T[],
  parts: {
    readonly of: string | null;
    readonly column: string;
    readonly label: (row: T) => HtmlValue;
    readonly value: (row: T) => bigint;
    readonly text: (row: T) => HtmlValue;
    readonly source: Html;
    readonly note?: string;
  },
  page: PageContext,
): Html {
  const { of, column, label, value, text, source, note } = parts;
  if (rows.length === 0)
    return card(title, html`<p class="empty">Nothing was settled at this block.</p>${source}`);
  const shown = bars(rows.map((row) => ({ label: label(row), value: value(row), text: text(row) })));
  const units = (row: T, key: "settled_volume" | "protocol_fees") =>
    amount(page, row[key], of ?? (row as { token?: string }).token);
  const same = table<T>(
    [
      [column, label],
      ["Receipts", (row) => number(row.receipts), "number"],
      ["Settled", (row) => units(row, "settled_volume"), "number"],
      ["Protocol fees", (row) => units(row, "protocol_fees"), "number"],
    ],
    rows,
    page,
  );
  return card(
    title,
    html`${note !== undefined && html`<p class="soft note">${note}</p>`}${shown}<details class="chart-table"><summary>Table: ${title.toLowerCase()}</summary>${same}</details>${source}`,
  );
}

const settledOf = ({ settled_volume }: Volume) => BigInt(settled_volume);

function tokenCard({ body, call }: ApiResult<Commerce>, page: PageContext): Html {
  return rankedCard(
    "By token",
    byReceipts(body),
    {
      of: null,
      column: "Token",
      label: (row) => token(page, row.token),
      // The bars compare what can be compared.
      value: (row) => BigInt(row.receipts),
      text: (row) =>
        html`${amount(page, row.settled_volume, row.token)} in ${withNoun(row.receipts, "receipt")}`,
      source: sourceLinks(page, call),
      note: "Bars count receipts: amounts of different tokens cannot be compared.",
    },
    page,
  );
}

type Summed = Volume & { readonly id: string | null };

/** Rows of one token with the same party as one. */
function sumBy<T extends Volume>(rows: readonly T[], idOf: (row: T) => string | null): readonly Summed[] {
  const sums = new Map<string | null, { receipts: bigint; settled: bigint; fees: bigint }>();
  for (const row of rows) {
    const sum = sums.get(idOf(row)) ?? { receipts: 0n, settled: 0n, fees: 0n };
    sums.set(idOf(row), {
      receipts: sum.receipts + BigInt(row.receipts),
      settled: sum.settled + BigInt(row.settled_volume),
      fees: sum.fees + BigInt(row.protocol_fees),
    });
  }
  return [...sums].map(([id, { receipts, settled, fees }]) => ({
    id,
    receipts: receipts.toString(),
    settled_volume: settled.toString(),
    protocol_fees: fees.toString(),
  }));
}

/** The largest first; those without a name last. */
function inOrder(rows: readonly Summed[]): readonly Summed[] {
  const compare = (a: bigint, b: bigint) => (a === b ? 0 : a < b ? 1 : -1);
  return [...rows].sort(
    (a, b) => Number(a.id === null) - Number(b.id === null) || compare(settledOf(a), settledOf(b)),
  );
}

const OTHERS = html`<span class="soft">all others</span>`;

function partyCards({ token: of, flows }: OfToken, page: PageContext): Html {
  if ("problem" in flows) return html``;
  const source = sourceLinks(page, flows.call);
  const parts = { of, value: settledOf, text: (row: Summed) => amount(page, row.settled_volume, of), source };
  const merchants = inOrder(sumBy(flows.body.merchants, (row) => row.merchant_id));
  const facilitators = inOrder(sumBy(flows.body.facilitators, (row) => row.facilitator));
  const merchant = ({ id }: Summed) =>
    id === null ? OTHERS : html`Merchant ${recordLink(page, "merchant", id)}`;
  const facilitator = ({ id }: Summed) => (id === null ? OTHERS : addressLink(page, id));
  return columns(
    rankedCard("By merchant", merchants, { ...parts, column: "Merchant", label: merchant }, page),
    rankedCard("By facilitator", facilitators, { ...parts, column: "Facilitator", label: facilitator }, page),
  );
}

function railCard({ token: of, rails }: OfToken, page: PageContext): Html | null {
  const known = rails.flatMap((result, rail) =>
    "problem" in result ? [] : [{ rail, call: result.call, body: result.body satisfies Volumes }],
  );
  const [first] = known;
  if (first === undefined) return null;
  const rows = known.flatMap(({ rail, body }) => sumBy(body.volumes, () => String(rail)));
  return rankedCard(
    "By rail",
    inOrder(rows),
    {
      of,
      column: "Rail",
      label: ({ id }) => railName(id),
      value: settledOf,
      text: (row) => amount(page, row.settled_volume, of),
      source: html`${known.map(({ call }) => sourceLinks(page, call))}`,
      note: `Over the same ${first.body.interval === "day" ? "days" : "hours"} as the volume above.`,
    },
    page,
  );
}

/** The choice of the token is a form, so that it works without JavaScript. */
function tokenForm(commerce: Commerce, chosen: string, page: PageContext): Html {
  const known = byReceipts(commerce).map((each) => each.token);
  const all = known.includes(chosen) ? known : [chosen, ...known];
  const nameOf = (of: string) => findToken(page, of)?.symbol ?? shorten(of);
  const kept = Object.entries({ interval: page.query.interval, block: page.block ?? undefined });
  return html`<form class="filters" method="get" action="${pagePath(page, page.path)}" aria-label="Token"><div class="field"><label for="token">Token</label><select id="token" name="token">${all.map((of) => html`<option value="${of}"${of === chosen && html` selected`}>${nameOf(of)}</option>`)}</select></div>${kept.map(([key, value]) => value !== undefined && html`<input type="hidden" name="${key}" value="${value}">`)}<div class="field actions"><button>Show</button></div></form>`;
}

/** A count of the summary, and a part of it in words. */
const SUMMARY = [
  ["Receipts", "receipts", null, "payments that were settled"],
  ["Quotes", "quotes", "settled_quotes", "settled"],
  ["Merchants", "merchants", "active_merchants", "active"],
  ["Facilitators", "facilitators", "active_facilitators", "active"],
  ["Disputes", "disputes", "open_disputes", "open"],
] as const;

function summaryOf({ summary }: Commerce): Html {
  return totals(
    SUMMARY.map(([label, key, part, words]) => ({
      label,
      value: number(summary[key]),
      note: part === null ? words : html`${number(summary[part])} ${words}`,
    })),
  );
}

function render({ commerce, chosen }: AnalyticsData, page: PageContext): PageView {
  const isKnown = !("problem" in commerce);
  const main = html`${isKnown ? summaryOf(commerce.body) : unavailable("Analytics", commerce.problem)}
${isKnown && tokenCard(commerce, page)}
${isKnown && chosen !== null && tokenForm(commerce.body, chosen.token, page)}
${chosen !== null && html`${volumeCard(chosen.volumes, page)}${flowCard(chosen.flows, page)}${partyCards(chosen, page)}${railCard(chosen, page)}`}`;
  return {
    kicker: "Commerce",
    title: "Analytics",
    lead: "What was paid, to whom and how. This page adds no amounts of different tokens: choose one to see where it went.",
    main,
  };
}

export const analyticsPage = definePage({
  path: "/analytics",
  nav: "Analytics",
  query: ["token", ...VOLUME_KEYS],
  findExample: async () => ({}),
  load,
  render,
});
