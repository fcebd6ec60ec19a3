// Every list and record of the index over HTTP: exact keys, filters, pages, provenance, errors and validators.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { indexReads } from "../../src/protocol/reads.ts";
import type { JsonSchema } from "../../src/schema/json-schema.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";
import {
  AGENT_SHAPE,
  ANALYTICS_SHAPE,
  ANALYTICS_SUMMARY_SHAPE,
  expectShape,
  LIST_SHAPES,
  PROVENANCE_SHAPE,
  QUOTE_SHAPE,
} from "./record-shapes.ts";

let stage: ReadStage;
const UNKNOWN = "999999999";
const UNKNOWN_ADDRESS = `0x${"ab".repeat(20)}`;
const NO_HASH = `0x${"ab".repeat(32)}`;
const UINT256_OVER = (2n ** 256n).toString();

beforeAll(async () => {
  stage = await openReadStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage.close());

/** Hex is stored as bytes, whose text begins with another character. */
const textOf = (column: string) => `replace((${column})::text, '\\x', '0x')`;
const upperCase = (value: string) => value.replace(/(?<=0x)[0-9a-f]+/g, (digits) => digits.toUpperCase());

describe.each(Object.entries(LIST_SHAPES))("%s", (path, { key, id, newestFirst, shape }) => {
  it("lists records with exact keys, in order", async () => {
    const { records, keys, pagination } = await stage.page(`${path}?limit=100`, key);
    expect(keys).toEqual([key, "pagination"]);
    expect(records.length).toBeGreaterThan(1);
    for (const each of records) expectShape(each, shape);
    const ids = records.map((each) => BigInt(String(each[id])));
    const sorted = [...ids].sort((a, b) => (a < b ? -1 : 1));
    expect(ids).toEqual(newestFirst ? sorted.reverse() : sorted);
    expect(pagination).toMatchObject({ limit: 100, offset: 0, count: ids.length });
  });

  it("includes provenance on request", async () => {
    const { records } = await stage.page(`${path}?limit=5&include=provenance`, key);
    for (const each of records) {
      expectShape(each, { ...shape, ...PROVENANCE_SHAPE });
      const log = await stage.first(
        `select encode(l.tx_hash, 'hex') as tx, encode(b.hash, 'hex') as hash, b.timestamp from logs l
         join blocks b on b.number = l.block_number
         where l.block_number = ${each.block_number} and l.log_index = ${each.log_index}`,
      );
      const shown = [each.tx_hash, each.block_hash, each.block_timestamp];
      expect(shown).toEqual([`0x${log.tx}`, `0x${log.hash}`, log.timestamp]);
    }
  });

  it("lists the same records page by page", async () => {
    const { records } = await stage.page(`${path}?limit=100`, key);
    const whole = records.map((each) => each[id]);
    const byOffset: unknown[] = [];
    for (let offset = 0; offset < whole.length; offset += 7) {
      const page = await stage.page(`${path}?limit=7&offset=${offset}`, key);
      expect(page.pagination).toMatchObject({ limit: 7, offset, count: page.records.length });
      byOffset.push(...page.records.map((each) => each[id]));
    }
    const byCursor = (await stage.pages(path, key, 7)).map((each) => each[id]);
    expect(byOffset.slice(0, whole.length)).toEqual(whole);
    expect(byCursor.slice(0, whole.length)).toEqual(whole);
    expect(new Set(byCursor).size).toBe(byCursor.length);
    expect(byCursor).toHaveLength(Number((await stage.first(current(key, "count(*)"))).count));
  });
});

const current = (table: string, columns: string) => `select ${columns} from ${table} where valid_to is null`;

describe("filters", () => {
  // Derived from the declarations, so that a new filter is tested without a line here.
  const COLUMNS: Readonly<Record<string, string>> = {
    pair: "hex_text(input_token) || '-' || hex_text(output_token)",
    schema: "schema_hash",
    solver: "selected_solver",
  };
  // A derived state has no column; read-truth.test.ts compares it.
  const hasColumn = (path: string, name: string) => !(path === "/intents" && name === "status");
  const PAGING = ["limit", "offset", "cursor"];
  const FILTERS = indexReads
    .filter(({ path }) => path in LIST_SHAPES)
    .flatMap(({ path, parameters }) =>
      parameters
        .filter(({ name }) => !PAGING.includes(name) && hasColumn(path, name))
        .map(({ name }): [path: string, filter: string, column: string] => [
          path,
          name,
          COLUMNS[name] ?? name,
        ]),
    );

  it("spells out the records of every list", () => {
    const lists = indexReads.filter(
      ({ parameters }) =>
        parameters.some(({ name }) => name === "limit") && !parameters.some(({ required }) => required),
    );
    expect(lists.map(({ path }) => path).sort()).toEqual(Object.keys(LIST_SHAPES).sort());
  });

  it.each(FILTERS)(
    "%s?%s= leaves exactly what matches, today and in the past",
    async (path, filter, column) => {
      const { key = "", id = "", shape = {} } = LIST_SHAPES[path] ?? {};
      const values = await stage.rows(
        `${current(key, `${textOf(column)} as value, count(*)`)} and ${column} is not null group by 1 order by 2 desc limit 3`,
      );
      expect(values.length).toBeGreaterThan(0);
      for (const { value = "", count } of values) {
        const url = `${path}?${filter}=${upperCase(value)}&limit=100`;
        const { records } = await stage.page(url, key);
        expect(records.length).toBe(Math.min(Number(count), 100));
        // A dispute names its receipt, which names the merchant.
        for (const each of records) if (column in shape) expect(String(each[column])).toBe(value);
        const block = records.at(-1)?.block_number;
        const past = await stage.page(`${url}&block=${block}`, key);
        const expected = await stage.rows(
          `select ${id}::text as id from ${key} where ${textOf(column)} = '${value}' and valid_from <= ${block}
         and (valid_to is null or valid_to > ${block})`,
        );
        expect(past.records.map((each) => String(each[id])).sort()).toEqual(
          expected.map((row) => row.id).sort(),
        );
      }
    },
  );

  it("combines several filters", async () => {
    const { subject_id, kind } = await stage.first(
      "select subject_id, kind from trust_signals where subject_type = 0",
    );
    const query = `subject_type=0&subject_id=${subject_id}&kind=${kind}`;
    const { records } = await stage.page(`/trust-signals?${query}`, "trust_signals");
    expect(records.length).toBeGreaterThan(0);
    for (const each of records) {
      expect(each).toMatchObject({ subject_type: 0, subject_id, kind: Number(kind) });
    }
  });
});

describe("single records", () => {
  const SINGLES = [
    ...["/attestations", "/solvers", "/attestors", "/merchants", "/services"],
    ...["/facilitators", "/receipts", "/disputes"],
  ];
  it.each(SINGLES)("%s/:id equals the record of the list", async (path) => {
    const { key = "", id = "" } = LIST_SHAPES[path] ?? {};
    const { records } = await stage.page(`${path}?limit=5`, key);
    for (const each of records) expect(await stage.body(`${path}/${each[id]}`)).toEqual(each);
  });

  it("/agents/:agentId equals the record of its owner's list", async () => {
    const { owner = "", count } = await stage.first(
      `${current("agents", "owner, count(*)")} group by 1 order by 2 desc limit 1`,
    );
    const { records } = await stage.page(`/agents?owner=${upperCase(owner)}&limit=100`, "agents");
    expect(records).toHaveLength(Number(count));
    for (const each of records) {
      expectShape(each, AGENT_SHAPE);
      expect(await stage.body(`/agents/${each.agent_id}`)).toEqual(each);
    }
  });

  it("/quotes/:quoteHash has exact keys", async () => {
    for (const settled of [true, false]) {
      const { quote_hash = "" } = await stage.first(
        `${current("quotes", "quote_hash")} and settled = ${settled}`,
      );
      const quote = await stage.body(`/quotes/${upperCase(quote_hash)}`);
      expectShape(quote, QUOTE_SHAPE);
      expect(quote).toMatchObject({ quote_hash, settled });
    }
  });
});

describe("an offset", () => {
  it("rejects an offset above 10,000 with an error that points to cursors", async () => {
    expect((await stage.get("/merchants?offset=10000")).status).toBe(200);
    const { status, body } = await stage.get("/merchants?offset=10001");
    expect(status).toBe(400);
    expect((body as { error: string }).error).toBe(
      "offset must be at most 10000; to go deeper, pass the next_cursor of each page as cursor.",
    );
  });
});

describe("errors", () => {
  const NUMBERED = [
    "/agents",
    "/intents",
    "/attestations",
    "/solvers",
    "/attestors",
    "/merchants",
    "/services",
    "/facilitators",
    "/receipts",
    "/disputes",
  ];
  const NO_IDS = ["x", "-1", "1.5", "01", "1e3", UINT256_OVER, "%00"];
  const NO_QUERIES = [
    ...[
      "limit=0",
      "limit=-1",
      "limit=x",
      "offset=-1",
      "offset=x",
      "offset=10001",
      `offset=1${"0".repeat(40)}`,
    ],
    ...["cursor=x", "cursor=WyJ4Il0", "limit=1&limit=2", "block=x", "block=99999999", "include=all"],
  ];
  const missing = [
    ...NUMBERED.flatMap((path) => [`${path}/${UNKNOWN}`, `${path}/0`]),
    ...[`/intents/${UNKNOWN}/bids`, `/merchants/${UNKNOWN}/reputation`],
    ...[`/quotes/${NO_HASH}`, `/tx/${NO_HASH}/explain`],
  ];
  const invalid = [
    ...NUMBERED.flatMap((path) => NO_IDS.map((id) => `${path}/${id}`)),
    ...Object.keys(LIST_SHAPES).flatMap((path) => NO_QUERIES.map((query) => `${path}?${query}`)),
    ...["/intents/x/bids", "/intents/1/bids?status=won", "/intents?status=closed", "/merchants/x/reputation"],
    ...["/intents?owner=me", "/intents?owner=0x12"],
    ...["/agents", "/agents?owner=0x12", "/accounts/0x12/policies", `/accounts/${NO_HASH}/policies`],
    ...["/quotes/0x12", `/quotes/${UNKNOWN_ADDRESS}`, "/tx/0x12/explain", `/tx/${NO_HASH.slice(2)}/explain`],
    ...["/solvers?active=yes", "/solvers?active=", "/solvers?operator=me", "/attestors?operator=0x"],
    ...["/attestations?schema=0x12", "/attestations?subject=1", "/attestations?attester=1"],
    ...["/merchants?owner=1", "/services?merchant_id=x", "/services?capability_hash=1"],
    ...["/facilitators?active=1", "/receipts?agent=x", "/receipts?merchant_id=-1", "/disputes?receipt_id=x"],
    ...["/receipts?service_numeric_id=x", "/receipts?facilitator=1", "/receipts?token=USDC"],
    ...["/receipts?quote_hash=1", "/facilitators?facilitator=1", "/disputes?merchant_id=x"],
    ...["/disputes?opener=me", "/disputes?status=closed", "/disputes?status=status_3"],
    ...["/trust-signals?subject_type=4", "/trust-signals?subject_type=merchant", "/trust-signals?kind=9"],
    ...["/trust-signals?subject_id=x", "/trust-signals?reporter=x", "/analytics/commerce?block=99999999"],
    ...["/totals?interval=week", "/totals?interval=", "/totals?block=99999999"],
    ...[
      "/analytics/volumes?interval=week",
      "/analytics/volumes?token=x",
      "/analytics/volumes?payment_rail=4",
    ],
    ...["/analytics/volumes?merchant_id=1&payment_rail=1", "/analytics/volumes?from=-1"],
    ...["/analytics/volumes?from=172800&to=86399", "/analytics/volumes?from=0&to=34560000"],
    ...[`/analytics/volumes?facilitator=0x${"0".repeat(40)}`, "/analytics/volumes?from=99999999999"],
    ...["/analytics/flows", "/analytics/flows?token=1"],
  ];
  it.each([...missing.map((path) => [404, path] as const), ...invalid.map((path) => [400, path] as const)])(
    "responds %i to %s",
    async (status, path) => {
      const response = await stage.get(path);
      const code = status === 404 ? "NOT_FOUND" : "INPUT_INVALID";
      expect([response.status, response.headers.get("x-error-code")]).toEqual([status, code]);
      expect(Object.keys(response.body as object)).toEqual(["error"]);
    },
  );

  it("treats a limit above 100 as 100", async () => {
    expect((await stage.page("/attestations?limit=500", "attestations")).pagination.limit).toBe(100);
  });
});

describe("validators", () => {
  it("sends the block headers and an ETag that allows 304", async () => {
    for (const path of [
      ...Object.keys(LIST_SHAPES),
      "/analytics/commerce",
      "/totals",
      "/analytics/volumes",
      "/merchants/1/reputation",
    ]) {
      const got = await stage.get(path);
      const etag = got.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]+"$/);
      expect(got.headers.get("x-indexed-block")).toMatch(/^[0-9]+$/);
      expect(got.headers.get("x-indexed-block-hash")).toMatch(/^0x[0-9a-f]{64}$/);
      for (const validator of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await stage.get(path, { "if-none-match": validator });
        expect([again.status, again.text]).toEqual([304, ""]);
      }
      expect((await stage.get(path, { "if-none-match": '"other"' })).status).toBe(200);
    }
  });
});

describe("declarations", () => {
  type Described = { readonly properties: Readonly<Record<string, { items: JsonSchema }>> };
  const responseSchemaOf = (path: string) =>
    indexReads.find((read) => read.path === path)?.responseSchema as Described & JsonSchema;

  it("declares distinct paths and operation ids", () => {
    expect(new Set(indexReads.map(({ path }) => path)).size).toBe(indexReads.length);
    expect(new Set(indexReads.map(({ operationId: operation }) => operation)).size).toBe(indexReads.length);
  });

  it("describes the records that each list returns", () => {
    for (const [path, { key, shape }] of Object.entries(LIST_SHAPES)) {
      expect(responseSchemaOf(path).properties[key]?.items.required).toEqual(Object.keys(shape));
    }
    const { summary, ...arrays } = responseSchemaOf("/analytics/commerce").properties;
    expect(summary).toMatchObject({ required: Object.keys(ANALYTICS_SUMMARY_SHAPE) });
    expect(Object.keys(arrays)).toEqual(Object.keys(ANALYTICS_SHAPE));
    for (const [array, shape] of Object.entries(ANALYTICS_SHAPE)) {
      expect(arrays[array]?.items.required).toEqual(Object.keys(shape));
    }
  });
});
