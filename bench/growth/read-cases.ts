// The reads measured at each size of an index: every read of the API, by every filter, now and at earlier blocks.
import { tables } from "../../src/protocol/domains.ts";
import { indexReads } from "../../src/protocol/reads.ts";
import type { Read, ReadInput } from "../../src/schema/reads/read.ts";
import type { SqlText } from "../../src/schema/sql.ts";
import { readRandomRowsAsOf } from "../../src/store/index/as-of.ts";
import type { QueryRunner } from "../../src/store/postgres/session.ts";

export type ReadCase = {
  readonly name: string;
  readonly paths: readonly string[];
  /**
   * The statements that the reads of these paths send to the database; empty if a path sends more than one statement.
   */
  readonly statements: readonly SqlText[];
};

type Request = { readonly path: string; readonly values: ReadInput["values"] };
type NamedRequests = { readonly name: string; readonly requests: readonly Request[] };

type IndexSample = { readonly session: QueryRunner; readonly head: number };

/** The heads that lists are read at: the newest, and earlier ones. */
type BlockPlace = { readonly name: string; readonly block: number | null };

// If the rows of a path come from, and columns that are named otherwise than their parameters.
const TABLES: Readonly<Record<string, string>> = {
  agents: "agents",
  intents: "intents",
  accounts: "policies",
  attestations: "attestations",
  solvers: "solvers",
  attestors: "attestors",
  merchants: "merchants",
  services: "services",
  facilitators: "facilitators",
  quotes: "quotes",
  receipts: "receipts",
  "trust-signals": "trust_signals",
  disputes: "disputes",
  analytics: "receipts",
  totals: "receipts",
  tx: "receipts",
};
const COLUMNS: Readonly<Record<string, string>> = {
  address: "account",
  hash: "tx_hash",
  quoteHash: "quote_hash",
  agentId: "agent_id",
  schema: "schema_hash",
};
/** Parameters of one table alone; the values of several columns stand in one with a dash between them. */
const TABLE_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  "intents.pair": ["input_token", "output_token"],
  "intents.solver": ["selected_solver"],
};
const PAGING = ["limit", "offset", "cursor"];
const TIMES = ["from", "to"];
const VALUES_PER_CASE = 8;
// Pages of the explorer whose reads are many or touch most rows.
const PAGES = [
  "",
  "/agents/1",
  "/merchants/1",
  "/services/1",
  "/events",
  "/analytics",
  "/intents?status=open",
];

export async function createReadCases(sample: IndexSample & { readonly start: number }): Promise<ReadCase[]> {
  const { start, head } = sample;
  const places: BlockPlace[] = [
    { name: "", block: null },
    { name: ", block in the middle of the history", block: Math.floor((start + head) / 2) },
    { name: ", block 100 below the head", block: head - 100 },
  ];
  const cases: ReadCase[] = [];
  for (const read of indexReads) {
    for (const { name, requests } of await requestsOf(sample, read)) {
      const versioned = read.recentOnly === true || read.unversioned === true ? places.slice(0, 1) : places;
      for (const { name: when, block } of versioned) {
        cases.push({
          name: name + when,
          paths: requests.map(({ path }) => atBlock(path, block)),
          statements: requests.map(({ values }) => planAt(read, values, block)),
        });
      }
    }
  }
  const events = [start, Math.floor((start + head) / 2)].map((block) => `/events?from=${block}&limit=100`);
  return [
    ...cases,
    ...events.map((path, place) => ({
      name: `/events, ${place === 0 ? "first page" : "from the middle"}`,
      paths: [path],
      statements: [],
    })),
    ...PAGES.map((path) => ({ name: `/explorer${path}`, paths: [`/explorer${path}`], statements: [] })),
  ];
}

function atBlock(path: string, block: number | null): string {
  return block === null ? path : `${path}${path.includes("?") ? "&" : "?"}block=${block}`;
}

function planAt(read: Read, values: ReadInput["values"], block: number | null): SqlText {
  return read.plan({
    values,
    asOf: block === null ? null : { block: BigInt(block), time: null },
    provenance: false,
  }).sql;
}

/** Without a filter, and by each one alone; by one value of an enumeration at a time. */
async function requestsOf(sample: IndexSample, read: Read): Promise<NamedRequests[]> {
  const table = TABLES[read.path.split("/")[1] ?? ""];
  const filters = read.parameters.filter(
    (parameter) => parameter.in === "query" && ![...PAGING, ...TIMES].includes(parameter.name),
  );
  const valuesOf = async (name: string) => (table ? sampleValues(sample, table, name) : []);
  const bases = await basesOf(read, valuesOf);
  const isPlain = !filters.some((filter) => filter.required);
  const named: NamedRequests[] = isPlain ? [{ name: read.path, requests: bases }] : [];
  for (const { name, kind } of filters) {
    const words = (kind.json.enum as readonly unknown[] | undefined)?.map(String);
    const given = words ? words.map((word) => [word]) : [await valuesOf(name)];
    for (const texts of given) {
      const requests = bases.flatMap(({ path, values }) =>
        texts.map((text) => ({
          path: `${path}?${name}=${text}`,
          values: { ...values, [name]: kind.parse(text, name) },
        })),
      );
      const title = `${read.path}?${name}=${words ? (texts[0] ?? "") : "…"}`;
      named.push({ name: title, requests: requests.slice(0, VALUES_PER_CASE) });
    }
  }
  return named.filter(({ requests }) => requests.length > 0);
}

async function basesOf(
  { path, parameters }: Read,
  valuesOf: (name: string) => Promise<readonly string[]>,
): Promise<Request[]> {
  const inPath = parameters.find((parameter) => parameter.in === "path");
  if (!inPath) return [{ path, values: {} }];
  const { name, kind } = inPath;
  return (await valuesOf(name)).map((text) => ({
    path: path.replace(`:${name}`, text),
    values: { [name]: kind.parse(text, name) },
  }));
}

/** Values of random rows: those that many rows have come more often. */
async function sampleValues(
  { session, head }: IndexSample,
  name: string,
  parameter: string,
): Promise<readonly string[]> {
  const table = tables.find((each) => each.name === name);
  if (!table) throw new Error(`there is no table ${name}`);
  const column = COLUMNS[parameter] ?? (parameter === "id" ? (table.key[0] ?? "") : parameter);
  const columns = TABLE_COLUMNS[`${name}.${parameter}`] ?? [column];
  if (!columns.every((each) => each in table.columns))
    throw new Error(`${name} has no ${columns.join(" and ")} to read by`);
  const rows = await readRandomRowsAsOf(session, table, { block: head, limit: VALUES_PER_CASE });
  return rows
    .map((row) => columns.map((each) => row[each]))
    .filter((values) => values.every(isPresent))
    .map((values) => values.join("-"));
}

/** An absent value is the zero address on chain, which some reads reject. */
function isPresent(value: unknown): boolean {
  return value !== null && !/^0x0+$/.test(String(value));
}
