// One transaction: what happened in it in plain words, and every row before and after each of its events.

import { type Html, html } from "../../lib/html.ts";
import type { EventRecord, RowChangeRecord } from "../../protocol/event-page.ts";
import type { explanationSchema } from "../../protocol/reads/transactions.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { badge, block, card, facts, notice, number, recordLink, time } from "../components.ts";
import { type PageContext, type PageRequest, requireParam, sourceLinks } from "../context.ts";
import { changesOf, type ExplainedPage, intentTokens, renderSentence } from "../events.ts";
import { fieldValue, toFieldName } from "../fields.ts";
import { renderForeignText, shorten, splitWords } from "../format.ts";
import { definePage, exampleFrom, type PageView } from "../page.ts";

type Explanation = TypeOf<typeof explanationSchema>;

/** An event with its sentence and the rows that it has changed. */
type ChangedEvent = EventRecord & Required<Pick<EventRecord, "rows" | "parts">>;
type ChangedEventPage = ExplainedPage<ChangedEvent>;

type TransactionData = {
  readonly explanation: ApiResult<Explanation>;
  readonly events: ApiResult<readonly ChangedEvent[]>;
};

// Each event costs a part of the folding of its block, and most blocks have few: more are read only if a block has
// more.
const EVENTS_READ_MIN = 4;
const EVENTS_READ_MAX = 100;
// Beyond this a page is too long to read; the API has the rest.
const EVENTS_SHOWN_MAX = 30;

async function load(api: ApiReader, request: PageRequest): Promise<TransactionData> {
  const explanation = await api.get<Explanation>("/tx/:hash/explain", {
    params: { hash: requireParam(request, "id") },
  });
  return { explanation, events: await readEventsOf(api, explanation.body) };
}

/** Events are read by block; a transaction is a part of one. */
export async function readEventsOf(
  api: Pick<ApiReader, "get" | "requestsLeft">,
  { tx_hash, block_number, events }: Pick<Explanation, "tx_hash" | "block_number" | "events">,
): Promise<ApiResult<readonly ChangedEvent[]>> {
  const found: ChangedEvent[] = [];
  const limit = Math.min(EVENTS_READ_MAX, Math.max(EVENTS_READ_MIN, events.length));
  const query = { include: "rows,parts", limit: String(limit) };
  const first = await api.get<ChangedEventPage>("/events", { query: { ...query, from: block_number } });
  for (let { body } = first; ; ) {
    found.push(...body.events.filter((each) => each.tx_hash === tx_hash));
    const last = body.events.at(-1);
    const isPast = last !== undefined && BigInt(last.block_number) > BigInt(block_number);
    const isComplete = found.length >= events.length;
    if (isComplete || isPast || !body.has_more || api.requestsLeft <= 0)
      return { body: found, call: first.call };
    ({ body } = await api.get<ChangedEventPage>("/events", {
      query: { ...query, limit: String(EVENTS_READ_MAX), from: body.progress.cursor },
    }));
  }
}

// The same for every row of an event: the page shows them once.
const OWN_PLACE = new Set(["block_number", "tx_hash", "log_index"]);
// A sum of what a solver paid out over different tokens, from which the API takes its mean.
const MIXED_TOKENS = new Set(["surplus_out_total"]);

/** Every row of an event. Null is a block that is too large to be folded for readers. */
function rowChanges(changes: readonly RowChangeRecord[] | null, page: PageContext, tokens: object): Html {
  if (changes === null)
    return notice(
      "info",
      "The block is too large to show the rows of its events; the API reads any of them.",
    );
  if (changes.length === 0) return html`<p class="soft note">It has changed no row.</p>`;
  return html`<div class="row-changes">${changes.map((each) => rowChange(each, page, tokens))}</div>`;
}

