// The first page: search, totals, what happens now, and the newest intents, receipts and disputes.
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { countByPart, sparkline } from "../charts.ts";
import { amount, card, notice, number, totals } from "../components.ts";
import { EXPLORER_PATH, type PageContext } from "../context.ts";
import { type EventsData, eventFeed, eventsUpTo, readEvents } from "../events.ts";
import { type Html, html } from "../html.ts";
import { type ListData, listCard } from "../list.ts";
import { definePage } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { disputeList, receiptList } from "./commerce-lists.ts";
import { intentList } from "./intents.ts";

type Analytics = {
  readonly summary: Readonly<Record<string, string>>;
  readonly volume_by_token: readonly { readonly token: string; readonly settled_volume: string }[];
};

type HomeData = {
  readonly totals: ApiResult<Analytics> | { readonly problem: string };
  readonly feed: EventsData;
  readonly intents: ListData;
  readonly receipts: ListData;
  readonly disputes: ListData;
};

// The largest page of the API: what the small charts count.
const COUNTED = "100";
const ROWS_SHOWN = 8;
const FEED_SHOWN = 10;
const CHART_PARTS = 24;

async function load(api: ApiReader): Promise<HomeData> {
  const readFeed = async () => {
    const { block_number, previous_event_block } = await api.head();
    return readEvents(api, previous_event_block ?? block_number, {});
  };
  const [found, feed, intents, receipts, disputes] = await Promise.all([
    api.attempt<Analytics>("/analytics/commerce"),
    readFeed(),
    api.list(intentList, { query: { limit: COUNTED } }),
    api.list(receiptList, { query: { limit: COUNTED } }),
    api.list(disputeList, { query: { limit: String(ROWS_SHOWN) } }),
  ]);
  return { totals: found, feed, intents, receipts, disputes };
}

/** The newest records by block, which shows whether anything happens. */
function recentChart({ records }: ListData, what: string, { head }: PageContext): Html | null {
  const blocks = records.map(({ block_number }) => BigInt(String(block_number)));
  const first = blocks.at(-1);
  if (first === undefined) return null;
  const last = BigInt(head.block_number);
  const sentence = `The newest ${blocks.length} ${what} by block, from ${first} to ${last}`;
  return html`${sparkline(countByPart(blocks, CHART_PARTS, first, last), sentence)}<div class="chart-ends"><span>${number(first.toString())}</span><span>${number(last.toString())}</span></div>`;
}

function firstTotal(
  list: ListData,
  label: string,
  key: string,
  page: PageContext,
): Parameters<typeof totals>[0][number] {
  const [newest] = list.records;
  const chart = recentChart(list, label.toLowerCase(), page);
  return { label, value: newest ? number(newest[key]) : "0", ...(chart === null ? {} : { chart }) };
}

function renderTotals(data: HomeData, page: PageContext): Html {
  const { totals: found } = data;
  // Ids count from one.
  const intents = firstTotal(data.intents, "Intents", "intent_id", page);
  const receipts = firstTotal(data.receipts, "Receipts", "receipt_id", page);
  if ("problem" in found)
    return html`${totals([intents, receipts])}${notice("info", html`Other totals are kept for recent blocks only. ${found.problem}`)}`;
  const { summary, volume_by_token: volumes } = found.body;
  const [largest] = volumes;
  return html`${totals([
    intents,
    receipts,
    {
      label: "Settled",
      value: largest ? amount(page, largest.settled_volume, largest.token) : "0",
      note:
        volumes.length > 1
          ? html`and ${volumes.length - 1} more ${volumes.length === 2 ? "token" : "tokens"}`
          : html`in one token`,
    },
    {
      label: "Active merchants",
      value: number(summary.active_merchants),
      note: html`${number(summary.active_services)} active services`,
    },
    { label: "Quotes", value: number(summary.quotes), note: html`${number(summary.settled_quotes)} settled` },
    {
      label: "Open disputes",
      value: number(summary.open_disputes),
      note: html`of ${number(summary.disputes)}`,
    },
  ])}`;
}

function renderFeed({ feed }: HomeData, page: PageContext): Html {
  const shown = eventsUpTo(feed.events, page).slice(-FEED_SHOWN);
  const live = page.block === null && html`<span class="badge plain" data-feed-state>Latest</span>`;
  return card(
    page.block === null ? "Happening now" : "Last events",
    html`${eventFeed(shown, feed.cursor, page)}${sourceLinks(page, feed.call)}`,
    {
      id: "feed",
      ...(live === false ? {} : { aside: live }),
    },
  );
}

function render(data: HomeData, page: PageContext): ReturnType<Parameters<typeof definePage>[0]["render"]> {
  // Two lists side by side have no room for every column; their own pages have.
  const few = ({ list, records, ...data }: ListData, hidden: readonly string[] = []): ListData => ({
    ...data,
    list: { ...list, columns: list.columns.filter(({ label }) => !hidden.includes(label)) },
    records: records.slice(0, ROWS_SHOWN),
  });
  const main = html`<form class="hero-search" role="search" method="get" action="${EXPLORER_PATH}/search"><label for="hero-q">Search by id, address or hash</label><div><input type="search" id="hero-q" name="q" placeholder="intent 15, 0x…" maxlength="200" autocomplete="off" spellcheck="false" autocapitalize="off" required>${page.block !== null && html`<input type="hidden" name="block" value="${page.block}">`}<button>Search</button></div></form>
${renderTotals(data, page)}
<div class="columns wide-first"><div>${listCard("Newest intents", few(data.intents, ["Owner", "Deadline"]), page, { more: { path: "/intents", label: "All intents" } })}${listCard("Newest receipts", few(data.receipts, ["Service", "Paid by", "Delivery"]), page, { more: { path: "/receipts", label: "All receipts" } })}</div>
<div>${renderFeed(data, page)}${listCard("Newest disputes", few(data.disputes, ["Reason", "Opened by"]), page, { more: { path: "/disputes", label: "All disputes" } })}</div></div>`;
  const { head, site } = page;
  return {
    kicker: html`${site.chain.network} · block ${number(head.block_number)} · final to ${number(head.finalized_block)}`,
    title: "What agents do",
    lead: "Intents and the bids on them, payments and what became of them, rules and who set them: read from the chain, at any block.",
    main,
    ...(page.block === null ? { scripts: ["live-feed.js"] } : {}),
  };
}

export const homePage = definePage({
  path: "",
  findExample: async () => ({}),
  load,
  render,
});
