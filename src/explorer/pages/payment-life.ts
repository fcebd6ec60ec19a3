// The life of a payment, as its events tell it: quoted, settled, delivered, disputed.
import type { ApiReader } from "../api-reader.ts";
import { block, recordLink, type TimelineStep, time, transaction } from "../components.ts";
import type { PageContext } from "../context.ts";
import { type EventRecord, type EventsData, readEvents } from "../events.ts";
import { html } from "../html.ts";

const EVENTS = [
  ...["QuoteCommitted", "SettlementExecuted", "ReceiptRecorded"],
  ...["FulfillmentRecorded", "DisputeOpened", "DisputeResolved"],
];

export type Quote = {
  readonly quote_hash: string;
  readonly merchant_id: string;
  readonly service_numeric_id: string;
  readonly agent: string;
  readonly token: string;
  readonly facilitator: string;
  readonly amount: string;
  readonly payment_rail: number;
  readonly protocol_fee_bps: number;
  readonly protocol_fee_amount: string;
  readonly expires_at: string;
  readonly payment_nonce: string;
  readonly resource_hash: string;
  readonly terms_hash: string;
  readonly x402_payload_hash: string;
  readonly settled: boolean;
  readonly tx_hash: string;
  readonly block_timestamp: string;
};

/** What a page is about: a quote with all of its receipts, or one receipt. */
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
  const { body } = await api.get<{ readonly block_number: string }>("/tx/:hash/explain", {
    params: { hash: quote.tx_hash },
  });
  // A quote can be committed again after it was paid, and has the place of its last commitment.
  const blocks = [body.block_number, ...receiptBlocks].map(BigInt);
  const first = blocks.reduce((least, each) => (each < least ? each : least));
  const data = await readEvents(api, first.toString(), {
    type: EVENTS.join(","),
    merchant: quote.merchant_id,
    service: quote.service_numeric_id,
  });
  return { ...data, events: selectEvents(data.events, payment) };
}

/** In order: a dispute is known by its receipt, and a receipt by its quote. */
function selectEvents(
  events: readonly EventRecord[],
  { quote: { quote_hash }, receiptId }: Payment,
): readonly EventRecord[] {
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

function titleOf({ type, args }: EventRecord, page: PageContext): TimelineStep["title"] {
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

function isSetback({ type, args }: EventRecord): boolean {
  return type === "DisputeOpened" || (type === "FulfillmentRecorded" && isNone(args.fulfillmentHash));
}

export function paymentSteps(events: readonly EventRecord[], page: PageContext): readonly TimelineStep[] {
  return events.map((event) => ({
    title: titleOf(event, page),
    at: html`${time(event.block_timestamp)} · block ${block(page, event.block_number)}`,
    detail: transaction(page, event.tx_hash),
    state: isSetback(event) ? "failed" : "done",
  }));
}
