// Search by id, address or hash: leads to the record where there is one, and lists them where there are several.
import type { ApiReader } from "../api-reader.ts";
import { card, notice, type RecordKind, recordPath } from "../components.ts";
import type { PageContext, PageRequest } from "../context.ts";
import { foreignText } from "../foreign-text.ts";
import { shorten, toWords } from "../format.ts";
import { type Html, html } from "../html.ts";
import { definePage } from "../page.ts";

type Target = {
  readonly kind: RecordKind;
  /** The route that has it, and the name of its parameter. */
  readonly route: string;
  readonly parameter: string;
};

const BY_ID: readonly Target[] = [
  { kind: "intent", route: "/intents/:id", parameter: "id" },
  { kind: "agent", route: "/agents/:agentId", parameter: "agentId" },
  { kind: "solver", route: "/solvers/:id", parameter: "id" },
  { kind: "merchant", route: "/merchants/:id", parameter: "id" },
  { kind: "service", route: "/services/:id", parameter: "id" },
  { kind: "attestation", route: "/attestations/:id", parameter: "id" },
  { kind: "attestor", route: "/attestors/:id", parameter: "id" },
];

const BY_HASH: readonly Target[] = [
  { kind: "transaction", route: "/tx/:hash/explain", parameter: "hash" },
  { kind: "quote", route: "/quotes/:quoteHash", parameter: "quoteHash" },
  { kind: "schema", route: "/attestations/schemas/:schemaHash", parameter: "schemaHash" },
];

const UINT = /^(?:0|[1-9][0-9]{0,77})$/;

type Found = {
  readonly text: string;
  readonly kind: "id" | "address" | "hash" | "other";
  readonly records: readonly FoundRecord[];
};
type FoundRecord = { readonly kind: RecordKind; readonly id: string };

/** `intent 15` and `#15` are what people copy. */
function readText({ query }: PageRequest): { readonly text: string; readonly wanted: RecordKind | null } {
  const given = (query.q ?? "").trim().slice(0, 200);
  const named = /^([a-z]+)\s*#?\s*([0-9]+)$/i.exec(given);
  const wanted = BY_ID.find(({ kind }) => kind === named?.[1]?.toLowerCase().replace(/s$/, ""))?.kind ?? null;
  if (wanted !== null) return { text: named?.[2] ?? "", wanted };
  return { text: given.replace(/^#/, "").replaceAll(",", ""), wanted: null };
}

async function search(api: ApiReader, request: PageRequest): Promise<Found> {
  const { text, wanted } = readText(request);
  if (UINT.test(text)) {
    const targets = wanted === null ? BY_ID : BY_ID.filter(({ kind }) => kind === wanted);
    return { text, kind: "id", records: await findRecords(api, targets, text) };
  }
  const hex = text.toLowerCase();
  if (/^0x[0-9a-f]{40}$/.test(hex))
    return { text: hex, kind: "address", records: [{ kind: "account", id: hex }] };
  if (/^0x[0-9a-f]{64}$/.test(hex))
    return { text: hex, kind: "hash", records: await findRecords(api, BY_HASH, hex) };
  return { text, kind: "other", records: [] };
}

async function findRecords(
  api: ApiReader,
  targets: readonly Target[],
  id: string,
): Promise<readonly FoundRecord[]> {
  const found = await Promise.all(
    targets.map(async ({ kind, route, parameter }) => {
      const result = await api.find(route, { params: { [parameter]: id } });
      return result === null ? [] : [{ kind, id }];
    }),
  );
  return found.flat();
}

function resultItem({ kind, id }: FoundRecord, page: PageContext): Html {
  const path = recordPath(page, kind, id);
  const label = html`${toWords(kind)} <code title="${id}">${id.startsWith("0x") ? shorten(id) : `#${id}`}</code>`;
  return path === null ? html`<li>${label}</li>` : html`<li><a href="${path}">${label}</a></li>`;
}

const HINTS: Readonly<Record<Found["kind"], string>> = {
  id: "Nothing has this id at this block.",
  address: "",
  hash: "No transaction, quote or schema has this hash at this block.",
  other:
    "Search for an id such as 15 or intent 15, an address (0x and 40 hex digits) or a hash (0x and 64 hex digits).",
};

export const searchPage = definePage({
  path: "/search",
  query: ["q"],
  findExample: async () => ({ query: { q: "1" } }),
  load: search,
  render: ({ text, kind, records }, page) => {
    const [only, ...others] = records;
    const path = only === undefined || others.length > 0 ? null : recordPath(page, only.kind, only.id);
    return {
      title: "Search",
      lead: text === "" ? "By id, address or hash." : html`For ${foreignText(text, 100)}`,
      ...(path === null ? {} : { redirect: path }),
      main:
        records.length === 0
          ? notice("info", HINTS[kind])
          : card("Found", html`<ul class="results">${records.map((each) => resultItem(each, page))}</ul>`),
    };
  },
});
