// One quote: its terms, how long they hold, whether they are settled, its receipts, and the documents behind its hashes.
import { html } from "../../lib/html.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import {
  addressLink,
  amount,
  card,
  type Fact,
  facts,
  hash,
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
import { documentHash, findPublished } from "../documents.ts";
import { type EventsData, eventsUpTo } from "../events.ts";
import { shorten } from "../format.ts";
import { type ListData, listCard } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { receiptList, withoutColumns } from "./commerce-lists.ts";
import { changesWithin, facilitatorFact, findFacilitatorId, unreadNotice } from "./commerce-parts.ts";
import { railName } from "./commerce-words.ts";
import { findFirst } from "./intents.ts";
import { paymentSteps, type Quote, readPaymentEvents } from "./payment-life.ts";

type QuoteData = {
  readonly quote: ApiResult<Quote>;
  readonly receipts: ListData;
  readonly events: EventsData;
  readonly facilitatorId: string | null;
  readonly published: ReadonlySet<string>;
};

async function load(api: ApiReader, request: PageRequest): Promise<QuoteData> {
  const quoteHash = requireParam(request, "id");
  const quote = await api.get<Quote>("/quotes/:quoteHash", {
    params: { quoteHash },
    query: { include: "provenance" },
  });
  const { quote_hash, facilitator, resource_hash, terms_hash, x402_payload_hash } = quote.body;
  const [receipts, facilitatorId, published] = await Promise.all([
    api.list(receiptList, { query: { quote_hash, limit: "10" } }),
    findFacilitatorId(api, facilitator),
    findPublished(api, [resource_hash, terms_hash, x402_payload_hash]),
  ]);
  const events = await readPaymentEvents(api, {
    quote: quote.body,
    receiptId: null,
    receiptBlocks: receipts.records.map((each) => String(each.block_number)),
  });
  return { quote, receipts, events, facilitatorId, published };
}

type QuoteState = "SETTLED" | "EXPIRED" | "OPEN";

/** The last second is still in time. */
function stateOf({ settled, expires_at }: Quote, { head }: PageContext): QuoteState {
  if (settled) return "SETTLED";
  return BigInt(expires_at) < BigInt(head.block_timestamp ?? 0) ? "EXPIRED" : "OPEN";
}

function nextStep({ expires_at }: Quote, state: QuoteState): readonly TimelineStep[] {
  if (state === "SETTLED") return [];
  return state === "OPEN"
    ? [{ title: "Payable until", at: time(expires_at), state: "current" }]
    : [{ title: "Expired unpaid", at: time(expires_at), state: "failed" }];
}

function termsOf({ quote: { body: quote }, facilitatorId }: QuoteData, page: PageContext): readonly Fact[] {
  return [
    ["Hash of the quote", hash(page, quote.quote_hash)],
    ["Amount", amount(page, quote.amount, quote.token)],
    ["Token", token(page, quote.token)],
    [
      "Protocol fee, in the amount",
      html`${amount(page, quote.protocol_fee_amount, quote.token)}<span class="soft">, ${number(quote.protocol_fee_bps)} basis points</span>`,
    ],
    ["Merchant", recordLink(page, "merchant", quote.merchant_id)],
    ["Service", recordLink(page, "service", quote.service_numeric_id)],
    ["For agent", addressLink(page, quote.agent)],
    ["Paid by", railName(quote.payment_rail)],
    ["Facilitator", facilitatorFact(page, quote.facilitator, facilitatorId)],
    ["Valid until", time(quote.expires_at)],
    ["Number of the payment", number(quote.payment_nonce)],
    ["Committed", time(quote.block_timestamp)],
    ["Transaction", transaction(page, quote.tx_hash)],
  ];
}

function render(data: QuoteData, page: PageContext): PageView {
  const { quote: found, receipts, events, published } = data;
  const { body: quote } = found;
  const state = stateOf(quote, page);
  const commitments = facts([
    ["What is bought", documentHash(page, quote.resource_hash, published)],
    ["Terms", documentHash(page, quote.terms_hash, published)],
    ["x402 payload", documentHash(page, quote.x402_payload_hash, published)],
  ]);
  const shown = { ...receipts, list: withoutColumns(receipts.list, ["Merchant", "Service", "Agent"]) };
  const steps = [...paymentSteps(eventsUpTo(events.events, page), page), ...nextStep(quote, state)];
  const main = html`<div class="columns wide-first"><div>${card("Terms", html`${facts(termsOf(data, page))}${sourceLinks(page, found.call)}`)}${card("Commitments", html`<p class="soft note">Hashes of documents that merchant and agent agreed on. A document that is published here is linked.</p>${commitments}`)}${listCard("Receipts", shown, page)}</div><div>${card("Life", html`${timeline(steps)}${unreadNotice(events)}${sourceLinks(page, events.call)}`)}</div></div>`;
  return {
    kicker: "Quote",
    title: `Quote ${shorten(quote.quote_hash)}`,
    beside: status(state),
    lead: html`Merchant ${recordLink(page, "merchant", quote.merchant_id)} asks ${addressLink(page, quote.agent)} for ${amount(page, quote.amount, quote.token)}.`,
    main,
    ...changesWithin(events, page),
  };
}

export const quotePage = definePage({
  path: "/quotes/:id",
  findExample: async (get) => {
    const receipt = await findFirst(get, "/receipts?limit=1", "receipts");
    return { params: { id: String(receipt.quote_hash) } };
  },
  load,
  render,
});
