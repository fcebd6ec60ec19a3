// One receipt: who paid whom, its life from the quote to delivery and dispute, its fee, and the hashes that prove it.

import { type Html, html } from "../../lib/html.ts";
import type { receipt } from "../../protocol/reads/commerce.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import {
  addressLink,
  amount,
  badge,
  block,
  card,
  type Fact,
  facts,
  hash,
  number,
  recordLink,
  type TimelineStep,
  time,
  timeline,
  token,
  transaction,
} from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { documentHash, findPublished } from "../documents.ts";
import { type EventsData, eventsUpTo } from "../events.ts";
import { type ListData, listCard } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { disputeList, withoutColumns } from "./commerce-lists.ts";
import { changesWithin, facilitatorFact, findFacilitatorId, unreadNotice } from "./commerce-parts.ts";
import { railName } from "./commerce-words.ts";
import { findFirst } from "./intents.ts";
import { paymentSteps, type Quote, readPaymentEvents } from "./payment-life.ts";

type Receipt = RecordOf<typeof receipt, "provenance">;

type ReceiptData = {
  readonly receipt: ApiResult<Receipt>;
  readonly quote: ApiResult<Quote>;
  readonly disputes: ListData;
  readonly events: EventsData;
  readonly facilitatorId: string | null;
  readonly published: ReadonlySet<string>;
};

const DISPUTES_SHOWN = "20";

async function load(api: ApiReader, request: PageRequest): Promise<ReceiptData> {
  const id = requireParam(request, "id");
  const receipt = await api.get<Receipt>("/receipts/:id", {
    params: { id },
    query: { include: "provenance" },
  });
  const { quote_hash, facilitator, result_hash, resource_hash, fulfillment_hash, block_number } =
    receipt.body;
  const [quote, disputes, facilitatorId, published] = await Promise.all([
    api.get<Quote>("/quotes/:quoteHash", {
      params: { quoteHash: quote_hash },
      query: { include: "provenance" },
    }),
    api.list(disputeList, { query: { receipt_id: id, limit: DISPUTES_SHOWN } }),
    findFacilitatorId(api, facilitator),
    findPublished(api, [result_hash, resource_hash, fulfillment_hash]),
  ]);
  const events = await readPaymentEvents(api, {
    quote: quote.body,
    receiptId: receipt.body.receipt_id,
    receiptBlocks: [block_number],
  });
  return { receipt, quote, disputes, events, facilitatorId, published };
}

function paymentFacts({ receipt: { body: receipt } }: ReceiptData, page: PageContext): readonly Fact[] {
  const rest = BigInt(receipt.amount) - BigInt(receipt.protocol_fee_amount);
  return [
    ["Amount", amount(page, receipt.amount, receipt.token)],
    ["Token", token(page, receipt.token)],
    [
      "Protocol fee, in the amount",
      html`${amount(page, receipt.protocol_fee_amount, receipt.token)}<span class="soft">, ${number(receipt.protocol_fee_bps)} basis points</span>`,
    ],
    ["Without the fee", amount(page, rest.toString(), receipt.token)],
    ["Paid by", railName(receipt.payment_rail)],
    ["Recorded", html`${time(receipt.block_timestamp)} · block ${block(page, receipt.block_number)}`],
    ["Transaction", transaction(page, receipt.tx_hash)],
  ];
}

function partyFacts({ receipt: { body: receipt }, facilitatorId }: ReceiptData, page: PageContext): Html {
  return facts([
    ["Agent", addressLink(page, receipt.agent)],
    ["Merchant", recordLink(page, "merchant", receipt.merchant_id)],
    ["Service", recordLink(page, "service", receipt.service_numeric_id)],
    ["Facilitator", facilitatorFact(page, receipt.facilitator, facilitatorId)],
  ]);
}

function proofFacts({ receipt: { body: receipt }, published }: ReceiptData, page: PageContext): Html {
  return html`<p class="soft note">Hashes of what was bought, paid and delivered. A document that is published here is linked.</p>${facts(
    [
      ["Quote", hash(page, receipt.quote_hash, "quote")],
      ["What was bought", documentHash(page, receipt.resource_hash, published)],
      ["Result of the payment", documentHash(page, receipt.result_hash, published)],
      ["Delivery", documentHash(page, receipt.fulfillment_hash, published)],
    ],
  )}`;
}

function nextStep({ fulfillment_hash }: Receipt): readonly TimelineStep[] {
  return fulfillment_hash === null ? [{ title: "Delivery not recorded", state: "current" }] : [];
}

function render(data: ReceiptData, page: PageContext): PageView {
  const { receipt: found, disputes, events } = data;
  const { body: receipt } = found;
  const isOpen = disputes.records.some((each) => each.status === "OPEN");
  const isFulfilled = receipt.fulfillment_hash !== null;
  const steps = [...paymentSteps(eventsUpTo(events.events, page), page), ...nextStep(receipt)];
  const list = { ...withoutColumns(disputes.list, ["Receipt"]), empty: "Not disputed at this block." };
  const shown = { ...disputes, list };
  const life = html`${timeline(steps)}${unreadNotice(events)}${sourceLinks(page, events.call)}`;
  const main = html`<div class="columns wide-first"><div>${card("Payment", html`${facts(paymentFacts(data, page))}${sourceLinks(page, found.call)}`)}${card("Parties", partyFacts(data, page))}${card("Proof", proofFacts(data, page))}${listCard("Disputes", shown, page)}</div><div>${card("Life", life)}</div></div>`;
  return {
    kicker: "Receipt",
    title: `Receipt #${receipt.receipt_id}`,
    beside: html`${isFulfilled ? badge("Fulfilled", "good") : badge("Settled", "accent")}${isOpen && html` ${badge("Disputed", "bad")}`}`,
    lead: html`${addressLink(page, receipt.agent)} paid merchant ${recordLink(page, "merchant", receipt.merchant_id)} ${amount(page, receipt.amount, receipt.token)}.`,
    main,
    ...changesWithin(events, page),
  };
}

export const receiptPage = definePage({
  path: "/receipts/:id",
  findExample: async (get) => {
    const dispute = await findFirst(get, "/disputes?limit=1", "disputes");
    return { params: { id: String(dispute.receipt_id) } };
  },
  load,
  render,
});
