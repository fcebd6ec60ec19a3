// A document by its hash, whatever its kind: its text, whether the hash is that of the text, and what names it.
import { keccak256, stringToBytes } from "viem";
import { Fault } from "../../lib/fault.ts";
import { type Html, html } from "../../lib/html.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import {
  addressLink,
  badge,
  card,
  type Fact,
  facts,
  hash,
  isoTime,
  notice,
  number,
  type RecordKind,
  recordLink,
} from "../components.ts";
import { linkTo, type PageContext, type PageRequest, requireParam } from "../context.ts";
import type { HostedDocuments } from "../documents.ts";
import { renderForeignText } from "../foreign-text.ts";
import { shorten } from "../format.ts";
import { jsonView } from "../json-view.ts";
import { type ListData, listCard } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { attestationList } from "./attestations.ts";
import { findFirst } from "./intents.ts";
import type { AttestationSchema } from "./schemas.ts";

type Labels = HostedDocuments["documents"][number];

const KINDS = {
  catalog: { label: "Catalog", route: "/catalogs/:hash" },
  quote_request: { label: "Quote request", route: "/quote-requests/:hash" },
  quote_response: { label: "Quote response", route: "/quote-responses/:hash" },
} as const;

type HostedDocument = {
  readonly label: string;
  readonly text: ApiResult<string>;
  readonly labels: Labels;
};

type DocumentData = {
  readonly hash: string;
  readonly documents: readonly HostedDocument[];
  readonly schema: ApiResult<AttestationSchema> | null;
  /** Records that name the hash, as far as the API finds them. */
  readonly uses: readonly Use[];
  readonly attestations: ListData;
};

type Use = { readonly kind: RecordKind; readonly id: string; readonly as: string };

async function load(api: ApiReader, request: PageRequest): Promise<DocumentData> {
  const given = requireParam(request, "id");
  const [documents, schema, quote, attestations] = await Promise.all([
    api.get<HostedDocuments>("/documents", { query: { hash: given } }),
    api.find<AttestationSchema>("/attestations/schemas/:schemaHash", { params: { schemaHash: given } }),
    api.find<Record<string, unknown>>("/quotes/:quoteHash", { params: { quoteHash: given } }),
    api.list(attestationList, { query: { subject: given, limit: "10" } }),
  ]);
  const found = documents.body.documents;
  if (found.length === 0 && schema === null)
    throw new Fault("NOT_FOUND", "No document is hosted here under this hash.");
  const [hosted, ...named] = await Promise.all([
    readTexts(api, found),
    ...found.map((labels) => findUses(api, given.toLowerCase(), labels)),
  ]);
  const uses = [
    ...(quote === null ? [] : [{ kind: "quote", id: given.toLowerCase(), as: "is its hash" } as const]),
    ...named.flat(),
  ];
  return { hash: given.toLowerCase(), documents: hosted, schema, uses, attestations };
}

/** Under one hash all kinds of documents have the same text. */
async function readTexts(api: ApiReader, found: readonly Labels[]): Promise<readonly HostedDocument[]> {
  const [first] = found;
  if (first === undefined) return [];
  const { body, call } = await api.getText(KINDS[first.kind].route, { params: { hash: first.hash } });
  return found.map((labels) => {
    const { label, route } = KINDS[labels.kind];
    return { label, text: { body, call: { ...call, route } }, labels };
  });
}

/** The publisher's statements are only claims; the record on the chain counts. */
async function findUses(api: ApiReader, given: string, labels: Labels): Promise<readonly Use[]> {
  const named = [
    { kind: "merchant", route: "/merchants/:id", id: labels.merchant_id },
    { kind: "service", route: "/services/:id", id: labels.service_numeric_id },
  ] as const;
  const found = await Promise.all(
    named.map(async ({ kind, route, id }) => {
      if (id === null) return [];
      const record = await api.find<Readonly<Record<string, unknown>>>(route, { params: { id } });
      const fields = Object.entries(record?.body ?? {}).filter(([, value]) => value === given);
      return fields.map(([field]) => ({ kind, id, as: `as ${field.replaceAll("_", " ")}` }));
    }),
  );
  return found.flat();
}

