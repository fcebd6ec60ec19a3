// One service: what a merchant offers, its receipts, and the trust signals about it.

import { html } from "../../lib/html.ts";
import type { service } from "../../protocol/reads/commerce.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { block, card, facts, name, recordLink, time, transaction } from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { documentHash, findPublished } from "../documents.ts";
import { type EventsData, readEvents } from "../events.ts";
import { foreignUri } from "../foreign-text.ts";
import type { ListData } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { receiptList, signalList } from "./commerce-lists.ts";
import {
  activeStatus,
  changesWithin,
  historyCard,
  RELATED_ROWS,
  relatedCard,
  signalsCard,
} from "./commerce-parts.ts";
import { findFirst } from "./intents.ts";

type Service = RecordOf<typeof service, "provenance">;

type ServiceData = {
  readonly service: ApiResult<Service>;
  readonly receipts: ListData;
  readonly signals: ListData;
  readonly events: EventsData;
  readonly published: ReadonlySet<string>;
};

async function load(api: ApiReader, request: PageRequest): Promise<ServiceData> {
  const id = requireParam(request, "id");
  const service = await api.get<Service>("/services/:id", {
    params: { id },
    query: { include: "provenance" },
  });
  const [receipts, signals, events, published] = await Promise.all([
    api.list(receiptList, { query: { service_numeric_id: id, limit: RELATED_ROWS } }),
    api.list(signalList, { query: { subject_type: "1", subject_id: id, limit: RELATED_ROWS } }),
    readEvents(api, service.body.block_number, { service: id }),
    findPublished(api, [service.body.metadata_hash, service.body.capability_hash]),
  ]);
  return { service, receipts, signals, events, published };
}

function render(
  { service: found, receipts, signals, events, published }: ServiceData,
  page: PageContext,
): PageView {
  const { body: service } = found;
  const id = service.service_numeric_id;
  const record = facts([
    ["Merchant", recordLink(page, "merchant", service.merchant_id)],
    ["Its name for the merchant", name(service.service_id)],
    ["Metadata", service.metadata_uri === "" ? null : foreignUri(service.metadata_uri)],
    ["Hash of the metadata", documentHash(page, service.metadata_hash, published)],
    ["Hash of the capability", documentHash(page, service.capability_hash, published)],
    ["Registered", html`${time(service.block_timestamp)} · block ${block(page, service.block_number)}`],
    ["Transaction", transaction(page, service.tx_hash)],
  ]);
  const about = { subject_type: "1", subject_id: id };
  const main = html`${card("Record", html`${record}${sourceLinks(page, found.call)}`)}
${relatedCard(receipts, page, { title: "Newest receipts", path: "/receipts", query: { service_numeric_id: id }, hidden: ["Merchant", "Service"] })}
${signalsCard(signals, page, about)}
${historyCard(events, page)}`;
  return {
    kicker: "Service",
    title: `Service #${id}`,
    beside: activeStatus(service.active),
    lead: html`${name(service.service_id)}, offered by merchant ${recordLink(page, "merchant", service.merchant_id)}.`,
    main,
    ...changesWithin(events, page),
  };
}

export const servicePage = definePage({
  path: "/services/:id",
  findExample: async (get) => {
    const receipt = await findFirst(get, "/receipts?limit=1", "receipts");
    return { params: { id: String(receipt.service_numeric_id) } };
  },
  load,
  render,
});
