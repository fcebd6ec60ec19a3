// Search by id, address, hash or name: leads to the only record of an id, address or hash, and lists all others.
import { Fault } from "../../lib/fault.ts";
import { type Html, html } from "../../lib/html.ts";
import type { ApiReader } from "../api-reader.ts";
import { addressLink, card, notice, type PageKind, recordPath } from "../components.ts";
import { type ApiRecord, type GivenName, linkHere, type PageContext, type PageRequest } from "../context.ts";
import { findName, readDocumentNames, renderGivenName } from "../fields.ts";
import { renderForeignText, shorten, splitWords } from "../format.ts";
import { definePage } from "../page.ts";

const BY_ID: readonly PageKind[] = [
  ...(["intent", "agent", "solver", "merchant", "service", "receipt"] as const),
  ...(["dispute", "facilitator", "attestation", "attestor"] as const),
];

const BY_HASH: readonly PageKind[] = ["transaction", "quote", "schema"];

/** A list that a filter narrows to the records of an address or a hash, and the field that names each of them. */
type Role = {
  readonly kind: PageKind;
  readonly filter: string;
  readonly id: string;
  /** The role of the address or hash in the record; absent if it names the record itself. */
  readonly as?: string;
};

const BY_ADDRESS: readonly Role[] = [
  { kind: "agent", filter: "owner", id: "agent_id", as: "its owner" },
  { kind: "solver", filter: "operator", id: "solver_id", as: "its operator" },
  { kind: "attestor", filter: "operator", id: "attestor_id", as: "its operator" },
  { kind: "merchant", filter: "owner", id: "merchant_id", as: "its owner" },
  { kind: "facilitator", filter: "facilitator", id: "facilitator_id", as: "its address" },
];

const NAMED_BY_HASH: readonly Role[] = [
  { kind: "document", filter: "hash", id: "hash" },
  { kind: "attestation", filter: "subject", id: "attestation_id", as: "its subject" },
  { kind: "service", filter: "capability_hash", id: "service_numeric_id", as: "its capability" },
];

// A few of each show what there is; the lists have all of them.
const RECORDS_PER_ROLE = 5;

const UINT = /^(?:0|[1-9][0-9]{0,77})$/;
const BLOCK_LENGTH_MAX = 15;

type FoundRecord = {
  readonly kind: PageKind;
  readonly id: string;
  readonly as?: string;
  /** Its name, if that was searched for. */
  readonly name?: GivenName;
};
type Found = {
  readonly text: string;
  readonly kind: "id" | "address" | "hash" | "other";
  readonly records: readonly FoundRecord[];
  /** For a search by name: what was looked through, and where the next search goes on. */
  readonly names?: Pick<NameSearch, "searched" | "next">;
};

/** Words that people use alongside the names of the kinds. */
const ALIASES: Readonly<Record<string, PageKind>> = { tx: "transaction", wallet: "account" };
const BY_NAME: ReadonlySet<PageKind> = new Set<PageKind>([
  ...BY_ID,
  ...BY_HASH,
  ...NAMED_BY_HASH.map(({ kind }) => kind),
  "account",
  "block",
]);

