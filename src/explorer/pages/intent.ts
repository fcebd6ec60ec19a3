// One intent: its life, every bid on it against what its owner set, the fill with its proof, and the transactions.
import { type Html, html } from "../../lib/html.ts";
import type { bid, intentWithMetadata } from "../../protocol/reads/intents.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader } from "../api-reader.ts";
import { rangeLine } from "../charts.ts";
import {
  amount,
  badge,
  block,
  card,
  findToken,
  isoTime,
  number,
  price,
  recordLink,
  status,
  type TimelineStep,
  time,
  timeline,
  token,
  transaction,
} from "../components.ts";
import type { PageContext, PageRequest } from "../context.ts";
import {
  type EventsData,
  eventSource,
  eventsUpTo,
  eventTable,
  type ListedEvent,
  readEvents,
} from "../events.ts";
import { type Item, recordFacts, timeAndBlock } from "../fields.ts";
import { formatPercent, renderForeignText, splitWords } from "../format.ts";
import { type List, listCard, listQuery } from "../list.ts";
import { deadlineOf, limitPrice } from "../lists.ts";
import { columns, defineRecordPage, exampleFrom, recordCard, unreadNotice } from "../page.ts";

type Intent = RecordOf<typeof intentWithMetadata, "provenance" | "requirements">;
type Bid = RecordOf<typeof bid>;

export const bidList: List<Bid> = {
  route: "/intents/:id/bids",
  // Columns that depend on the intent are added when it is known.
  columns: [],
  empty: "There is no such bid at this block.",
};

type Range = { readonly from: bigint; readonly to: bigint; readonly limit: bigint };

/** Wide enough for every offer and the limit, with some room at both ends. */
function rangeOf(values: readonly string[], limit: string): Range {
  const all = [...values, limit].map(BigInt);
  const from = all.reduce((least, each) => (each < least ? each : least));
  const to = all.reduce((most, each) => (each > most ? each : most));
  return { from, to: to > from ? to : from + 1n, limit: BigInt(limit) };
}

/** The position of an offer, seen from the limit. `isBetter` says on which side of it an owner gains. */
function offerLine(
  { from, to, limit }: Range,
  value: string,
  isBetter: (offer: bigint, limit: bigint) => boolean,
): Html {
  const at = BigInt(value);
  return rangeLine(from, to, limit, { at, kind: at === limit || isBetter(at, limit) ? "good" : "bad" });
}

const LADDER_NOTE = html`<p class="soft note">Best first. Each line shows an offer against the limit that the owner set (▏): green on the side where the owner gains. The contract records a fee without a token.</p>`;

function ladder(records: readonly Bid[], intent: Intent): List<Bid> {
  if (records.length === 0) return bidList;
  const { amount_out_min: least, amount_in_max: most, input_token, output_token } = intent;
  const outs = rangeOf(
    records.map(({ amount_out }) => amount_out),
    least,
  );
  const ins = rangeOf(
    records.map(({ amount_in }) => amount_in),
    most,
  );
  return {
    ...bidList,
    rowClass: (each) => (each.status === "SELECTED" ? "chosen" : ""),
    columns: [
      [
        "Bid",
        (each) =>
          html`<span class="record">#${each.chain_bid_id ?? each.bid_id}</span> ${status(each.status)}${each.chain_bid_id === null && html` ${badge("off chain")}`}`,
      ],
      ["Solver", "solver"],
      [
        "Pays out",
        ({ amount_out: out }, page) =>
          html`${amount(page, out, output_token)}${offerLine(outs, out, (offer, limit) => offer > limit)}<span class="under">${signed(BigInt(out) - BigInt(least), output_token, page)} over the minimum</span>`,
        "number",
      ],
      [
        "Takes in",
        ({ amount_in: taken }, page) =>
          html`${amount(page, taken, input_token)}${offerLine(ins, taken, (offer, limit) => offer < limit)}<span class="under">${signed(BigInt(most) - BigInt(taken), input_token, page)} below the maximum</span>`,
        "number",
      ],
      ["Fee", "fee", "number"],
      ["Made", (each) => isoTime(each.created_at, each.chain_bid_id === null ? "server" : "chain")],
      ["Valid until", (each) => deadlineOf({ status: intent.status, deadline: each.valid_until })],
    ],
  };
}

