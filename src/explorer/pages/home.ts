// The first page: search, totals, what happens now, and the newest intents, receipts and disputes.

import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { totalsSchema } from "../../protocol/reads/totals.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { ApiReader } from "../api-reader.ts";
import { card, number, sparkline, totals, unavailable, withNoun } from "../components.ts";
import { type PageContext, type PageRequest, pagePath, shownNumber, sourceLinks } from "../context.ts";
import { eventFeed, eventSource, type NewestEvents, readNewestEvents } from "../events.ts";
import { type ListData, listCard, withoutColumns } from "../list.ts";
import { disputeList, intentList, receiptList } from "../lists.ts";
import { definePage, type PageView, readAll } from "../page.ts";

type Totals = TypeOf<typeof totalsSchema>;

const ROWS_SHOWN = 8;
const FEED_SHOWN = 10;

// Over a month the lines of a younger index would be flat, with a peak at their end.
const YOUNG_DAYS = 3;

const isEmpty = ({ start: _start, ...counts }: Totals["series"][number]) =>
  Object.values(counts).every((count) => count === "0");

// Fewer points make no line.
const POINTS_MIN = 8;

/** The range begins shortly before the first interval in which anything happened. */
function withoutBeginning(series: Totals["series"]): Totals["series"] {
  const first = series.findIndex((each) => !isEmpty(each));
  return first < 0 ? series : series.slice(Math.max(0, Math.min(first - 1, series.length - POINTS_MIN)));
}

/** Grouped by day, or by hour if everything happened within the last days. */
async function readTotals(api: ApiReader) {
  const days = await api.attempt<Totals>("/totals");
  if ("problem" in days || !days.body.series.slice(0, -YOUNG_DAYS).every(isEmpty)) return days;
  return api.attempt<Totals>("/totals", { query: { interval: "hour" } });
}

function load(api: ApiReader, request: PageRequest) {
  const newest = { query: { limit: String(ROWS_SHOWN) } };
  return readAll({
    totals: readTotals(api),
    feed: readNewestEvents(api, { from: shownNumber(request), limit: String(FEED_SHOWN) }),
    intents: api.list(intentList, newest),
    receipts: api.list(receiptList, newest),
    disputes: api.list(disputeList, newest),
  });
}

type HomeData = Awaited<ReturnType<typeof load>>;

type Total = {
  readonly label: string;
  /** Its key in the totals and in the series. */
  readonly key: keyof Totals["totals"] & keyof Totals["series"][number];
  readonly note: (totals: Totals["totals"]) => HtmlValue;
};

const ITEMS: readonly Total[] = [
  {
    label: "Intents",
    key: "intents",
    note: (all) => html`${number(all.open_intents)} open, ${number(all.filled_intents)} filled`,
  },
  { label: "Bids", key: "bids", note: (all) => html`by ${withNoun(all.solvers, "registered solver")}` },
  { label: "Receipts", key: "receipts", note: (all) => html`for ${withNoun(all.quotes, "quote")}` },
  {
    label: "Disputes",
    key: "disputes",
    note: (all) => html`${number(all.open_disputes)} open`,
  },
  { label: "Agents", key: "agents", note: (all) => withNoun(all.accounts, "account") },
  { label: "Merchants", key: "merchants", note: (all) => withNoun(all.services, "service") },
  {
    label: "Attestations",
    key: "attestations",
    note: (all) => html`by ${withNoun(all.attestors, "registered attestor")}`,
  },
  {
    label: "Trust signals",
    key: "trust_signals",
    note: (all) => withNoun(all.facilitators, "facilitator"),
  },
];

function renderTotals({ totals: found }: HomeData, page: PageContext): Html {
  if ("problem" in found) return unavailable("Totals", found.problem);
  const { totals: all, interval } = found.body;
  const series = withoutBeginning(found.body.series);
  const span = `by ${interval}, over the last ${series.length} ${interval}s`;
  const chartOf = ({ label, key }: Total) =>
    sparkline(
      series.map((each) => Number(each[key])),
      `New ${label.toLowerCase()} ${span}`,
    );
  const items = ITEMS.map((item) => ({
    label: item.label,
    value: number(all[item.key]),
    note: item.note(all),
    chart: series.length > 1 && chartOf(item),
  }));
  return html`<div class="home-totals">${totals(items)}${series.length > 1 && html`<p class="soft note lines">Lines: what came ${span}.</p>`}${sourceLinks(page, found.call)}</div>`;
}

/** A page has its events as of its block for free; a stream costs its reader a price a minute, which a browser cannot pay. */
const sellsStreams = ({ site }: PageContext) =>
  site.routes.some(({ operationId, responses }) => operationId === "readEvents" && 402 in responses);

function renderFeed(feed: NewestEvents, page: PageContext): Html {
  const isLatest = page.block === null;
  const isLive = isLatest && !sellsStreams(page);
  const sold = html`<p class="soft note">This server sells live events to <a href="${page.base}/docs">clients of its API</a>. Load the page again for newer ones.</p>`;
  return card(
    isLive ? "Happening now" : "Last events",
    html`${eventFeed(feed, page)}${isLatest && !isLive && sold}${eventSource(page, feed.call)}`,
    { id: "feed", aside: isLive && html`<span class="badge plain" data-feed-state>Latest</span>` },
  );
}

/** Two lists side by side have no room for every column; their own pages have. */
function newestCard<T>(what: string, data: ListData<T>, page: PageContext, hidden: readonly string[]): Html {
  const records = data.records.slice(0, ROWS_SHOWN);
  const shown = { ...data, list: withoutColumns(data.list, hidden), records };
  return listCard(`Newest ${what}`, shown, page, { more: `All ${what}` });
}

function render(data: HomeData, page: PageContext): PageView {
  const lists = html`${newestCard("intents", data.intents, page, ["Owner", "Deadline", "Price", "Fill"])}${newestCard("receipts", data.receipts, page, ["Service", "Paid by", "Delivery"])}${newestCard("disputes", data.disputes, page, ["Reason", "Opened by"])}`;
  const main = html`<form class="hero-search" role="search" method="get" action="${pagePath(page, "/search")}"><label for="hero-q">Search by id, address, hash or name</label><div><input type="search" id="hero-q" name="q" placeholder="agent-2, intent 15, 0x…" maxlength="200" autocomplete="off" spellcheck="false" autocapitalize="off" required>${page.block !== null && html`<input type="hidden" name="block" value="${page.block}">`}<button>Search</button></div></form>
${renderTotals(data, page)}
<div class="columns wide-first"><div>${lists}</div>
<div>${renderFeed(data.feed, page)}</div></div>`;
  const { head, site } = page;
  return {
    kicker: html`${site.chain.network} · block ${number(head.block_number)} · final to ${number(head.finalized_block)}`,
    title: "What agents do",
    lead: "Intents and the bids on them, payments and what became of them, rules and who set them: read from the chain, at any block.",
    main,
    scripts: page.block === null && !sellsStreams(page) ? ["live-feed.js"] : [],
  };
}

export const homePage = definePage({
  path: "",
  findExample: async () => ({}),
  load,
  render,
});
