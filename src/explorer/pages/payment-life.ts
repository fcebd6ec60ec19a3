// The life of a payment, as its events tell it: quoted, settled, delivered, disputed.

import { html } from "../../lib/html.ts";
import type { quote } from "../../protocol/reads/commerce.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader } from "../api-reader.ts";
import { block, recordLink, type TimelineStep, time, transaction } from "../components.ts";
import type { PageContext } from "../context.ts";
import { type EventsData, type ListedEvent, readEvents } from "../events.ts";

const EVENTS = [
  ...["QuoteCommitted", "SettlementExecuted", "ReceiptRecorded"],
  ...["FulfillmentRecorded", "DisputeOpened", "DisputeResolved"],
];

export type Quote = RecordOf<typeof quote, "provenance">;

/** The subject of a page: a quote with all of its receipts, or one receipt. */
type Payment = {
  readonly quote: Quote;
  /** The only receipt whose events count; null for every one of the quote. */
  readonly receiptId: string | null;
  /** Blocks of the receipts that are known. */
  readonly receiptBlocks: readonly string[];
};

/** Events of the payment from its quote on, those after the shown block too. */
export async function readPaymentEvents(api: ApiReader, payment: Payment): Promise<EventsData> {
  const { quote, receiptBlocks } = payment;
  // A quote can be committed again after it was paid, and has the place of its last commitment.
  const blocks = [quote.block_number, ...receiptBlocks].map(BigInt);
  const first = blocks.reduce((least, each) => (each < least ? each : least)).toString();
  const filter = {
    type: EVENTS.join(","),
    merchant: quote.merchant_id,
    service: quote.service_numeric_id,
  };
  const [data, earlier] = await Promise.all([
    readEvents(api, first, filter, 1),
    readEarlierCommitments(api, quote),
  ]);
  const unread = earlier.filter(({ block_number }) => BigInt(block_number) < BigInt(first));
  return { ...data, events: selectEvents([...unread, ...data.events], payment) };
}

/** In order, as the quote was just before each later one: the nearest ones, as many as the page has requests left. */
async function readEarlierCommitments(api: ApiReader, quote: Quote): Promise<readonly ListedEvent[]> {
  const { start_block } = await api.head();
  const found: ListedEvent[] = [];
  for (let at = quote; BigInt(at.block_number) > BigInt(start_block); ) {
    const before = await api.find<Quote>("/quotes/:quoteHash", {
      params: { quoteHash: quote.quote_hash },
      query: { include: "provenance", block: (BigInt(at.block_number) - 1n).toString() },
    });
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
    ...{ id: tx_hash, type: "QuoteCommitted", args, description: "", parts: [] },
    ...{ tx_hash, log_index, block_number, block_timestamp },
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

const isNone = (value: unknown) => /^0x0*$/.test(String(value));
const REJECTED = "2";

function titleOf({ type, args }: ListedEvent, page: PageContext): TimelineStep["title"] {
  const dispute = () => recordLink(page, "dispute", String(args.disputeId));
  switch (type) {
    case "QuoteCommitted":
      return "Quoted";
    case "SettlementExecuted":
      return "Paid through the settlement adapter";
    case "ReceiptRecorded":
      return html`Settled, receipt ${recordLink(page, "receipt", String(args.receiptId))}`;
    case "FulfillmentRecorded":
      return isNone(args.fulfillmentHash) ? "Fulfilment withdrawn" : "Fulfilled";
    case "DisputeOpened":
      return html`Dispute ${dispute()} opened`;
    default:
      return html`Dispute ${dispute()} ${String(args.status) === REJECTED ? "rejected" : "resolved"}`;
  }
}

function isSetback({ type, args }: ListedEvent): boolean {
  return type === "DisputeOpened" || (type === "FulfillmentRecorded" && isNone(args.fulfillmentHash));
}

export function paymentSteps(events: readonly ListedEvent[], page: PageContext): readonly TimelineStep[] {
  return events.map((event) => ({
    title: titleOf(event, page),
    at: html`${time(event.block_timestamp)} · block ${block(page, event.block_number)}`,
    detail: transaction(page, event.tx_hash),
    state: isSetback(event) ? "failed" : "done",
  }));
}
