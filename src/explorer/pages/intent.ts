// One intent: its life, every bid on it against what its owner set, the fill with its proof, and the transactions.

import { type Html, html } from "../../lib/html.ts";
import type { intentWithMetadata } from "../../protocol/reads/intents.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiRecord } from "../api-call.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { rangeLine } from "../charts.ts";
import {
  addressLink,
  amount,
  badge,
  block,
  card,
  type Fact,
  facts,
  findToken,
  hash,
  isoTime,
  number,
  recordLink,
  status,
  type TimelineStep,
  time,
  timeline,
  token,
  transaction,
} from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import {
  type EventsData,
  eventSource,
  eventsUpTo,
  eventTable,
  type ListedEvent,
  readEvents,
} from "../events.ts";
import { renderForeignText } from "../foreign-text.ts";
import { splitWords } from "../format.ts";
import { type List, type ListData, listCard, listQuery } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { changesWithin, unreadNotice } from "./commerce-parts.ts";
import { findFirst } from "./intents.ts";

type Intent = RecordOf<typeof intentWithMetadata, "provenance" | "requirements">;

type IntentData = {
  readonly intent: ApiResult<Intent>;
  readonly bids: ListData;
  readonly events: EventsData;
};

export const bidList: List = {
  route: "/intents/:id/bids",
  key: "bids",
  csv: "/intents/:id/bids.csv",
  // Requests that depend on the intent are added when it is known.
  columns: [],
  empty: "There is no such bid at this block.",
};

async function load(api: ApiReader, request: PageRequest): Promise<IntentData> {
  const id = requireParam(request, "id");
  const bids = api.list(bidList, { params: { id }, query: { ...listQuery(request), limit: "100" } });
  const intent = api.get<Intent>("/intents/:id", {
    params: { id },
    query: { include: "provenance,requirements" },
  });
  // Whichever fails first decides; the other must not stay unhandled.
  const [found, offers] = await Promise.all([intent, bids]);
  const events = await readEvents(api, found.body.block_number, { intent: found.body.intent_id });
  return { intent: found, bids: offers, events };
}

type Range = { readonly from: bigint; readonly to: bigint; readonly limit: bigint };

/** Wide enough for every offer and the limit, with some room at both ends. */
function rangeOf(values: readonly unknown[], limit: string): Range {
  const all = [...values.map((value) => BigInt(String(value))), BigInt(limit)];
  const from = all.reduce((least, each) => (each < least ? each : least));
  const to = all.reduce((most, each) => (each > most ? each : most));
  return { from, to: to > from ? to : from + 1n, limit: BigInt(limit) };
}

/** If an offer is, seen from the limit. `isBetter` says on which side of it an owner gains. */
function offerLine(
  { from, to, limit }: Range,
  value: unknown,
  isBetter: (offer: bigint, limit: bigint) => boolean,
): Html {
  const at = BigInt(String(value));
  return rangeLine(from, to, limit, { at, kind: at === limit || isBetter(at, limit) ? "good" : "bad" });
}

const LADDER_NOTE = html`<p class="soft note">Best first. Each line shows an offer against the limit that the owner set (▏): green on the side where the owner gains.</p>`;

function ladder({ records, list }: ListData, { body: intent }: ApiResult<Intent>): List {
  const outs = rangeOf(
    records.map(({ amount_out }) => amount_out),
    intent.amount_out_min,
  );
  const ins = rangeOf(
    records.map(({ amount_in }) => amount_in),
    intent.amount_in_max,
  );
  const surplus = (bid: ApiRecord) => BigInt(String(bid.amount_out)) - BigInt(intent.amount_out_min);
  const saved = (bid: ApiRecord) => BigInt(intent.amount_in_max) - BigInt(String(bid.amount_in));
  return {
    ...list,
    rowClass: (bid) => (bid.status === "SELECTED" ? "chosen" : ""),
    columns: [
      {
        label: "Bid",
        cell: (bid) =>
          html`<span class="record">#${String(bid.chain_bid_id ?? bid.bid_id)}</span> ${status(String(bid.status))}${bid.chain_bid_id === null && html` ${badge("off chain")}`}`,
      },
      { label: "Solver", cell: (bid, page) => addressLink(page, bid.solver) },
      {
        label: "Pays out",
        kind: "number",
        cell: (bid, page) =>
          html`${amount(page, bid.amount_out, intent.output_token)}${offerLine(outs, bid.amount_out, (offer, limit) => offer > limit)}<span class="under">${signed(surplus(bid), intent.output_token, page)} over the minimum</span>`,
      },
      {
        label: "Takes in",
        kind: "number",
        cell: (bid, page) =>
          html`${amount(page, bid.amount_in, intent.input_token)}${offerLine(ins, bid.amount_in, (offer, limit) => offer < limit)}<span class="under">${signed(saved(bid), intent.input_token, page)} below the maximum</span>`,
      },
      {
        label: "Fee",
        kind: "number",
        cell: (bid) => html`${number(bid.fee)} <span class="symbol">units</span>`,
      },
      { label: "Made", cell: (bid) => isoTime(bid.created_at) },
      { label: "Valid until", cell: (bid) => time(bid.valid_until) },
    ],
  };
}

