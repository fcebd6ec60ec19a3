// A document by its hash, whatever its kind: its text, whether the hash is that of the text, and what names it.
import { keccak256, stringToBytes } from "viem";
import { Fault } from "../../lib/fault.ts";
import { type Html, html } from "../../lib/html.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { badge, card, hash, notice, number, type PageKind, recordLink } from "../components.ts";
import { linkTo, type PageContext, type PageRequest, requireParam, sourceLinks } from "../context.ts";
import { type HostedDocuments, type Item, recordFacts } from "../fields.ts";
import { renderForeignText, shorten, splitWords } from "../format.ts";
import { jsonView } from "../json-view.ts";
import { listCard } from "../list.ts";
import { type AttestationSchema, attestationList } from "../lists.ts";
import { definePage, exampleFrom, type PageView } from "../page.ts";

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

type Use = { readonly kind: PageKind; readonly id: string; readonly as: string };

async function load(api: ApiReader, request: PageRequest) {
  const given = requireParam(request, "id").toLowerCase();
  const [documents, schema, quote, attestations] = await Promise.all([
    api.get<HostedDocuments>("/documents", { query: { hash: given } }),
    api.findRecord<AttestationSchema>("schema", given),
    api.findRecord("quote", given),
    api.list(attestationList, { query: { subject: given, limit: "10" } }),
  ]);
  const found = documents.body.documents;
  if (found.length === 0 && schema === null)
    throw new Fault("NOT_FOUND", "No document is hosted here under this hash.");
  const [hosted, ...named] = await Promise.all([
    readTexts(api, found),
    ...found.map((labels) => findUses(api, given, labels)),
  ]);
  /** Records that name the hash, as far as the API finds them. */
  const uses: readonly Use[] = [
    ...(quote === null ? [] : [{ kind: "quote", id: given, as: "is its hash" } as const]),
    ...named.flat(),
  ];
  return { hash: given, documents: hosted, schema, uses, attestations };
}

type DocumentData = Awaited<ReturnType<typeof load>>;

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
    { kind: "merchant", id: labels.merchant_id },
    { kind: "service", id: labels.service_numeric_id },
  ] as const;
  const found = await Promise.all(
    named.map(async ({ kind, id }) => {
      if (id === null) return [];
      const record = await api.findRecord<Readonly<Record<string, unknown>>>(kind, id);
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

const CLAIMS = [
  ["Merchant", "merchant_id"],
  ["Service", "service_numeric_id"],
  ["Agent", "agent"],
  ["Request", "request_hash"],
  ["Id of the request", "request_id"],
] as const;

function documentCard({ label, text, labels }: HostedDocument, data: DocumentData, page: PageContext): Html {
  const { body } = text;
  const computed = keccak256(stringToBytes(body));
  const check =
    computed === data.hash
      ? html`${badge("matches", "good")} <span class="under">keccak256 of its bytes, computed now</span>`
      : html`${badge("differs", "bad")} <span class="under">keccak256 of its bytes is ${hash(page, computed)}</span>`;
  const { markup, isCut } = jsonView(body);
  const raw = text.call.route.replace(":hash", encodeURIComponent(data.hash));
  const items: readonly Item<Labels>[] = [
    ["Hash check", () => check],
    ["Size", () => html`${number(labels.size_bytes)} bytes`],
    ["Depth", () => number(measureDepth(body))],
    ["Published", "created_at"],
    ...CLAIMS.filter(([, name]) => labels[name] != null),
  ];
  return card(
    label,
    html`${recordFacts(items, labels, page)}<p class="soft note">Merchant, service, agent and request are what its publisher says.</p>
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
  const items = uses.map(({ kind, id, as }) => {
    const label = `${splitWords(kind)} ${kind === "quote" ? shorten(id) : `#${id}`}`;
    return html`<li>${recordLink(page, kind, id, label)} ${as}</li>`;
  });
  const content =
    items.length === 0
      ? html`<p class="soft">None of the records that it names has its hash on the chain. Records that it does not name may have it: the API finds them by id, not by every hash.</p>`
      : html`<ul class="plain">${items}</ul>`;
  return card("Where it is used", content, { id: "uses" });
}

function render(data: DocumentData, page: PageContext): PageView {
  const { documents, schema, attestations } = data;
  const name = documents[0]?.labels.name ?? null;
  const kinds = [...documents.map(({ label }) => label), ...(schema === null ? [] : ["Attestation schema"])];
  return {
    kicker: kinds.join(", "),
    title: shorten(data.hash),
    ...(name === null ? {} : { name: renderForeignText(name) }),
    lead: "A text that is hosted here under its hash. A third party wrote it: it is shown as it is, and nothing in it is followed.",
    main: html`<p class="whole"><code data-copy="${data.hash}">${data.hash}</code></p>
${documents.map((each) => documentCard(each, data, page))}${schema !== null && schemaCard(schema, page)}
${documents.length > 0 && useCard(data, page)}
${listCard("Attestations about it", attestations, page, { id: "attestations", more: "All of them" })}
<p class="soft note">Documents are not on the chain: they are the same at every block. <a href="${linkTo(page, "/schemas")}">All schemas</a></p>`,
  };
}

export const documentPage = definePage({
  path: "/documents/:id",
  findExample: exampleFrom("/attestations/schemas?limit=1", "schema_hash"),
  load,
  render,
});
