// Quotes, receipts and disputes: the terms, parties and hashes of a payment, and its life from the quote to the end.
import { html } from "../../lib/html.ts";
import type { dispute, quote, receipt } from "../../protocol/reads/commerce.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import type { ApiReader } from "../api-reader.ts";
import {
  addressLink,
  amount,
  badge,
  basisPoints,
  card,
  hash,
  recordLink,
  status,
  type TimelineStep,
  time,
} from "../components.ts";
import { type PageContext, sourceLinks } from "../context.ts";
import { asExplained, type EventsData, eventsUpTo, type ListedEvent, readEvents } from "../events.ts";
import { type Item, recordFacts, writtenAt } from "../fields.ts";
import { listCard, type RecordPage, withoutColumns } from "../list.ts";
import { disputeList, facilitatorList, receiptList } from "../lists.ts";
import { columns, defineRecordPage, exampleFrom, lifeCard, lifeSteps, readAll, recordCard } from "../page.ts";

type Quote = RecordOf<typeof quote, "provenance">;
type Receipt = RecordOf<typeof receipt, "provenance">;
type Dispute = RecordOf<typeof dispute, "provenance">;

const EVENTS = [
  ...["QuoteCommitted", "SettlementExecuted", "ReceiptRecorded"],
  ...["FulfillmentRecorded", "DisputeOpened", "DisputeResolved"],
];

/** The subject of a page: a quote with all of its receipts, or one receipt. */
type Payment = {
  readonly quote: Quote;
  /** The only receipt whose events count; null for every one of the quote. */
  readonly receiptId: string | null;
  /** Blocks of the receipts that are known. */
  readonly receiptBlocks: readonly string[];
};

/** Events of the payment from its quote on, those after the shown block too. */
async function readPaymentEvents(api: ApiReader, payment: Payment): Promise<EventsData> {
  const { quote, receiptBlocks } = payment;
  // A quote can be committed again after it was paid, and has the place of its last commitment.
  const blocks = [quote.block_number, ...receiptBlocks].map(BigInt);
  const first = blocks.reduce((least, each) => (each < least ? each : least)).toString();
  const filter = {
    type: EVENTS.join(","),
    merchant: quote.merchant_id,
    service: quote.service_numeric_id,
  };
  // One request is for an earlier commitment.
  const data = await readEvents(api, first, filter, 1);
  const earlier = await readEarlierCommitments(api, quote);
  const unread = earlier.filter(({ block_number }) => BigInt(block_number) < BigInt(first));
  return { ...data, events: selectEvents([...unread, ...data.events], payment) };
}

/** In order, as the quote was just before each later one: the nearest ones, as many as the page has requests left. */
async function readEarlierCommitments(api: ApiReader, quote: Quote): Promise<readonly ListedEvent[]> {
  const { start_block } = await api.head();
  const found: ListedEvent[] = [];
  for (let at = quote; BigInt(at.block_number) > BigInt(start_block); ) {
    const block = (BigInt(at.block_number) - 1n).toString();
    const before = await api.findRecord<Quote>("quote", quote.quote_hash, { include: "provenance", block });
    if (before === null) break;
    at = before.body;
    found.unshift(toCommitment(at));
    if (api.requestsLeft <= 0) break;
  }
  return found;
}

/** The event of a commitment, as far as the quote has it. */
function toCommitment({ quote_hash, ...quote }: Quote): ListedEvent {
  const { tx_hash, log_index, block_number, block_timestamp } = quote;
  const args = { quoteHash: quote_hash };
  return {
    id: tx_hash,
    type: "QuoteCommitted",
    args,
    parts: [],
    tx_hash,
    log_index,
    block_number,
    block_timestamp,
  };
}

/** In order: a dispute is known by its receipt, and a receipt by its quote. */
function selectEvents(
  events: readonly ListedEvent[],
  { quote: { quote_hash }, receiptId }: Payment,
): readonly ListedEvent[] {
  const receipts = new Set<unknown>();
  const disputes = new Set<unknown>();
  return events.filter(({ type, args }) => {
    if (type === "DisputeResolved") return disputes.has(args.disputeId);
    if (type === "QuoteCommitted" || type === "SettlementExecuted") return args.quoteHash === quote_hash;
    if (type === "ReceiptRecorded") {
      const isOurs = args.quoteHash === quote_hash && (receiptId ?? args.receiptId) === args.receiptId;
      if (isOurs) receipts.add(args.receiptId);
      return isOurs;
    }
    const isOurs = receipts.has(args.receiptId);
    if (isOurs && type === "DisputeOpened") disputes.add(args.disputeId);
    return isOurs;
  });
}