export function signed(units: bigint, of: string, page: PageContext): Html {
  const tone = units > 0n ? "gain" : units < 0n ? "loss" : "soft";
  return html`<span class="${tone}">${units > 0n && "+"}${amount(page, units.toString(), of)}</span>`;
}

const isBid = ({ type }: ListedEvent) => type === "SolverBidSubmitted";

/** The events in order; bids between two other events are one step, because the ladder has each of them. */
function lifeOf(events: readonly ListedEvent[], page: PageContext): readonly TimelineStep[] {
  const groups: ListedEvent[][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last !== undefined && isBid(event) && last.every(isBid)) last.push(event);
    else groups.push([event]);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    const last = group.at(-1);
    if (first === undefined || last === undefined) return [];
    const at = html`${time(last.block_timestamp)} · block ${block(page, last.block_number)}`;
    const state = last.type === "IntentCancelled" ? "failed" : "done";
    if (isBid(first) && group.length > 1) return [{ title: `${group.length} bids`, at, state }];
    return [
      {
        title: STEP_TITLES[first.type]?.(first) ?? splitWords(first.type),
        at,
        detail: transaction(page, first.tx_hash),
        state,
      },
    ];
  });
}

const STEP_TITLES: Readonly<Record<string, (event: ListedEvent) => string>> = {
  IntentSubmitted: () => "Submitted",
  SolverBidSubmitted: ({ args }) => `Bid #${args.bidId}`,
  SolverBidSelected: ({ args }) => `Bid #${args.bidId} selected`,
  IntentFilled: () => "Filled",
  IntentFillProof: () => "Proof of the fill recorded",
  IntentCancelled: () => "Cancelled by its owner",
};

function lastStep({ status: state, deadline }: Intent): readonly TimelineStep[] {
  if (state === "OPEN") return [{ title: "Open until the deadline", at: time(deadline), state: "current" }];
  if (state === "EXPIRED") return [{ title: "Expired", at: time(deadline), state: "failed" }];
  return [];
}

/** Shows the token itself if its symbol does not say it. */
function amountOf(units: string, of: string, page: PageContext): Html {
  const isKnown = findToken(page, of) !== null;
  return html`${amount(page, units, of)}${!isKnown && html` <span class="soft">of</span> ${token(page, of)}`}`;
}

const TERMS: readonly Item<Intent>[] = [
  ["Owner", "owner"],
  ["Kind", (each) => renderForeignText(splitWords(each.intent_type))],
  ["Gives at most", (each, page) => amountOf(each.amount_in_max, each.input_token, page)],
  ["Wants at least", (each, page) => amountOf(each.amount_out_min, each.output_token, page)],
  ["Price", limitPrice],
  ["Slippage", "slippage_bps"],
  ["Deadline", (each) => deadlineOf(each, "page")],
  ["Submitted", timeAndBlock],
  ["Transaction", "tx_hash"],
  ["Nonce", "nonce"],
];

function shareUnder(part: string, whole: string, name: string): Html | null {
  const share = formatPercent(BigInt(part), BigInt(whole));
  return share === null ? null : html`<span class="under">${share} of the ${name}</span>`;
}

function fillCard({ fill, ...intent }: Intent, page: PageContext): Html {
  if (fill === null) return card("Fill", html`<p class="empty">Not filled at this block.</p>`);
  const surplus = BigInt(fill.amount_out) - BigInt(intent.amount_out_min);
  const saved = BigInt(intent.amount_in_max) - BigInt(fill.amount_in);
  const waited = BigInt(fill.block_number) - BigInt(intent.block_number);
  const attestation = fill.attestation_id ?? "0";
  const items: readonly Item<typeof fill>[] = [
    ["Solver", "solver"],
    [
      "Paid out",
      (each) =>
        html`${amount(page, each.amount_out, intent.output_token)}${shareUnder(each.amount_out, intent.amount_out_min, "minimum")}`,
    ],
    ["Surplus over the minimum", () => signed(surplus, intent.output_token, page)],
    [
      "Took in",
      (each) =>
        html`${amount(page, each.amount_in, intent.input_token)}${shareUnder(each.amount_in, intent.amount_in_max, "maximum")}`,
    ],
    ["Below the maximum", () => signed(saved, intent.input_token, page)],
    [
      "Price",
      (each) =>
        price(
          page,
          { units: each.amount_out, token: intent.output_token },
          { units: each.amount_in, token: intent.input_token },
        ),
    ],
    ["Blocks from submission", () => number(waited.toString())],
    [
      "Transaction",
      (each) => html`${transaction(page, each.tx_hash)} · block ${block(page, each.block_number)}`,
    ],
    ["Hash of the result", "result_hash"],
    ["Hash of the trace", "trace_hash"],
    ["Attestation", () => (attestation === "0" ? null : recordLink(page, "attestation", attestation))],
  ];
  return card("Fill and proof", recordFacts(items, fill, page), { id: "fill" });
}