/** How deeply a text is nested, by its brackets outside of strings. */
function measureDepth(text: string): number {
  let [depth, most, isText] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isText) {
      if (character === "\\") at += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === "{" || character === "[") {
      depth += 1;
      most = Math.max(most, depth);
    } else if (character === "}" || character === "]") depth -= 1;
  }
  return most;
}

function documentCard({ label, text, labels }: HostedDocument, data: DocumentData, page: PageContext): Html {
  const { body } = text;
  const computed = keccak256(stringToBytes(body));
  const check =
    computed === data.hash
      ? html`${badge("matches", "good")} <span class="under">keccak256 of its bytes, computed now</span>`
      : html`${badge("differs", "bad")} <span class="under">keccak256 of its bytes is ${hash(page, computed)}</span>`;
  const { markup, isCut } = jsonView(body);
  const raw = text.call.route.replace(":hash", encodeURIComponent(data.hash));
  const said: readonly Fact[] = [
    ["Hash check", check],
    ["Size", html`${number(labels.size_bytes)} bytes`],
    ["Depth", number(measureDepth(body))],
    ["Published", isoTime(labels.created_at)],
    ["Merchant", labels.merchant_id == null ? null : recordLink(page, "merchant", labels.merchant_id)],
    [
      "Service",
      labels.service_numeric_id == null ? null : recordLink(page, "service", labels.service_numeric_id),
    ],
    ["Agent", labels.agent == null ? null : addressLink(page, labels.agent)],
    ["Request", labels.request_hash == null ? null : hash(page, labels.request_hash, "document")],
    ["Id of the request", labels.request_id == null ? null : renderForeignText(labels.request_id)],
  ];
  const shown = said.filter(([, value]) => value !== null);
  return card(
    label,
    html`${facts(shown)}<p class="soft note">Merchant, service, agent and request are what its publisher says.</p>
${markup}${isCut && notice("info", "The document is longer than this page shows.")}<p class="note"><a href="${raw}">The exact bytes</a></p>${sourceLinks(page, text.call)}`,
  );
}

function schemaCard({ body, call }: ApiResult<AttestationSchema>, page: PageContext): Html {
  const { markup, isCut } = jsonView(JSON.stringify(body.json_schema));
  const link = recordLink(page, "schema", body.schema_hash, renderForeignText(body.name));
  return card(
    "Attestation schema",
    html`<p>${link}: whether its hash is that of its text, and the attestations under it, are on its own page.</p>${markup}${isCut && notice("info", "The schema is longer than this page shows.")}${sourceLinks(page, call)}`,
  );
}

function useCard({ uses }: DocumentData, page: PageContext): Html {
  if (uses.length === 0)
    return card(
      "Where it is used",
      html`<p class="soft">None of the records that it names has its hash on the chain. Records that it does not name may have it: the API finds them by id, not by every hash.</p>`,
      { id: "uses" },
    );
  return card(
    "Where it is used",
    html`<ul class="plain">${uses.map(({ kind, id, as }) => html`<li>${recordLink(page, kind, id, kind === "quote" ? `Quote ${shorten(id)}` : `${kind === "merchant" ? "Merchant" : "Service"} #${id}`)} ${as}</li>`)}</ul>`,
    { id: "uses" },
  );
}

function render(data: DocumentData, page: PageContext): PageView {
  const { documents, schema, attestations } = data;
  const kinds = [...documents.map(({ label }) => label), ...(schema === null ? [] : ["Attestation schema"])];
  return {
    kicker: kinds.join(", "),
    title: shorten(data.hash),
    lead: "A text that is hosted here under its hash. A third party wrote it: it is shown as it is, and nothing in it is followed.",
    main: html`<p class="whole"><code data-copy="${data.hash}">${data.hash}</code></p>
${documents.map((each) => documentCard(each, data, page))}${schema !== null && schemaCard(schema, page)}
${documents.length > 0 && useCard(data, page)}
${listCard("Attestations about it", attestations, page, { id: "attestations", more: { path: "/attestations", query: { subject: data.hash }, label: "All of them" } })}
<p class="soft note">Documents are not on the chain: they are the same at every block. <a href="${linkTo(page, "/schemas")}">All schemas</a></p>`,
  };
}

export const documentPage = definePage({
  path: "/documents/:id",
  findExample: async (get) => {
    const schema = await findFirst(get, "/attestations/schemas?limit=1", "schemas");
    return { params: { id: String(schema.schema_hash) } };
  },
  load,
  render,
});
