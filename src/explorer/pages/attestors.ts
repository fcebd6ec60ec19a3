// Attestors: all that are registered, and one with what it has attested and revoked.

import { html } from "../../lib/html.ts";
import type { attestor } from "../../protocol/reads/registries.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { addressLink, block, card, facts, hash, number, recordLink, status, totals } from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { type EventsData, readEvents } from "../events.ts";
import { foreignUri } from "../foreign-text.ts";
import { shareOf } from "../format.ts";
import { type List, type ListData, listCard } from "../list.ts";
import { defineListPage } from "../list-page.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { attestationList } from "./attestations.ts";
import { changesWithin } from "./commerce-parts.ts";
import { findFirst } from "./intents.ts";

const stateOf = (active: unknown) => status(active === true ? "ACTIVE" : "INACTIVE");

const attestorList: List = {
  route: "/attestors",
  key: "attestors",
  csv: "/attestors.csv",
  columns: [
    { label: "Attestor", cell: (each, page) => recordLink(page, "attestor", String(each.attestor_id)) },
    { label: "State", cell: (each) => stateOf(each.active) },
    { label: "Operator", cell: (each, page) => addressLink(page, each.operator) },
    { label: "Attestations", kind: "number", cell: (each) => number(each.attestations) },
    { label: "Revoked", kind: "number", cell: (each) => number(each.revoked_attestations) },
    { label: "Block", kind: "number", cell: (each, page) => block(page, each.block_number) },
  ],
  empty: "There is no such attestor at this block.",
};

export const attestorsPage = defineListPage(attestorList, {
  title: "Attestors",
  lead: "Who has registered to make attestations. Attestations of an operator from before its registration count too.",
  order: "By id",
  example: {},
});

type Attestor = RecordOf<typeof attestor>;

type AttestorData = {
  readonly attestor: ApiResult<Attestor>;
  readonly made: ListData;
  readonly events: EventsData;
};

async function load(api: ApiReader, request: PageRequest): Promise<AttestorData> {
  const attestor = await api.get<Attestor>("/attestors/:id", { params: { id: requireParam(request, "id") } });
  const { operator, block_number } = attestor.body;
  const type = "AttestorRegistered,AttestorUpdated,AttestationSubmitted,AttestationRevoked";
  const [made, events] = await Promise.all([
    api.list(attestationList, { query: { attester: operator, limit: "20" } }),
    readEvents(api, block_number, { account: operator, type }),
  ]);
  return { attestor, made, events };
}

function render({ attestor: found, made, events }: AttestorData, page: PageContext): PageView {
  const { body: attestor, call } = found;
  const share = shareOf(BigInt(attestor.revoked_attestations), BigInt(attestor.attestations));
  const record = facts([
    ["Operator", addressLink(page, attestor.operator)],
    ["Metadata", attestor.metadata_uri === "" ? null : foreignUri(attestor.metadata_uri)],
    ["Hash of its schemas", hash(page, attestor.schemas_hash)],
    ["Registered", html`block ${block(page, attestor.block_number)}`],
  ]);
  return {
    kicker: "Attestor",
    title: `Attestor #${attestor.attestor_id}`,
    beside: stateOf(attestor.active),
    main: html`${totals([
      { label: "Attestations made", value: number(attestor.attestations) },
      {
        label: "Revoked",
        value: number(attestor.revoked_attestations),
        ...(attestor.attestations === "0" ? {} : { note: `${(share / 100).toFixed(1)} % of them` }),
      },
    ])}
${card("Record", html`${record}${sourceLinks(page, call)}`)}
${listCard("Its attestations", made, page, { more: { path: "/attestations", query: { attester: attestor.operator }, label: "All of them" } })}`,
    ...changesWithin(events, page),
  };
}

export const attestorPage = definePage({
  path: "/attestors/:id",
  findExample: async (get) => {
    const found = await findFirst(get, "/attestors?limit=1", "attestors");
    return { params: { id: String(found.attestor_id) } };
  },
  load,
  render,
});
