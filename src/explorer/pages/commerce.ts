// Merchants, services and facilitators: what each is, its receipts, and the trust signals about it.
import { type Html, html } from "../../lib/html.ts";
import type { facilitator, merchant, reputationSchema, service } from "../../protocol/reads/commerce.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader } from "../api-reader.ts";
import { bars, readVolumes, VOLUME_KEYS, volumeCard } from "../charts.ts";
import { addressLink, card, name, number, recordLink, totals } from "../components.ts";
import { type PageRequest, sourceLinks } from "../context.ts";
import { readEvents } from "../events.ts";
import { activeStatus, writtenAt } from "../fields.ts";
import { kindName, shareOf } from "../format.ts";
import { disputeList, receiptList, serviceList, signalList, signalsAbout } from "../lists.ts";
import {
  changesWithin,
  columns,
  defineRecordPage,
  exampleFrom,
  historyCard,
  RELATED_ROWS,
  readAll,
  relatedCard,
  signalsCard,
} from "../page.ts";

type Merchant = RecordOf<typeof merchant, "provenance">;
type Service = RecordOf<typeof service, "provenance">;
type Facilitator = RecordOf<typeof facilitator, "provenance">;
type Reputation = TypeOf<typeof reputationSchema>;

const newest = (filter: Readonly<Record<string, string>>) => ({ query: { ...filter, limit: RELATED_ROWS } });

/** The share of a whole; nothing if it is zero. */
function shareText(part: string, whole: string): Html | null {
  const share = shareOf(BigInt(part), BigInt(whole));
  return share === 0 ? null : html`<span class="soft">${(share / 100).toFixed(1)} %</span>`;
}

const countSignals = ({ trust_signals_by_kind: signals }: Reputation) =>
  signals.reduce((sum, each) => sum + BigInt(each.signals), 0n);

function reputationBars(reputation: Reputation): Html {
  const { commerce, disputes, trust_signals_by_kind: signals } = reputation;
  const of = (label: string, part: string, whole: string) => ({
    label,
    value: BigInt(part),
    text: html`${shareText(part, whole)} ${number(part)}`,
  });
  const contested = [
    of("Open", disputes.open_disputes, disputes.disputes),
    of("Resolved", disputes.resolved_disputes, disputes.disputes),
    of("Rejected", disputes.rejected_disputes, disputes.disputes),
  ];
  const all = countSignals(reputation);
  const kinds = signals.map(({ kind, signals: count }) => of(kindName(kind), count, all.toString()));
  const receipts = [
    { label: "Receipts", value: BigInt(commerce.receipts), text: number(commerce.receipts) },
    of("Fulfilled", commerce.fulfilled_receipts, commerce.receipts),
  ];
  return html`<div class="bar-groups"><div><h3>Delivery</h3>${bars(receipts)}</div>
<div><h3>Disputes</h3>${disputes.disputes === "0" ? html`<p class="soft">No receipt was disputed.</p>` : bars(contested, BigInt(disputes.disputes))}</div>
<div><h3>Trust signals</h3>${signals.length === 0 ? html`<p class="soft">No signal yet.</p>` : bars(kinds, all)}</div></div>`;
}

function overview(reputation: Reputation): Html {
  const { commerce, disputes } = reputation;
  return totals([
    { label: "Receipts", value: number(commerce.receipts) },
    {
      label: "Fulfilled",
      value: number(commerce.fulfilled_receipts),
      note: html`${shareText(commerce.fulfilled_receipts, commerce.receipts)} of all receipts`,
    },
    {
      label: "Disputes",
      value: number(disputes.disputes),
      note: html`${number(disputes.open_disputes)} open`,
    },
    { label: "Trust signals", value: number(countSignals(reputation).toString()) },
  ]);
}