/** Whether the events are all that made the receipt and its disputes what they are. */
function explainsReceipt(
  events: readonly ListedEvent[],
  { fulfillment_hash }: Receipt,
  disputes: RecordPage<Pick<Dispute, "dispute_id" | "status">>,
): boolean {
  const delivered = events.findLast(({ type }) => type === "FulfillmentRecorded")?.args.fulfillmentHash;
  const has = (wanted: string, id: string) =>
    events.some(({ type, args }) => type === wanted && args.disputeId === id);
  return (
    (isZeroHash(delivered) ? null : delivered) === fulfillment_hash &&
    disputes.next === null &&
    disputes.records.every(
      ({ dispute_id: id, status: state }) =>
        has("DisputeOpened", id) && (state === "OPEN" || has("DisputeResolved", id)),
    )
  );
}

const isZeroHash = (value: unknown) => value === undefined || /^0x0*$/.test(String(value));

const REJECTED = "2";

function toStep({ type, args }: ListedEvent, page: PageContext) {
  const dispute = () => recordLink(page, "dispute", String(args.disputeId));
  const isWithdrawn = isZeroHash(args.fulfillmentHash);
  switch (type) {
    case "QuoteCommitted":
      return { title: "Quoted" };
    case "SettlementExecuted":
      return { title: "Paid through the settlement adapter" };
    case "ReceiptRecorded":
      return { title: html`Settled, receipt ${recordLink(page, "receipt", String(args.receiptId))}` };
    case "FulfillmentRecorded":
      return { title: isWithdrawn ? "Fulfilment withdrawn" : "Fulfilled", isSetback: isWithdrawn };
    case "DisputeOpened":
      return { title: html`Dispute ${dispute()} opened`, isSetback: true };
    default:
      return {
        title: html`Dispute ${dispute()} ${String(args.status) === REJECTED ? "rejected" : "resolved"}`,
      };
  }
}

/** The life of a payment, and the step that is open. */
function paymentLife(events: EventsData, page: PageContext, next: TimelineStep | null) {
  return lifeCard([...lifeSteps(events, page, toStep), ...(next === null ? [] : [next])], events, page);
}

/** The registered facilitator with this address, by its number; null for none. */
async function findFacilitatorId(api: ApiReader, facilitator: string): Promise<string | null> {
  if (facilitator === ZERO_ADDRESS) return null;
  const { records } = await api.list(facilitatorList, { query: { facilitator, limit: "1" } });
  return records[0]?.facilitator_id ?? null;
}

type Paid = Pick<Quote, "facilitator" | "token" | "protocol_fee_amount" | "protocol_fee_bps">;

/** A facilitator by its number and its address. */
const facilitatorItem = (id: string | null): Item<Paid> => [
  "Facilitator",
  ({ facilitator }, page) =>
    html`${id !== null && html`${recordLink(page, "facilitator", id)} `}${addressLink(page, facilitator)}`,
];

const feeItem: Item<Paid> = [
  "Protocol fee, in the amount",
  ({ protocol_fee_amount, protocol_fee_bps, token }, page) =>
    html`${amount(page, protocol_fee_amount, token)}<span class="soft">, ${basisPoints(protocol_fee_bps)}</span>`,
];

/** The last second is still in time. */
function stateOf({ settled, expires_at }: Quote, { head }: PageContext): "SETTLED" | "EXPIRED" | "OPEN" {
  if (settled) return "SETTLED";
  return BigInt(expires_at) < BigInt(head.block_timestamp ?? 0) ? "EXPIRED" : "OPEN";
}

function nextStep(quote: Quote, page: PageContext): TimelineStep | null {
  const state = stateOf(quote, page);
  if (state === "SETTLED") return null;
  const at = time(quote.expires_at);
  return state === "OPEN"
    ? { title: "Payable until", at, state: "current" }
    : { title: "Expired unpaid", at, state: "failed" };
}