function rowChange({ table, key, before, after }: RowChangeRecord, page: PageContext, tokens: object): Html {
  const names = Object.keys(after)
    .filter((name) => !MIXED_TOKENS.has(name))
    .filter((name) =>
      before === null ? !(name in key) && !OWN_PLACE.has(name) : before[name] !== after[name],
    );
  const label = Object.keys(key).map(
    (name) =>
      html` <span class="soft">${splitWords(name).toLowerCase()}</span> ${fieldValue(page, key, name)}`,
  );
  const head =
    before === null
      ? html`<tr><th scope="col">Field</th><th scope="col">New</th></tr>`
      : html`<tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr>`;
  const rows = names.map(
    (name) =>
      html`<tr><th scope="row">${splitWords(name)}</th>${before !== null && html`<td class="old"><del>${fieldValue(page, { ...tokens, ...before }, name)}</del></td>`}<td class="new"><ins>${fieldValue(page, { ...tokens, ...after }, name)}</ins></td></tr>`,
  );
  return html`<div class="row-change"><h4>${splitWords(table)}${label} ${before === null ? badge("created", "good") : badge("changed", "accent")}</h4>${names.length === 0 ? html`<p class="soft note">Every field stays as it is.</p>` : html`<div class="scroll"><table class="diff"><thead>${head}</thead><tbody>${rows}</tbody></table></div>`}</div>`;
}

function eventCard(event: ChangedEvent, index: number, page: PageContext): Html {
  const fields = Object.fromEntries(
    Object.entries(event.args).map(([name, value]) => [toFieldName(name), value]),
  );
  const tokens = intentTokens(event);
  const args = Object.keys(fields).map(
    (name) => [splitWords(name), fieldValue(page, { ...tokens, ...fields }, name)] as const,
  );
  const content = html`<p>${renderSentence(page, event.parts)}.</p>
<details class="arguments"><summary>Arguments of ${event.type}</summary>${facts(args)}</details>
<h3>Rows before and after</h3>${rowChanges(event.rows, page, tokens)}`;
  return card(`${index + 1}. ${splitWords(event.type)}`, content, {
    id: `event-${event.log_index}`,
    aside: html`<span class="soft">${event.contract} · log ${number(event.log_index)}</span>`,
  });
}

function outsideLink(page: PageContext, txHash: string): Html | null {
  const { explorerUrl } = page.site.chain;
  return explorerUrl === null
    ? null
    : html`<a href="${explorerUrl}/tx/${encodeURIComponent(txHash)}" rel="noopener noreferrer">Open in the explorer of the chain ↗</a>`;
}

function summary({ explanation, events }: TransactionData, page: PageContext): Html {
  const { tx_hash, block_number, events: sentences } = explanation.body;
  const [first] = events.body;
  return html`<p class="whole"><code data-copy="${tx_hash}">${tx_hash}</code></p>${facts([
    ["Block", recordLink(page, "block", block_number)],
    ["Time", time(first?.block_timestamp)],
    ["This page as of its block", block(page, block_number)],
    ["Events of the protocol", number(String(sentences.length))],
    ["Elsewhere", outsideLink(page, tx_hash)],
  ])}${sourceLinks(page, explanation.call)}`;
}

/** The first sentence; each event has its own below. */
function leadOf({ explanation, events }: TransactionData, page: PageContext): Html {
  const others = explanation.body.events.length - 1;
  const more = others === 0 ? "." : `, and ${others} more event${others === 1 ? "" : "s"}.`;
  const [first] = events.body;
  const sentence = explanation.body.events[0]?.description ?? "";
  return html`${first === undefined ? renderForeignText(sentence) : renderSentence(page, first.parts)}${more}`;
}

function render(data: TransactionData, page: PageContext): PageView {
  const { explanation, events } = data;
  const { tx_hash, events: sentences } = explanation.body;
  const shown = events.body.slice(0, EVENTS_SHOWN_MAX);
  const isCut = shown.length < sentences.length;
  const main = html`${card("Transaction", summary(data, page))}
<div class="changes-head"><h2>What it changed</h2>${sourceLinks(page, events.call)}</div>
${shown.map((each, index) => eventCard(each, index, page))}
${isCut && notice("info", `This page shows ${shown.length} of ${sentences.length} events; the API has all of them.`)}`;
  return {
    kicker: "Transaction",
    title: shorten(tx_hash),
    lead: leadOf(data, page),
    main,
    changes: changesOf(events.body, page),
  };
}

export const transactionPage = definePage({
  path: "/transactions/:id",
  findExample: exampleFrom("/events?type=IntentFilled&limit=1", "tx_hash"),
  load,
  render,
});