/** `intent 15`, `Merchant #3`, `tx 0x…` and `#15` are what people copy. */
export function readSearchText(given: string): { readonly text: string; readonly wanted: PageKind | null } {
  const trimmed = given.trim().slice(0, 200);
  const [, word = "", rest = ""] = /^([a-z]+)\s*#?\s*(0x[0-9a-f]+|[0-9][0-9,]*)$/i.exec(trimmed) ?? [];
  const singular = word.toLowerCase().replace(/s$/, "");
  const wanted = (ALIASES[singular] ?? singular) as PageKind;
  if (BY_NAME.has(wanted)) return { text: rest.replaceAll(",", ""), wanted };
  return { text: trimmed.replace(/^#/, "").replaceAll(",", ""), wanted: null };
}

async function search(api: ApiReader, { query }: PageRequest): Promise<Found> {
  const { text, wanted } = readSearchText(query.q ?? "");
  const isKind = (kind: PageKind) => wanted === null || kind === wanted;
  const isWanted = ({ kind }: { readonly kind: PageKind }) => isKind(kind);
  const hex = text.toLowerCase();
  if (UINT.test(text)) {
    const [records, block] = await Promise.all([
      findRecords(api, BY_ID.filter(isKind), text),
      isKind("block") ? findBlock(api, text) : [],
    ]);
    return { text, kind: "id", records: [...records, ...block] };
  }
  if (/^0x[0-9a-f]{40}$/.test(hex)) {
    const roles = await findByRole(api, BY_ADDRESS.filter(isWanted), hex);
    const account = { kind: "account", id: hex } as const;
    return { text: hex, kind: "address", records: [...(isWanted(account) ? [account] : []), ...roles] };
  }
  if (/^0x[0-9a-f]{64}$/.test(hex)) {
    const [records, naming] = await Promise.all([
      findRecords(api, BY_HASH.filter(isKind), hex),
      findByRole(api, NAMED_BY_HASH.filter(isWanted), hex),
    ]);
    return { text: hex, kind: "hash", records: withoutRepetition([...records, ...naming]) };
  }
  if (text.length < NAME_LENGTH_MIN) return { text, kind: "other", records: [] };
  const { records, ...names } = await findByName(api, text, query.from);
  return { text, kind: "other", records, names };
}

// Shorter texts are in most names.
const NAME_LENGTH_MIN = 2;
// As many as the API has in a page. It has no index of names, so that a search looks through pages of each list.
const NAMED_RECORDS = 100;
// Pages of each list that are looked through as one statement if no name in the first page is exactly the text.
const FURTHER_PAGES = 4;
// More than that calls for a longer part of the name.
const FOUND_NAMES_MAX = 100;

/** The lists whose records have names: the field of the id, and of a name outside of the metadata. */
const NAMED: readonly (readonly [route: string, kind: PageKind, id: string, name?: string])[] = [
  ["/directory/agents", "agent", "agent_id"],
  ["/merchants", "merchant", "merchant_id"],
  ["/services", "service", "service_numeric_id", "service_id"],
  ["/facilitators", "facilitator", "facilitator_id"],
  ["/solvers", "solver", "solver_id"],
  ["/attestors", "attestor", "attestor_id"],
];

const foldCase = (text: string) => text.normalize("NFKC").toLowerCase();

type NameSearch = {
  readonly records: readonly FoundRecord[];
  /** How many records of each kind were looked through. */
  readonly searched: readonly { readonly kind: PageKind; readonly count: number }[];
  /** The cursors of the lists that have more; null if none has. */
  readonly next: string | null;
};

/** The cursor of each list, in order: null begins with its first page, and an empty one has ended. */
function readPosition(from: string | undefined): readonly (string | null)[] {
  if (from === undefined) return NAMED.map(() => null);
  const cursors = from.split(".");
  if (cursors.length !== NAMED.length)
    throw new Fault("INPUT_INVALID", "from is not a position of a search.");
  return cursors;
}

type NamedRecords = {
  readonly list: (typeof NAMED)[number];
  readonly records: readonly ApiRecord[];
  readonly next: string | null;
};

/** So many pages of each list from a position on, as one statement. */
function readNamed(api: ApiReader, position: readonly (string | null)[], pages: number) {
  return Promise.all(
    NAMED.map(async (list, index): Promise<NamedRecords> => {
      const cursor = position[index];
      if (cursor === "") return { list, records: [], next: null };
      const read = await Promise.all(
        Array.from({ length: pages }, (_, at) => {
          const offset = at === 0 ? null : String(at * NAMED_RECORDS);
          const query = { limit: String(NAMED_RECORDS), cursor, offset };
          return api.records<ApiRecord>({ route: list[0] }, { query });
        }),
      );
      // A page of large records ends early, and the next by number would leave some out.
      const last = read.findIndex(({ records }) => records.length < NAMED_RECORDS);
      const kept = last === -1 ? read : read.slice(0, last + 1);
      return { list, records: kept.flatMap(({ records }) => records), next: kept.at(-1)?.next ?? null };
    }),
  );
}

/** Records among the first pages of each list whose name contains the text. */
async function findByName(api: ApiReader, text: string, from: string | undefined): Promise<NameSearch> {
  const wanted = foldCase(text);
  const first = await readNamed(api, readPosition(from), 1);
  const found = await matchNames(api, first, wanted);
  const isDone = first.every(({ next }) => next === null) || found.some((each) => rankOf(each, wanted) === 0);
  const further = isDone ? null : await readNamed(api, positionAfter(first), FURTHER_PAGES);
  const records = further === null ? found : [...found, ...(await matchNames(api, further, wanted))];
  const ends = further ?? first;
  return {
    records: records.toSorted((a, b) => rankOf(a, wanted) - rankOf(b, wanted)),
    searched: first.map(({ list: [, kind], records: { length } }, index) => ({
      kind,
      count: length + (further?.[index]?.records.length ?? 0),
    })),
    next: ends.some(({ next }) => next !== null) ? positionAfter(ends).join(".") : null,
  };
}

const positionAfter = (lists: readonly NamedRecords[]) => lists.map(({ next }) => next ?? "");

async function matchNames(
  api: ApiReader,
  lists: readonly NamedRecords[],
  wanted: string,
): Promise<readonly FoundRecord[]> {
  const documents = await readDocumentNames(
    api,
    lists.flatMap(({ records }) => records),
  );
  return lists.flatMap(({ list: [, kind, id, nameField], records }) =>
    records.flatMap((record): FoundRecord[] => {
      const field = nameField && record[nameField];
      const names = [
        findName(record, documents),
        typeof field === "string" ? { text: field, isOfDocument: false } : null,
      ];
      const name = names.find((each) => each !== null && foldCase(each.text).includes(wanted));
      return name ? [{ kind, id: String(record[id]), name }] : [];
    }),
  );
}

/** The whole name before one that begins with the text, and that before any other. */
function rankOf({ name }: FoundRecord, wanted: string): number {
  const text = foldCase(name?.text ?? "");
  return text === wanted ? 0 : text.startsWith(wanted) ? 1 : 2;
}

async function findRecords(
  api: ApiReader,
  kinds: readonly PageKind[],
  id: string,
): Promise<readonly FoundRecord[]> {
  const found = await Promise.all(
    kinds.map(async (kind) => ((await api.findRecord(kind, id)) === null ? [] : [{ kind, id }])),
  );
  return found.flat();
}

async function findByRole(
  api: ApiReader,
  roles: readonly Role[],
  value: string,
): Promise<readonly FoundRecord[]> {
  const found = await Promise.all(
    roles.map(async ({ kind, filter, id, ...role }) => {
      const query = { [filter]: value, limit: String(RECORDS_PER_ROLE) };
      const { records } = await api.records<ApiRecord>({ route: `/${kind}s` }, { query });
      return records.map((record) => ({ ...role, kind, id: String(record[id]) }));
    }),
  );
  return found.flat();
}

/** Blocks up to the shown one. */
async function findBlock(api: ApiReader, text: string): Promise<readonly FoundRecord[]> {
  const { block_number } = await api.head();
  const isThere = text.length <= BLOCK_LENGTH_MAX && BigInt(text) <= BigInt(block_number);
  return isThere ? [{ kind: "block", id: text }] : [];
}

/** The same text may be hosted as several kinds of documents, which have one page. */
function withoutRepetition(records: readonly FoundRecord[]): readonly FoundRecord[] {
  const isSame = (a: FoundRecord, b: FoundRecord) => a.kind === b.kind && a.id === b.id;
  return records.filter((each, index) => records.findIndex((other) => isSame(each, other)) === index);
}

const NAME_SHOWN_MAX = 80;

function resultItem({ kind, id, as, name }: FoundRecord, { text }: Found, page: PageContext): Html {
  const path = recordPath(page, kind, id);
  const label = html`${splitWords(kind)} <code title="${id}">${id.startsWith("0x") ? shorten(id) : `#${id}`}</code>`;
  const role =
    name === undefined
      ? as !== undefined && html` <span class="soft">${shorten(text)} is ${as}</span>`
      : html` ${renderGivenName(name, NAME_SHOWN_MAX)}`;
  return path === null
    ? html`<li>${label}${role}</li>`
    : html`<li><a href="${path}">${label}</a>${role}</li>`;
}

/** Tokens and contracts of the deployment whose name contains the text, each with its account. */
function deployedItems({ text, names }: Found, page: PageContext): readonly Html[] {
  if (names === undefined) return [];
  const { tokens, contracts } = page.site.chain;
  const named = [
    ...Object.entries(tokens).map(([address, { symbol }]) => ["Token", symbol, address] as const),
    ...Object.entries(contracts).map(([name, address]) => ["Contract", name, address] as const),
  ];
  return named
    .filter(([, name]) => foldCase(name).includes(foldCase(text)))
    .map(([label, , address]) => html`<li>${label} ${addressLink(page, address)}</li>`);
}

const HINTS: Readonly<Record<Found["kind"], string>> = {
  id: "Nothing has this id at this block.",
  address: "No record of this kind belongs to the address at this block.",
  hash: "No transaction, quote, document, schema, attestation or service has this hash at this block.",
  other:
    "No name that was looked through contains this. Search for an id such as 15, intent 15 or block 15, an address (0x and 40 hex digits) or a hash (0x and 64 hex digits).",
};

/** The number of names that were looked through, and the way to search on. */
function nameNote({ names }: Found, page: PageContext): Html | null {
  if (names === undefined) return null;
  const counts = names.searched
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}${count === 1 ? "" : "s"}`);
  const further =
    names.next !== null &&
    html`<nav class="pagination" aria-label="Pages"><a rel="next" href="${linkHere(page, { from: names.next })}">Search the next ones →</a></nav>`;
  return html`<p class="soft note">${names.next === null ? "Looked through the names of" : "There are more names: looked through those of"} ${counts.join(", ")}${page.query.from !== undefined && ", after those of the searches before"}.</p>${further}`;
}

export const searchPage = definePage({
  path: "/search",
  query: ["q", "from"],
  findExample: async () => ({ query: { q: "1" } }),
  load: search,
  render: (found, page) => {
    const { text, kind, records } = found;
    const [only, ...others] = records;
    // Anyone may take any name: a person chooses among names, and sees that they are third-party text.
    const deployed = page.query.from === undefined ? deployedItems(found, page) : [];
    const isOnly = only !== undefined && others.length === 0 && found.names === undefined;
    const path = isOnly ? recordPath(page, only.kind, only.id) : null;
    return {
      title: "Search",
      lead: text === "" ? "By id, address, hash or name." : html`For ${renderForeignText(text, 100)}`,
      ...(path === null ? {} : { redirect: path }),
      main: html`${
        records.length + deployed.length === 0
          ? notice("info", HINTS[kind])
          : card(
              "Found",
              html`<ul class="results">${deployed}${records.slice(0, FOUND_NAMES_MAX).map((each) => resultItem(each, found, page))}</ul>${records.length > FOUND_NAMES_MAX && html`<p class="soft note">The first ${FOUND_NAMES_MAX} of ${records.length}. Search for more of the name.</p>`}`,
            )
      }${nameNote(found, page)}`,
    };
  },
});