const termsOf = (facilitatorId: string | null): readonly Item<Quote>[] => [
  ["Hash of the quote", ({ quote_hash }, page) => hash(page, quote_hash)],
  ["Amount", "amount"],
  ["Token", "token"],
  feeItem,
  ["Merchant", "merchant_id"],
  ["Service", "service_numeric_id"],
  ["For agent", "agent"],
  ["Paid by", "payment_rail"],
  facilitatorItem(facilitatorId),
  ["Valid until", "expires_at"],
  ["Number of the payment", "payment_nonce"],
  ["Committed", "block_timestamp"],
  ["Transaction", "tx_hash"],
];

export const quotePage = defineRecordPage({
  kind: "quote",
  id: "quote_hash",
  documents: ["resource_hash", "terms_hash", "x402_payload_hash"],
  findExample: exampleFrom("/receipts?limit=1", "quote_hash"),
  load: async (api: ApiReader, quote: Quote) => {
    const { receipts, facilitatorId } = await readAll({
      receipts: api.list(receiptList, { query: { quote_hash: quote.quote_hash, limit: "10" } }),
      facilitatorId: findFacilitatorId(api, quote.facilitator),
    });
    const receiptBlocks = receipts.records.map(({ block_number }) => block_number);
    const events = await readPaymentEvents(api, { quote, receiptId: null, receiptBlocks });
    return { receipts, facilitatorId, events };
  },
  state: ({ record }, page) => status(stateOf(record, page)),
  lead: ({ record }, page) =>
    html`Merchant ${recordLink(page, "merchant", record.merchant_id)} asks ${addressLink(page, record.agent)} for ${amount(page, record.amount, record.token)}.`,
  main: (data, page) => {
    const { record, receipts, published } = data;
    const commitments = recordFacts(
      [
        ["What is bought", "resource_hash"],
        ["Terms", "terms_hash"],
        ["x402 payload", "x402_payload_hash"],
      ],
      record,
      page,
      published,
    );
    const shown = { ...receipts, list: withoutColumns(receipts.list, ["Merchant", "Service", "Agent"]) };
    return columns(
      html`${recordCard("Terms", termsOf(data.facilitatorId), data, page)}${card("Commitments", html`<p class="soft note">Hashes of documents that merchant and agent agreed on. A document that is published here is linked.</p>${commitments}`)}${listCard("Receipts", shown, page)}`,
      paymentLife(data.events, page, nextStep(record, page)),
      true,
    );
  },
});

const PAYMENT: readonly Item<Receipt>[] = [
  ["Amount", "amount"],
  ["Token", "token"],
  feeItem,
  [
    "Without the fee",
    (each, page) =>
      amount(page, (BigInt(each.amount) - BigInt(each.protocol_fee_amount)).toString(), each.token),
  ],
  ["Paid by", "payment_rail"],
  ...writtenAt("Recorded"),
];

const PROOF: readonly Item<Receipt>[] = [
  ["Quote", "quote_hash"],
  ["What was bought", "resource_hash"],
  ["Result of the payment", "result_hash"],
  ["Delivery", "fulfillment_hash"],
];

const DISPUTES_SHOWN = "20";

