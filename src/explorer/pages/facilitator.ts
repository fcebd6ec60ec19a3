// One facilitator: who it is, the receipts that it settled, and the trust signals about it.

import { html } from "../../lib/html.ts";
import type { facilitator } from "../../protocol/reads/commerce.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { addressLink, block, card, facts, time, transaction } from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { documentHash, findPublished } from "../documents.ts";
import { type EventsData, readEvents } from "../events.ts";
import { foreignUri } from "../foreign-text.ts";
import type { ListData } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { readVolumes, VOLUME_KEYS, type VolumesResult, volumeCard } from "../volume-charts.ts";
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

type Facilitator = RecordOf<typeof facilitator, "provenance">;

type FacilitatorData = {
  readonly facilitator: ApiResult<Facilitator>;
  readonly receipts: ListData;
  readonly signals: ListData;
  readonly events: EventsData;
  readonly published: ReadonlySet<string>;
  readonly volumes: VolumesResult;
};

// Events of its own record. Settlements are events of its receipts, which the page lists.
const OWN_EVENTS = "FacilitatorRegistered,FacilitatorUpdated";

async function load(api: ApiReader, request: PageRequest): Promise<FacilitatorData> {
  const id = requireParam(request, "id");
  const facilitator = await api.get<Facilitator>("/facilitators/:id", {
    params: { id },
    query: { include: "provenance" },
  });
  const { facilitator: account, metadata_hash, block_number } = facilitator.body;
  const [receipts, signals, events, published, volumes] = await Promise.all([
    api.list(receiptList, { query: { facilitator: account, limit: RELATED_ROWS } }),
    api.list(signalList, { query: { subject_type: "2", subject_id: id, limit: RELATED_ROWS } }),
    readEvents(api, block_number, { account, type: OWN_EVENTS }),
    findPublished(api, [metadata_hash]),
    readVolumes(api, request, { facilitator: account }),
  ]);
  return { facilitator, receipts, signals, events, published, volumes };
}

function render(data: FacilitatorData, page: PageContext): PageView {
  const { facilitator: found, receipts, signals, events, published } = data;
  const { body: facilitator } = found;
  const id = facilitator.facilitator_id;
  const record = facts([
    ["Address", addressLink(page, facilitator.facilitator)],
    ["Metadata", facilitator.metadata_uri === "" ? null : foreignUri(facilitator.metadata_uri)],
    ["Hash of the metadata", documentHash(page, facilitator.metadata_hash, published)],
    [
      "Last registered",
      html`${time(facilitator.block_timestamp)} · block ${block(page, facilitator.block_number)}`,
    ],
    ["Transaction", transaction(page, facilitator.tx_hash)],
  ]);
  const own = { facilitator: facilitator.facilitator };
  const about = { subject_type: "2", subject_id: id };
  const main = html`${card("Record", html`${record}${sourceLinks(page, found.call)}`)}
${volumeCard(data.volumes, page)}
${relatedCard(receipts, page, { title: "Newest receipts", path: "/receipts", query: own, hidden: [] })}
${signalsCard(signals, page, about)}
${historyCard(events, page)}`;
  return {
    kicker: "Facilitator",
    title: `Facilitator #${id}`,
    beside: activeStatus(facilitator.active),
    lead: "Settles payments between agents and merchants, and records their receipts.",
    main,
    // A registration can be repeated: what was before the last one is not read.
    ...(page.head.block_number === facilitator.block_number ? {} : changesWithin(events, page)),
  };
}

export const facilitatorPage = definePage({
  path: "/facilitators/:id",
  query: VOLUME_KEYS,
  findExample: async (get) => {
    const facilitator = await findFirst(get, "/facilitators?limit=1", "facilitators");
    return { params: { id: String(facilitator.facilitator_id) } };
  },
  load,
  render,
});
