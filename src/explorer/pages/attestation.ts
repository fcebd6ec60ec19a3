// One attestation: who states what about whom, under which schema, and whether it is revoked.

import { type Html, html } from "../../lib/html.ts";
import type { attestation } from "../../protocol/reads/registries.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiRecord } from "../api-call.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import {
  addressLink,
  block,
  card,
  type Fact,
  facts,
  hash,
  recordLink,
  status,
  time,
  timeline,
  transaction,
} from "../components.ts";
import { linkTo, type PageContext, type PageRequest, requireParam } from "../context.ts";
import { type EventsData, eventsUpTo, readEvents } from "../events.ts";
import { renderForeignText } from "../foreign-text.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { changesWithin, unreadNotice } from "./commerce-parts.ts";
import { findFirst } from "./intents.ts";
import type { AttestationSchema } from "./schemas.ts";

type Attestation = RecordOf<typeof attestation, "provenance">;

type AttestationData = {
  readonly attestation: ApiResult<Attestation>;
  readonly schema: ApiResult<AttestationSchema> | null;
  readonly attestors: readonly ApiRecord[];
  readonly events: EventsData;
};

async function load(api: ApiReader, request: PageRequest): Promise<AttestationData> {
  const attestation = await api.get<Attestation>("/attestations/:id", {
    params: { id: requireParam(request, "id") },
    query: { include: "provenance" },
  });
  const { attestation_id, attester, block_number, schema_hash } = attestation.body;
  const [schema, attestors, events] = await Promise.all([
    api.find<AttestationSchema>("/attestations/schemas/:schemaHash", { params: { schemaHash: schema_hash } }),
    api.get<{ readonly attestors: readonly ApiRecord[] }>("/attestors", {
      query: { operator: attester, limit: "5" },
    }),
    readEvents(api, block_number, { account: attester, type: "AttestationSubmitted,AttestationRevoked" }),
  ]);
  const own = events.events.filter(({ args }) => args.id === attestation_id);
  return { attestation, schema, attestors: attestors.body.attestors, events: { ...events, events: own } };
}

function life({ attestation, events: data }: AttestationData, page: PageContext): Html {
  const events = eventsUpTo(data.events, page);
  const steps = events.map(({ type, block_timestamp, block_number, tx_hash }) => ({
    title: type === "AttestationRevoked" ? "Revoked" : "Made",
    at: html`${time(block_timestamp)} · block ${block(page, block_number)}`,
    detail: transaction(page, tx_hash),
    state: type === "AttestationRevoked" ? ("failed" as const) : ("done" as const),
  }));
  const isOpen = !attestation.body.revoked;
  return html`${timeline([...steps, ...(isOpen ? [{ title: "Its attester may revoke it", state: "open" as const }] : [])])}${unreadNotice(data)}${sourceLinks(page, data.call)}`;
}

function statement(data: AttestationData, page: PageContext): readonly Fact[] {
  const { body } = data.attestation;
  const { schema } = data;
  const name = schema === null ? null : renderForeignText(schema.body.name);
  return [
    [
      "Schema",
      html`${name !== null && html`${recordLink(page, "schema", body.schema_hash, name)} `}${hash(page, body.schema_hash, "schema")}`,
    ],
    ["About", hash(page, body.subject)],
    ["Hash of the attested data", hash(page, body.data_hash)],
    ["Attester", addressLink(page, body.attester)],
    [
      "Registered as",
      data.attestors.map(
        ({ attestor_id }) =>
          html`${recordLink(page, "attestor", String(attestor_id), `Attestor #${String(attestor_id)}`)} `,
      ),
    ],
    ["Made", html`${time(body.timestamp)} · block ${block(page, body.block_number)}`],
    ["Transaction", transaction(page, body.tx_hash)],
  ];
}

function render(data: AttestationData, page: PageContext): PageView {
  const { body, call } = data.attestation;
  const { schema } = data;
  const others = html`<ul class="plain"><li><a href="${linkTo(page, "/attestations", { subject: body.subject })}">Attestations about the same subject</a></li><li><a href="${linkTo(page, "/attestations", { attester: body.attester })}">Attestations of the same attester</a></li><li><a href="${linkTo(page, "/attestations", { schema: body.schema_hash })}">Attestations under the same schema</a></li></ul>`;
  return {
    kicker: "Attestation",
    title: `Attestation #${body.attestation_id}`,
    beside: status(body.revoked ? "REVOKED" : "ACTIVE"),
    lead:
      schema === null
        ? "The schema that says what it means is not published here."
        : html`${schema.body.description === null ? schema.body.name : renderForeignText(schema.body.description)}`,
    main: html`<div class="columns wide-first"><div>${card("Statement", html`${facts(statement(data, page))}<p class="soft note">The attested data is not on the chain: compare what you were given with the hash.</p>${sourceLinks(page, call)}`)}</div><div>${card("Life", life(data, page))}${card("Others", others)}</div></div>`,
    ...changesWithin(data.events, page),
  };
}

export const attestationPage = definePage({
  path: "/attestations/:id",
  findExample: async (get) => {
    const found = await findFirst(get, "/attestations?limit=1", "attestations");
    return { params: { id: String(found.attestation_id) } };
  },
  load,
  render,
});
