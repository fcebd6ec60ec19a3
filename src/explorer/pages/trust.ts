// Attestations, attestors and schemas: who states what about whom, under which schema, and what the schema means.
import { keccak256, stringToBytes } from "viem";
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import { type Html, html } from "../../lib/html.ts";
import type { attestation, attestor } from "../../protocol/reads/registries.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import {
  badge,
  card,
  type Fact,
  facts,
  hash,
  isoTime,
  name,
  notice,
  number,
  recordLink,
  totals,
} from "../components.ts";
import { linkTo, type PageContext, type PageRequest, requireParam, sourceLinks } from "../context.ts";
import { asExplained, type ListedEvent, readEvents } from "../events.ts";
import { activeStatus, type Item, timeAndBlock, writtenAt } from "../fields.ts";
import { renderForeignText, shareOf, shorten, visibleText } from "../format.ts";
import { jsonView } from "../json-view.ts";
import { type List, listCard, listQuery } from "../list.ts";
import { type AttestationSchema, attestationList, attestationState, attestorList } from "../lists.ts";
import {
  columns,
  definePage,
  defineRecordPage,
  exampleFrom,
  lifeCard,
  lifeSteps,
  type PageView,
  readAll,
  recordCard,
} from "../page.ts";

type Attestation = RecordOf<typeof attestation, "provenance">;

const toStep = ({ type }: ListedEvent) =>
  type === "AttestationRevoked" ? { title: "Revoked", isSetback: true } : { title: "Made" };

const OTHERS = [
  ["subject", "subject", "about the same subject"],
  ["attester", "attester", "of the same attester"],
  ["schema", "schema_hash", "under the same schema"],
] as const;

function othersCard(record: Attestation, page: PageContext): Html {
  const links = OTHERS.map(
    ([filter, field, words]) =>
      html`<li><a href="${linkTo(page, "/attestations", { [filter]: record[field] })}">Attestations ${words}</a></li>`,
  );
  return card("Others", html`<ul class="plain">${links}</ul>`);
}

export const attestationPage = defineRecordPage({
  kind: "attestation",
  id: "attestation_id",
  findExample: exampleFrom("/attestations?limit=1", "attestation_id"),
  load: async (api: ApiReader, record: Attestation) => {
    const { attestation_id, attester, block_number, schema_hash } = record;
    const type = "AttestationSubmitted,AttestationRevoked";
    const { events, ...others } = await readAll({
      schema: api.findRecord<AttestationSchema>("schema", schema_hash),
      attestors: api.list(attestorList, { query: { operator: attester, limit: "5" } }),
      events: readEvents(api, block_number, { account: attester, type }),
    });
    const own = events.events.filter(({ args }) => args.id === attestation_id);
    const isExplained = !record.revoked || own.some((each) => each.type === "AttestationRevoked");
    return { ...others, events: asExplained({ ...events, events: own }, isExplained) };
  },
  state: ({ record }) => attestationState(record.revoked),
  lead: ({ schema }) =>
    schema === null
      ? "The schema that says what it means is not published here."
      : html`${schema.body.description === null ? schema.body.name : renderForeignText(schema.body.description)}`,
  main: (data, page) => {
    const { record, schema, attestors, events } = data;
    const statement: readonly Item<Attestation>[] = [
      [
        "Schema",
        ({ schema_hash: of }) =>
          html`${schema !== null && html`${recordLink(page, "schema", of, renderForeignText(schema.body.name))} `}${hash(page, of, "schema")}`,
      ],
      ["About", "subject"],
      ["Hash of the attested data", "data_hash"],
      ["Attester", "attester"],
      [
        "Registered as",
        () =>
          attestors.records.map(
            ({ attestor_id: id }) => html`${recordLink(page, "attestor", id, `Attestor #${id}`)} `,
          ),
      ],
      [
        "Made",
        ({ timestamp, block_number }) => timeAndBlock({ block_timestamp: timestamp, block_number }, page),
      ],
      ["Transaction", "tx_hash"],
    ];
    const note = html`<p class="soft note">The attested data is not on the chain: compare what you were given with the hash.</p>`;
    const open = { title: "Its attester may revoke it", state: "open" } as const;
    const steps = [...lifeSteps(events, page, toStep), ...(record.revoked ? [] : [open])];
    return columns(
      recordCard("Statement", statement, data, page, note),
      html`${lifeCard(steps, events, page)}${othersCard(record, page)}`,
      true,
    );
  },
});

type Attestor = RecordOf<typeof attestor, "provenance">;

