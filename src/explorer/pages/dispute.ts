// One dispute: who contests which receipt, how it ended, and the hashes of reason and resolution.

import { type Html, html } from "../../lib/html.ts";
import type { dispute, receipt } from "../../protocol/reads/commerce.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import {
  addressLink,
  amount,
  block,
  card,
  facts,
  recordLink,
  status,
  type TimelineStep,
  time,
  timeline,
  transaction,
} from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { documentHash, findPublished } from "../documents.ts";
import { type EventsData, eventsUpTo, readEvents } from "../events.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { changesWithin, unreadNotice } from "./commerce-parts.ts";
import { railName } from "./commerce-words.ts";
import { findFirst } from "./intents.ts";
import { paymentSteps } from "./payment-life.ts";

type Dispute = RecordOf<typeof dispute, "provenance">;

type DisputedReceipt = RecordOf<typeof receipt>;

type DisputeData = {
  readonly dispute: ApiResult<Dispute>;
  readonly receipt: ApiResult<DisputedReceipt>;
  readonly events: EventsData;
  readonly published: ReadonlySet<string>;
};

async function load(api: ApiReader, request: PageRequest): Promise<DisputeData> {
  const id = requireParam(request, "id");
  const dispute = await api.get<Dispute>("/disputes/:id", {
    params: { id },
    query: { include: "provenance" },
  });
  const { receipt_id, reason_hash, resolution_hash, block_number } = dispute.body;
  const [receipt, published] = await Promise.all([
    api.get<DisputedReceipt>("/receipts/:id", { params: { id: receipt_id } }),
    findPublished(api, [reason_hash, resolution_hash]),
  ]);
  const data = await readEvents(api, block_number, {
    type: "DisputeOpened,DisputeResolved",
    merchant: receipt.body.merchant_id,
    service: receipt.body.service_numeric_id,
  });
  const events = data.events.filter(({ args }) => args.disputeId === dispute.body.dispute_id);
  return { dispute, receipt, events: { ...data, events }, published };
}

/** The contract lets no one else open one. */
function openerRole({ opener }: Dispute, { agent, facilitator }: DisputedReceipt): string {
  if (opener === agent) return "the agent who paid";
  return opener === facilitator ? "the facilitator" : "the merchant";
}

function receiptFacts({ receipt: { body: receipt } }: DisputeData, page: PageContext): Html {
  return facts([
    ["Receipt", recordLink(page, "receipt", receipt.receipt_id)],
    ["Amount", amount(page, receipt.amount, receipt.token)],
    ["Agent", addressLink(page, receipt.agent)],
    ["Merchant", recordLink(page, "merchant", receipt.merchant_id)],
    ["Service", recordLink(page, "service", receipt.service_numeric_id)],
    ["Paid by", railName(receipt.payment_rail)],
    ["Delivery", receipt.fulfillment_hash === null ? "not recorded" : "recorded"],
  ]);
}

function render(data: DisputeData, page: PageContext): PageView {
  const { dispute: found, receipt, events, published } = data;
  const { body: dispute } = found;
  const waiting: readonly TimelineStep[] =
    dispute.status === "OPEN" ? [{ title: "Waits for the merchant", state: "current" }] : [];
  const record = facts([
    [
      "Opened by",
      html`${addressLink(page, dispute.opener)} <span class="soft">${openerRole(dispute, receipt.body)}</span>`,
    ],
    ["Hash of the reason", documentHash(page, dispute.reason_hash, published)],
    ["Hash of the resolution", documentHash(page, dispute.resolution_hash, published)],
    ["Opened", html`${time(dispute.block_timestamp)} · block ${block(page, dispute.block_number)}`],
    ["Transaction", transaction(page, dispute.tx_hash)],
  ]);
  const steps = [...paymentSteps(eventsUpTo(events.events, page), page), ...waiting];
  const main = html`<div class="columns wide-first"><div>${card("Record", html`${record}${sourceLinks(page, found.call)}`)}${card("The receipt", html`${receiptFacts(data, page)}${sourceLinks(page, receipt.call)}`)}</div><div>${card("Life", html`${timeline(steps)}${unreadNotice(events)}${sourceLinks(page, events.call)}`)}</div></div>`;
  return {
    kicker: "Dispute",
    title: `Dispute #${dispute.dispute_id}`,
    beside: status(dispute.status),
    lead: html`About receipt ${recordLink(page, "receipt", dispute.receipt_id)} of ${amount(page, receipt.body.amount, receipt.body.token)}.`,
    main,
    ...changesWithin(events, page),
  };
}

export const disputePage = definePage({
  path: "/disputes/:id",
  findExample: async (get) => {
    const dispute = await findFirst(get, "/disputes?limit=1", "disputes");
    return { params: { id: String(dispute.dispute_id) } };
  },
  load,
  render,
});
