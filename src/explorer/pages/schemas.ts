// Attestation schemas: what the schema hashes mean that attestations name, and the attestations under each.
import { keccak256, stringToBytes } from "viem";
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import { type Html, html } from "../../lib/html.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { badge, card, type Fact, facts, hash, isoTime, name, notice, recordLink } from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { renderForeignText, visibleText } from "../foreign-text.ts";
import { shorten } from "../format.ts";
import { jsonView } from "../json-view.ts";
import { type List, type ListData, listCard, listQuery } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { attestationList } from "./attestations.ts";
import { findFirst } from "./intents.ts";

export type AttestationSchema = {
  readonly schema_hash: string;
  readonly name: string;
  readonly description: string | null;
  readonly json_schema: object;
  readonly recommended_subject: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

const schemaList: List = {
  route: "/attestations/schemas",
  key: "schemas",
  csv: "/schemas.csv",
  columns: [
    {
      label: "Schema",
      cell: (each, page) =>
        recordLink(page, "schema", String(each.schema_hash), renderForeignText(String(each.name))),
    },
    { label: "Hash", cell: (each, page) => hash(page, each.schema_hash) },
    { label: "Meaning", kind: "sentence", cell: (each) => name(each.description) },
    { label: "Published", cell: (each) => isoTime(each.created_at) },
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

type SchemaData = {
  readonly hash: string;
  readonly schema: ApiResult<AttestationSchema> | null;
  readonly attestations: ListData;
};

async function load(api: ApiReader, request: PageRequest): Promise<SchemaData> {
  const given = requireParam(request, "id");
  const [schema, attestations] = await Promise.all([
    api.find<AttestationSchema>("/attestations/schemas/:schemaHash", { params: { schemaHash: given } }),
    api.list(attestationList, { query: { schema: given, limit: "20" } }),
  ]);
  return { hash: given.toLowerCase(), schema, attestations };
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
  return html`<div class="columns wide-first"><div>${card("JSON Schema", text, { id: "json-schema" })}</div><div>${card(
    "Record",
    facts([
      ["Hash", hash(page, body.schema_hash)],
      hashCheck(body),
      ["Meant for", body.recommended_subject === null ? null : renderForeignText(body.recommended_subject)],
      ["Published", isoTime(body.created_at)],
      ["Changed", isoTime(body.updated_at)],
    ]),
  )}</div></div>`;
}

function render({ hash: given, schema, attestations }: SchemaData, page: PageContext): PageView {
  const more = { path: "/attestations", query: { schema: given }, label: "All of them" };
  return {
    kicker: "Attestation schema",
    title: schema === null ? shorten(given) : visibleText(schema.body.name),
    lead:
      schema === null
        ? "No schema is published under this hash: what its attestations mean is not known here."
        : name(schema.body.description),
    main: html`${schema !== null && schemaCards(schema, page)}${listCard("Attestations under it", attestations, page, { more, id: "attestations" })}`,
  };
}

export const schemaPage = definePage({
  path: "/schemas/:id",
  findExample: async (get) => {
    const found = await findFirst(get, "/attestations?limit=1", "attestations");
    return { params: { id: String(found.schema_hash) } };
  },
  load,
  render,
});
