// The life of a payment, as its events tell it: quoted, settled, delivered, disputed.

import { html } from "../../lib/html.ts";
import type { quote } from "../../protocol/reads/commerce.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader } from "../api-reader.ts";
import { block, recordLink, type TimelineStep, time, transaction } from "../components.ts";
import type { PageContext } from "../context.ts";
import { type EventPage, type EventRecord, type EventsData, readEvents } from "../events.ts";

const EVENTS = [
  ...["QuoteCommitted", "SettlementExecuted", "ReceiptRecorded"],
  ...["FulfillmentRecorded", "DisputeOpened", "DisputeResolved"],
];

export type Quote = RecordOf<typeof quote, "provenance">;

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
  const committed = await findCommitment(api, quote);
  // A quote can be committed again after it was paid, and has the place of its last commitment.
  const blocks = [committed, ...receiptBlocks].map(BigInt);
  const first = blocks.reduce((least, each) => (each < least ? each : least)).toString();
  const [data, earlier] = await Promise.all([
    readEvents(api, first, filterOf(quote, EVENTS)),
    readEarlierCommitments(api, quote, committed),
  ]);
  const known = new Set(data.events.map(({ id }) => id));
  const events = [...earlier.filter(({ id }) => !known.has(id)), ...data.events];
  return { ...data, events: selectEvents(events, payment) };
}

const filterOf = (quote: Quote, types: readonly string[]) => ({
  type: types.join(","),
  merchant: quote.merchant_id,
  service: quote.service_numeric_id,
});

/** The block in which the quote was committed as it is. */
async function findCommitment(api: ApiReader, { tx_hash }: Quote): Promise<string> {
  const { body } = await api.get<{ readonly block_number: string }>("/tx/:hash/explain", {
    params: { hash: tx_hash },
  });
  return body.block_number;
}

// Each takes three requests, of forty that a page may make.
const EARLIER_COMMITMENTS_MAX = 4;

/**
 * In order, as the quote was just before each later one: the nearest ones, if there are many. They are read one by one,
 * because what happened between them can be more than is read.
 */
async function readEarlierCommitments(
  api: ApiReader,
  quote: Quote,
  committed: string,
): Promise<readonly EventRecord[]> {
  const { start_block } = await api.head();
  const found: EventRecord[] = [];
  let at = committed;
  for (let count = 0; count < EARLIER_COMMITMENTS_MAX && BigInt(at) > BigInt(start_block); count += 1) {
    const before = await api.find<Quote>("/quotes/:quoteHash", {
      params: { quoteHash: quote.quote_hash },
      query: { include: "provenance", block: (BigInt(at) - 1n).toString() },
    });
    if (before === null) break;
    at = await findCommitment(api, before.body);
    const { body } = await api.get<EventPage>("/events", {
      query: { ...filterOf(quote, ["QuoteCommitted"]), from: at, limit: "200" },
    });
    const own = body.events.filter(
      ({ args, block_number }) => args.quoteHash === quote.quote_hash && block_number === at,
    );
    found.unshift(...own);
  }
  return found;
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
