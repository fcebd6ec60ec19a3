// One merchant: what it is, its reputation, and its services, receipts, disputes and trust signals.

import { type Html, html } from "../../lib/html.ts";
import type { merchant, reputationSchema } from "../../protocol/reads/commerce.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { bars } from "../charts.ts";
import {
  addressLink,
  block,
  card,
  type Fact,
  facts,
  number,
  time,
  totals,
  transaction,
} from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { documentHash, findPublished } from "../documents.ts";
import { type EventsData, readEvents } from "../events.ts";
import { foreignUri } from "../foreign-text.ts";
import { shareOf } from "../format.ts";
import type { ListData } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { readVolumes, VOLUME_KEYS, type VolumesResult, volumeCard } from "../volume-charts.ts";
import { disputeList, receiptList, serviceList, signalList } from "./commerce-lists.ts";
import {
  activeStatus,
  changesWithin,
  historyCard,
  RELATED_ROWS,
  relatedCard,
  signalsCard,
} from "./commerce-parts.ts";
import { kindName } from "./commerce-words.ts";
import { findFirst } from "./intents.ts";

type Merchant = RecordOf<typeof merchant, "provenance">;

type Reputation = TypeOf<typeof reputationSchema>;

type MerchantData = {
  readonly merchant: ApiResult<Merchant>;
  readonly reputation: ApiResult<Reputation>;
  readonly services: ListData;
  readonly receipts: ListData;
  readonly disputes: ListData;
  readonly signals: ListData;
  readonly events: EventsData;
  readonly published: ReadonlySet<string>;
  readonly volumes: VolumesResult;
};

async function load(api: ApiReader, request: PageRequest): Promise<MerchantData> {
  const id = requireParam(request, "id");
  const params = { id };
  const own = { merchant_id: id, limit: RELATED_ROWS };
  const merchant = await api.get<Merchant>("/merchants/:id", { params, query: { include: "provenance" } });
  const [reputation, services, receipts, disputes, signals, events, published, volumes] = await Promise.all([
    api.get<Reputation>("/merchants/:id/reputation", { params }),
    api.list(serviceList, { query: own }),
    api.list(receiptList, { query: own }),
    api.list(disputeList, { query: own }),
    api.list(signalList, { query: { subject_type: "0", subject_id: id, limit: RELATED_ROWS } }),
    readEvents(api, merchant.body.block_number, { merchant: id }),
    findPublished(api, [merchant.body.metadata_hash]),
    readVolumes(api, request, { merchant_id: id }),
  ]);
  return { merchant, reputation, services, receipts, disputes, signals, events, published, volumes };
}

function recordFacts({ merchant: { body: merchant }, published }: MerchantData, page: PageContext): Fact[] {
  return [
    ["Owner", addressLink(page, merchant.owner)],
    ["Paid out to", addressLink(page, merchant.payout_address)],
    ["Metadata", merchant.metadata_uri === "" ? null : foreignUri(merchant.metadata_uri)],
    ["Hash of the metadata", documentHash(page, merchant.metadata_hash, published)],
    ["Registered", html`${time(merchant.block_timestamp)} · block ${block(page, merchant.block_number)}`],
    ["Transaction", transaction(page, merchant.tx_hash)],
  ];
}

/** How much of a whole it is; nothing where it is nothing. */
function shareText(part: string, whole: string): Html | null {
  const share = shareOf(BigInt(part), BigInt(whole));
  return share === 0 ? null : html`<span class="soft">${(share / 100).toFixed(1)} %</span>`;
}

function reputationBars({ commerce, disputes, trust_signals_by_kind: signals }: Reputation): Html {
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
  const all = signals.reduce((sum, each) => sum + BigInt(each.signals), 0n);
  const receipts = [
    { label: "Receipts", value: BigInt(commerce.receipts), text: number(commerce.receipts) },
    of("Fulfilled", commerce.fulfilled_receipts, commerce.receipts),
  ];
  return html`<div class="bar-groups"><div><h3>Delivery</h3>${bars(receipts)}</div>
<div><h3>Disputes</h3>${disputes.disputes === "0" ? html`<p class="soft">No receipt was disputed.</p>` : bars(contested, BigInt(disputes.disputes))}</div>
<div><h3>Trust signals</h3>${
    signals.length === 0
      ? html`<p class="soft">No signal yet.</p>`
      : bars(
          signals.map(({ kind, signals: count }) => of(kindName(kind), count, all.toString())),
          all,
        )
  }</div></div>`;
}

function overview({ commerce, disputes, trust_signals_by_kind: signals }: Reputation): Html {
  const counted = signals.reduce((sum, each) => sum + BigInt(each.signals), 0n);
  return totals([
    { label: "Receipts", value: number(commerce.receipts) },
    {
      label: "Fulfilled",
      value: number(commerce.fulfilled_receipts),
      note: shareText(commerce.fulfilled_receipts, commerce.receipts) ?? "of all receipts",
    },
    {
      label: "Disputes",
      value: number(disputes.disputes),
      note: html`${number(disputes.open_disputes)} open`,
    },
    { label: "Trust signals", value: number(counted.toString()) },
  ]);
}

function render(data: MerchantData, page: PageContext): PageView {
  const { merchant: found, reputation, services, receipts, disputes, signals, events } = data;
  const { body: merchant } = found;
  const id = merchant.merchant_id;
  const own = { merchant_id: id };
  const main = html`${overview(reputation.body)}
<div class="columns"><div>${card("Record", html`${facts(recordFacts(data, page))}${sourceLinks(page, found.call)}`)}</div><div>${card("Reputation", html`${reputationBars(reputation.body)}${sourceLinks(page, reputation.call)}`)}</div></div>
${volumeCard(data.volumes, page)}
${relatedCard(services, page, { title: "Services", path: "/services", query: own, hidden: ["Merchant"] })}
${relatedCard(receipts, page, { title: "Newest receipts", path: "/receipts", query: own, hidden: ["Merchant"] })}
${relatedCard(disputes, page, { title: "Newest disputes", path: "/disputes", query: own, hidden: [] })}
${signalsCard(signals, page, { subject_type: "0", subject_id: id })}
${historyCard(events, page)}`;
  return {
    kicker: "Merchant",
    title: `Merchant #${id}`,
    beside: activeStatus(merchant.active),
    lead: html`Sells services to agents. Its owner is ${addressLink(page, merchant.owner)}.`,
    main,
    ...changesWithin(events, page),
  };
}

export const merchantPage = definePage({
  path: "/merchants/:id",
  query: VOLUME_KEYS,
  findExample: async (get) => {
    const receipt = await findFirst(get, "/receipts?limit=1", "receipts");
    return { params: { id: String(receipt.merchant_id) } };
  },
  load,
  render,
});