function signed(units: bigint, of: string, page: PageContext): Html {
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

function termsOf(intent: Intent, page: PageContext): readonly Fact[] {
  return [
    ["Owner", addressLink(page, intent.owner)],
    ["Kind", renderForeignText(splitWords(intent.intent_type))],
    ["Gives at most", amountOf(intent.amount_in_max, intent.input_token, page)],
    ["Wants at least", amountOf(intent.amount_out_min, intent.output_token, page)],
    ["Slippage", html`${number(intent.slippage_bps)} basis points`],
    ["Deadline", time(intent.deadline)],
    ["Submitted", html`${time(intent.block_timestamp)} · block ${block(page, intent.block_number)}`],
    ["Transaction", transaction(page, intent.tx_hash)],
    ["Nonce", number(intent.nonce)],
  ];
}

function fillFacts(intent: Intent, fill: NonNullable<Intent["fill"]>, page: PageContext): readonly Fact[] {
  const surplus = BigInt(fill.amount_out) - BigInt(intent.amount_out_min);
  const saved = BigInt(intent.amount_in_max) - BigInt(fill.amount_in);
  const waited = BigInt(fill.block_number) - BigInt(intent.block_number);
  const attestation = fill.attestation_id ?? "0";
  return [
    ["Solver", addressLink(page, fill.solver)],
    ["Paid out", amount(page, fill.amount_out, intent.output_token)],
    ["Surplus over the minimum", signed(surplus, intent.output_token, page)],
    ["Took in", amount(page, fill.amount_in, intent.input_token)],
    ["Below the maximum", signed(saved, intent.input_token, page)],
    ["Blocks from submission", number(waited.toString())],
    ["Transaction", html`${transaction(page, fill.tx_hash)} · block ${block(page, fill.block_number)}`],
    ["Hash of the result", hash(page, fill.result_hash)],
    ["Hash of the trace", hash(page, fill.trace_hash)],
    ["Attestation", attestation === "0" ? null : recordLink(page, "attestation", attestation)],
  ];
}

function requirementFacts({ requirements, metadata }: Intent, page: PageContext): Html {
  const required: readonly Fact[] = [
    ["Target", addressLink(page, requirements.execution_target)],
    ["Hash of the call data", hash(page, requirements.data_hash)],
    ["Attestation about", hash(page, requirements.required_attestation_subject)],
    ["Attestation schema", hash(page, requirements.required_attestation_schema, "schema")],
    ["Hash of the metadata URI", hash(page, requirements.metadata_uri_hash)],
  ];
  if (metadata === null)
    return html`${facts(required)}<p class="soft">Its owner has stored no metadata for the execution.</p>`;
  const stored: readonly Fact[] = [
    ["Target", addressLink(page, metadata.execution_target)],
    [
      "Call data",
      metadata.execution_data === null || metadata.execution_data === undefined
        ? null
        : html`<code class="data">${renderForeignText(metadata.execution_data)}</code>`,
    ],
    ["Attestation about", hash(page, metadata.required_attestation_subject)],
    ["Attestation schema", hash(page, metadata.required_attestation_schema, "schema")],
    ["Stored", isoTime(metadata.created_at)],
    ["Changed", isoTime(metadata.updated_at)],
  ];
  return html`${facts(required)}<h3>Metadata from its owner</h3>${facts(stored)}`;
}

function transactionRows({ events }: IntentData, page: PageContext): Html {
  const shown = eventsUpTo(events.events, page);
  return html`${eventTable(shown, page)}
${unreadNotice(events)}${eventSource(page, events.call)}`;
}

function render(loaded: IntentData, page: PageContext): PageView {
  const { intent: found, bids, events: data } = loaded;
  const { body: intent } = found;
  const events = eventsUpTo(data.events, page);
  const { fill } = intent;
  const best = bids.records.length > 0 ? ladder(bids, found) : bids.list;
  const main = html`<div class="columns wide-first"><div>${card("Terms", html`${facts(termsOf(intent, page))}${sourceLinks(page, found.call)}`)}</div><div>${card("Life", timeline([...lifeOf(events, page), ...lastStep(intent)]))}</div></div>
${listCard("Bids", { ...bids, list: best }, page, { isPaged: true, id: "bids", note: LADDER_NOTE })}
<div class="columns"><div>${fill === null ? card("Fill", html`<p class="empty">Not filled at this block.</p>`) : card("Fill and proof", facts(fillFacts(intent, fill, page)), { id: "fill" })}</div><div>${card("What the execution requires", requirementFacts(intent, page), { id: "requirements" })}</div></div>
${card("Transactions", transactionRows(loaded, page))}`;
  return {
    kicker: "Intent",
    title: `Intent #${intent.intent_id}`,
    beside: status(intent.status),
    lead: html`Swaps at most ${amount(page, intent.amount_in_max, intent.input_token)} for at least ${amount(page, intent.amount_out_min, intent.output_token)}.`,
    main,
    ...changesWithin(data, page),
  };
}

export const intentPage = definePage({
  path: "/intents/:id",
  lists: [bidList],
  filtered: bidList,
  findExample: async (get) => {
    const intent = await findFirst(get, "/intents?status=filled&limit=1", "intents");
    return { params: { id: String(intent.intent_id) } };
  },
  load,
  render,
});