export const receiptPage = defineRecordPage({
  kind: "receipt",
  id: "receipt_id",
  documents: ["result_hash", "resource_hash", "fulfillment_hash"],
  findExample: exampleFrom("/disputes?limit=1", "receipt_id"),
  load: async (api: ApiReader, record: Receipt) => {
    const { receipt_id, quote_hash, facilitator, block_number } = record;
    const { quote, disputes, facilitatorId, head } = await readAll({
      head: api.head(),
      quote: api.get<Quote>("/quotes/:quoteHash", {
        params: { quoteHash: quote_hash },
        query: { include: "provenance" },
      }),
      disputes: api.list(disputeList, { query: { receipt_id, limit: DISPUTES_SHOWN } }),
      facilitatorId: findFacilitatorId(api, facilitator),
    });
    const payment = { quote: quote.body, receiptId: receipt_id, receiptBlocks: [block_number] };
    const events = await readPaymentEvents(api, payment);
    const isExplained = explainsReceipt(eventsUpTo(events.events, { head }), record, disputes);
    return { disputes, facilitatorId, events: asExplained(events, isExplained) };
  },
  state: ({ record, disputes }) => {
    const isOpen = disputes.records.some((each) => each.status === "OPEN");
    const state = record.fulfillment_hash === null ? badge("Settled", "accent") : badge("Fulfilled", "good");
    return html`${state}${isOpen && html` ${badge("Disputed", "bad")}`}`;
  },
  lead: ({ record }, page) =>
    html`${addressLink(page, record.agent)} paid merchant ${recordLink(page, "merchant", record.merchant_id)} ${amount(page, record.amount, record.token)}.`,
  main: (data, page) => {
    const { record, disputes, published } = data;
    const parties: readonly Item<Receipt>[] = [
      ["Agent", "agent"],
      ["Merchant", "merchant_id"],
      ["Service", "service_numeric_id"],
      facilitatorItem(data.facilitatorId),
    ];
    const proof = html`<p class="soft note">Hashes of what was bought, paid and delivered. A document that is published here is linked.</p>${recordFacts(PROOF, record, page, published)}`;
    const list = { ...withoutColumns(disputes.list, ["Receipt"]), empty: "Not disputed at this block." };
    const isDelivered = record.fulfillment_hash !== null;
    return columns(
      html`${recordCard("Payment", PAYMENT, data, page)}${card("Parties", recordFacts(parties, record, page))}${card("Proof", proof)}${listCard("Disputes", { ...disputes, list }, page)}`,
      paymentLife(
        data.events,
        page,
        isDelivered ? null : { title: "Delivery not recorded", state: "current" },
      ),
      true,
    );
  },
});

type DisputedReceipt = RecordOf<typeof receipt>;

/** The contract lets no one else open one. */
function openerRole({ opener }: Dispute, { agent, facilitator }: DisputedReceipt): string {
  if (opener === agent) return "the agent who paid";
  return opener === facilitator ? "the facilitator" : "the merchant";
}

const DISPUTED: readonly Item<DisputedReceipt>[] = [
  ["Receipt", "receipt_id"],
  ["Amount", "amount"],
  ["Agent", "agent"],
  ["Merchant", "merchant_id"],
  ["Service", "service_numeric_id"],
  ["Paid by", "payment_rail"],
  ["Delivery", (each) => (each.fulfillment_hash === null ? "not recorded" : "recorded")],
];

export const disputePage = defineRecordPage({
  kind: "dispute",
  id: "dispute_id",
  documents: ["reason_hash", "resolution_hash"],
  findExample: exampleFrom("/disputes?limit=1", "dispute_id"),
  load: async (api: ApiReader, { dispute_id, receipt_id, block_number, status }: Dispute) => {
    const receipt = await api.get<DisputedReceipt>("/receipts/:id", { params: { id: receipt_id } });
    const data = await readEvents(api, block_number, {
      type: "DisputeOpened,DisputeResolved",
      merchant: receipt.body.merchant_id,
      service: receipt.body.service_numeric_id,
    });
    const events = data.events.filter(({ args }) => args.disputeId === dispute_id);
    const isExplained = status === "OPEN" || events.some(({ type }) => type === "DisputeResolved");
    return { receipt, events: asExplained({ ...data, events }, isExplained) };
  },
  state: ({ record }) => status(record.status),
  lead: ({ record, receipt }, page) =>
    html`About receipt ${recordLink(page, "receipt", record.receipt_id)} of ${amount(page, receipt.body.amount, receipt.body.token)}.`,
  main: (data, page) => {
    const { body: receipt, call } = data.receipt;
    const record = recordCard(
      "Record",
      [
        [
          "Opened by",
          (each) =>
            html`${addressLink(page, each.opener)} <span class="soft">${openerRole(each, receipt)}</span>`,
        ],
        ["Hash of the reason", "reason_hash"],
        ["Hash of the resolution", "resolution_hash"],
        ...writtenAt("Opened"),
      ],
      data,
      page,
    );
    const isOpen = data.record.status === "OPEN";
    return columns(
      html`${record}${card("The receipt", html`${recordFacts(DISPUTED, receipt, page)}${sourceLinks(page, call)}`)}`,
      paymentLife(data.events, page, isOpen ? { title: "Waits for the merchant", state: "current" } : null),
      true,
    );
  },
});