export const merchantPage = defineRecordPage({
  kind: "merchant",
  id: "merchant_id",
  documents: ["metadata_hash"],
  query: VOLUME_KEYS,
  findExample: exampleFrom("/receipts?limit=1", "merchant_id"),
  load: (api: ApiReader, { merchant_id, block_number }: Merchant, request: PageRequest) =>
    readAll({
      reputation: api.get<Reputation>("/merchants/:id/reputation", { params: { id: merchant_id } }),
      services: api.list(serviceList, newest({ merchant_id })),
      receipts: api.list(receiptList, newest({ merchant_id })),
      disputes: api.list(disputeList, newest({ merchant_id })),
      signals: api.list(signalList, newest(signalsAbout("merchant", merchant_id))),
      events: readEvents(api, block_number, { merchant: merchant_id }),
      volumes: readVolumes(api, request, { merchant_id }),
    }),
  state: ({ record }) => activeStatus(record.active),
  lead: ({ record }, page) =>
    html`Sells services to agents. Its owner is ${addressLink(page, record.owner)}.`,
  facts: [
    ["Owner", "owner"],
    ["Paid out to", "payout_address"],
    ["Metadata", "metadata_uri"],
    ["Hash of the metadata", "metadata_hash"],
    ...writtenAt("Registered"),
  ],
  main: (data, page, record) => {
    const { reputation, services, receipts, disputes } = data;
    return html`${overview(reputation.body)}
${columns(record, card("Reputation", html`${reputationBars(reputation.body)}${sourceLinks(page, reputation.call)}`))}
${volumeCard(data.volumes, page)}
${relatedCard("Services", services, page, ["Merchant"])}
${relatedCard("Newest receipts", receipts, page, ["Merchant"])}
${relatedCard("Newest disputes", disputes, page)}
${signalsCard(data.signals, page)}
${historyCard(data.events, page)}`;
  },
});

export const servicePage = defineRecordPage({
  kind: "service",
  id: "service_numeric_id",
  documents: ["metadata_hash", "capability_hash"],
  findExample: exampleFrom("/receipts?limit=1", "service_numeric_id"),
  load: (api: ApiReader, { service_numeric_id, block_number }: Service) =>
    readAll({
      receipts: api.list(receiptList, newest({ service_numeric_id })),
      signals: api.list(signalList, newest(signalsAbout("service", service_numeric_id))),
      events: readEvents(api, block_number, { service: service_numeric_id }),
    }),
  state: ({ record }) => activeStatus(record.active),
  lead: ({ record }, page) =>
    html`${name(record.service_id)}, offered by merchant ${recordLink(page, "merchant", record.merchant_id)}.`,
  facts: [
    ["Merchant", "merchant_id"],
    ["Its name for the merchant", "service_id"],
    ["Metadata", "metadata_uri"],
    ["Hash of the metadata", "metadata_hash"],
    ["Hash of the capability", "capability_hash"],
    ...writtenAt("Registered"),
  ],
  main: (data, page, record) => html`${record}
${relatedCard("Newest receipts", data.receipts, page, ["Merchant", "Service"])}
${signalsCard(data.signals, page)}
${historyCard(data.events, page)}`,
});

// Events of its own record. Settlements are events of its receipts, which the page lists.
const FACILITATOR_EVENTS = "FacilitatorRegistered,FacilitatorUpdated";

export const facilitatorPage = defineRecordPage({
  kind: "facilitator",
  id: "facilitator_id",
  documents: ["metadata_hash"],
  query: VOLUME_KEYS,
  findExample: exampleFrom("/facilitators?limit=1", "facilitator_id"),
  load: (api: ApiReader, { facilitator_id, facilitator, block_number }: Facilitator, request: PageRequest) =>
    readAll({
      receipts: api.list(receiptList, newest({ facilitator })),
      signals: api.list(signalList, newest(signalsAbout("facilitator", facilitator_id))),
      events: readEvents(api, block_number, { account: facilitator, type: FACILITATOR_EVENTS }),
      volumes: readVolumes(api, request, { facilitator }),
    }),
  state: ({ record }) => activeStatus(record.active),
  lead: () => "Settles payments between agents and merchants, and records their receipts.",
  facts: [
    ["Address", "facilitator"],
    ["Metadata", "metadata_uri"],
    ["Hash of the metadata", "metadata_hash"],
    ...writtenAt("Last registered"),
  ],
  main: (data, page, record) => html`${record}
${volumeCard(data.volumes, page)}
${relatedCard("Newest receipts", data.receipts, page)}
${signalsCard(data.signals, page)}
${historyCard(data.events, page)}`,
  // A registration can be repeated: what was before the last one is not read.
  changes: ({ record, events }, page) =>
    page.head.block_number === record.block_number ? undefined : changesWithin(events, page),
});