export const attestorPage = defineRecordPage({
  kind: "attestor",
  id: "attestor_id",
  findExample: exampleFrom("/attestors?limit=1", "attestor_id"),
  load: (api: ApiReader, { operator, block_number }: Attestor) =>
    readAll({
      made: api.list(attestationList, { query: { attester: operator, limit: "20" } }),
      events: readEvents(api, block_number, {
        account: operator,
        type: "AttestorRegistered,AttestorUpdated,AttestationSubmitted,AttestationRevoked",
      }),
    }),
  state: ({ record }) => activeStatus(record.active),
  facts: [
    ["Operator", "operator"],
    ["Metadata", "metadata_uri"],
    ["Hash of its schemas", "schemas_hash"],
    ...writtenAt("Registered"),
  ],
  main: (data, page, record) => {
    const { attestations, revoked_attestations: revoked } = data.record;
    const share = shareOf(BigInt(revoked), BigInt(attestations));
    return html`${totals([
      { label: "Attestations made", value: number(attestations) },
      {
        label: "Revoked",
        value: number(revoked),
        note: attestations === "0" ? undefined : `${(share / 100).toFixed(1)} % of them`,
      },
    ])}
${record}
${listCard("Its attestations", data.made, page, { more: "All of them" })}`;
  },
});

const schemaList: List<AttestationSchema> = {
  route: "/attestations/schemas",
  path: "/schemas",
  columns: [
    ["Schema", (each, page) => recordLink(page, "schema", each.schema_hash, renderForeignText(each.name))],
    ["Hash", (each, page) => hash(page, each.schema_hash)],
    ["Meaning", (each) => name(each.description), "sentence"],
    ["Published", "created_at"],
  ],
  empty: "No schema is published.",
};

// Each has up to 64 KiB of JSON.
const SCHEMAS_SHOWN = "20";

export const schemasPage = definePage({
  path: "/schemas",
  nav: "Schemas",
  lists: [schemaList],
  filtered: schemaList,
  findExample: async () => ({}),
  load: (api, request) => api.list(schemaList, { query: { limit: SCHEMAS_SHOWN, ...listQuery(request) } }),
  render: (data, page) => ({
    title: "Attestation schemas",
    lead: "What attestations under a schema hash mean. Schemas are published here, not on the chain: they are the same at every block.",
    main: listCard("By hash", data, page, { isPaged: true }),
  }),
});

function loadSchema(api: ApiReader, request: PageRequest) {
  const given = requireParam(request, "id").toLowerCase();
  return readAll({
    hash: given,
    schema: api.findRecord<AttestationSchema>("schema", given),
    attestations: api.list(attestationList, { query: { schema: given, limit: "20" } }),
  });
}

/** A publisher may choose the hash; then it says nothing about the text. */
function hashCheck(schema: AttestationSchema): Fact {
  const computed = keccak256(stringToBytes(toCanonicalJson(schema.json_schema)));
  return [
    "Hash check",
    computed === schema.schema_hash
      ? html`${badge("matches", "good")} <span class="under">keccak256 of the canonical JSON (RFC 8785)</span>`
      : html`${badge("chosen by its publisher", "plain")} <span class="under">keccak256 of the canonical JSON (RFC 8785) is <code class="id" data-copy="${computed}" title="${computed}">${shorten(computed)}</code></span>`,
  ];
}

function schemaCards({ body, call }: ApiResult<AttestationSchema>, page: PageContext): Html {
  const { markup, isCut } = jsonView(JSON.stringify(body.json_schema));
  const text = html`${markup}${isCut && notice("info", "The schema is longer; the API has all of it.")}${sourceLinks(page, call)}`;
  const record = facts([
    ["Hash", hash(page, body.schema_hash)],
    hashCheck(body),
    ["Meant for", body.recommended_subject === null ? null : renderForeignText(body.recommended_subject)],
    ["Published", isoTime(body.created_at)],
    ["Changed", isoTime(body.updated_at)],
  ]);
  return columns(card("JSON Schema", text), card("Record", record), true);
}

function renderSchema(
  { hash: given, schema, attestations }: Awaited<ReturnType<typeof loadSchema>>,
  page: PageContext,
): PageView {
  return {
    kicker: "Attestation schema",
    title: schema === null ? shorten(given) : visibleText(schema.body.name),
    lead:
      schema === null
        ? "No schema is published under this hash: what its attestations mean is not known here."
        : name(schema.body.description),
    main: html`${schema !== null && schemaCards(schema, page)}${listCard("Attestations under it", attestations, page, { more: "All of them", id: "attestations" })}`,
  };
}

export const schemaPage = definePage({
  path: "/schemas/:id",
  findExample: exampleFrom("/attestations?limit=1", "schema_hash"),
  load: loadSchema,
  render: renderSchema,
});