type Required = Pick<
  Intent["requirements"],
  "execution_target" | "required_attestation_subject" | "required_attestation_schema"
>;

const ABOUT: readonly Item<{ [Name in keyof Required]: Required[Name] | null | undefined }>[] = [
  ["Attestation about", "required_attestation_subject"],
  ["Attestation schema", "required_attestation_schema"],
];

function requirementFacts({ requirements, metadata }: Intent, page: PageContext): Html {
  const required = recordFacts(
    [
      ["Target", "execution_target"],
      ["Hash of the call data", "data_hash"],
      ...ABOUT,
      ["Hash of the metadata URI", "metadata_uri_hash"],
    ],
    requirements,
    page,
  );
  if (metadata === null)
    return html`${required}<p class="soft">Its owner has stored no metadata for the execution.</p>`;
  const stored = recordFacts(
    [
      ["Target", "execution_target"],
      [
        "Call data",
        ({ execution_data: data }) =>
          typeof data === "string" && html`<code class="data">${renderForeignText(data)}</code>`,
      ],
      ...ABOUT,
      ["Stored", "created_at"],
      ["Changed", "updated_at"],
    ],
    metadata,
    page,
  );
  return html`${required}<h3>Metadata from its owner</h3>${stored}`;
}

function transactionRows(events: EventsData, page: PageContext): Html {
  return html`${eventTable(eventsUpTo(events.events, page), page)}
${unreadNotice(events, page)}${eventSource(page, events.call)}`;
}

export const intentPage = defineRecordPage({
  kind: "intent",
  include: "provenance,requirements",
  id: "intent_id",
  lists: [bidList],
  filtered: bidList,
  findExample: exampleFrom("/intents?status=filled&limit=1", "intent_id"),
  loadById: async (api: ApiReader, id: string, request: PageRequest) => ({
    bids: await api.list(bidList, { params: { id }, query: { ...listQuery(request), limit: "100" } }),
  }),
  load: async (api: ApiReader, { intent_id, block_number }: Intent) => {
    const events = await readEvents(api, block_number, { intent: intent_id });
    const end = events.events.find(({ type }) => type === "IntentFilled" || type === "IntentCancelled");
    // Nothing comes after its end: if that is among the first events, none is missing.
    const isWhole = end !== undefined && BigInt(end.block_number) < BigInt(events.unreadBefore ?? 0);
    return { events: isWhole ? { ...events, unreadBefore: null, older: null, isOpenEnded: false } : events };
  },
  state: ({ record }) => status(record.status),
  lead: ({ record }, page) =>
    html`Swaps at most ${amount(page, record.amount_in_max, record.input_token)} for at least ${amount(page, record.amount_out_min, record.output_token)}.`,
  main: (data, page) => {
    const { record, bids, events } = data;
    const life = timeline([...lifeOf(eventsUpTo(events.events, page), page), ...lastStep(record)]);
    const best = { ...bids, list: ladder(bids.records, record) };
    return html`${columns(recordCard("Terms", TERMS, data, page), card("Life", life), true)}
${listCard("Bids", best, page, { isPaged: true, id: "bids", note: LADDER_NOTE })}
${columns(fillCard(record, page), card("What the execution requires", requirementFacts(record, page), { id: "requirements" }))}
${card("Transactions", transactionRows(events, page))}`;
  },
});
