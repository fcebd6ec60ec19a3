// Pages of long records: at most half a megabyte each, without losing or repeating records.
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { attestationSchemaReads } from "../../src/api/writes/attestation-schemas.ts";
import { serviceReads } from "../../src/protocol/reads/commerce.ts";
import type { Read } from "../../src/schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../src/schema/reads/record.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

let emptyIndex: EmptyIndex;
let api: TestApi;

beforeAll(async () => {
  emptyIndex = await openEmptyIndex();
  // No process reports the changes of these tests, so that cached responses would stay.
  api = await startTestApi(emptyIndex.database, { cacheBytesMax: 0 });
});

afterAll(async () => {
  await api?.close();
  await emptyIndex?.drop();
});

beforeEach(async () => {
  await emptyIndex.database.query("delete from attestation_schemas");
  await emptyIndex.database.query("delete from services");
});

type Pagination = { limit: number; offset: number; count: number; next_cursor?: string };
type Page = {
  readonly records: readonly Record<string, unknown>[];
  readonly pagination: Pagination;
  readonly bytes: number;
};

async function readPage(path: string, key: string): Promise<Page> {
  const response = await fetch(api.url + path);
  const text = await response.text();
  expect(response.status, text.slice(0, 200)).toBe(200);
  const { [key]: records, pagination } = JSON.parse(text) as Pick<Page, "pagination"> &
    Record<string, Page["records"]>;
  return { records: records ?? [], pagination, bytes: Buffer.byteLength(text) };
}

/** All pages, from the first on, by cursor or by offset. */
async function readAll(
  list: string,
  key: string,
  limit: number,
  by: "cursor" | "offset",
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let position = "";
  let offset = 0;
  for (;;) {
    const page = await readPage(`${list}?limit=${limit}${position}`, key);
    expect(page.pagination).toMatchObject({ limit, count: page.records.length });
    pages.push(page);
    const { next_cursor: cursor, count } = page.pagination;
    if (cursor === undefined) return pages;
    expect(count).toBeGreaterThan(0);
    offset += count;
    position = by === "cursor" ? `&cursor=${cursor}` : `&offset=${offset}`;
  }
}

/** Schemas whose texts have these lengths, in the order of the list. */
async function publishSchemas(lengths: readonly number[]): Promise<void> {
  await emptyIndex.database.query({
    text: `insert into attestation_schemas (schema_hash, name, json_schema)
      select '0x' || lpad(n::text, 64, '0'), n::text, jsonb_build_object('title', repeat('x', length))
      from unnest($1::integer[]) with ordinality as given (length, n)`,
    values: [`{${lengths.join(",")}}`],
  });
}

/** Services whose metadata_uri repeats a letter so often. */
async function registerServices(letter: string, lengths: readonly number[]): Promise<void> {
  await emptyIndex.database.query({
    text: `insert into services (service_numeric_id, merchant_id, service_id, metadata_uri, metadata_hash, capability_hash, active, block_number, tx_hash, log_index, valid_from)
      select n, 1, 's', repeat($1, length), '\\x', '\\x', true, 1, '\\x', n, 1
      from unnest($2::integer[]) with ordinality as given (length, n)`,
    values: [letter, `{${lengths.join(",")}}`],
  });
}

/** How many rows the statement of a page itself gives. */
async function countRows(read: Read | undefined, limit: number): Promise<number> {
  const plan = read?.plan({ values: { limit }, asOf: null, provenance: false });
  const { rows } = await emptyIndex.database.query({
    text: `select r.* from checkpoint h cross join lateral (${plan?.sql.text}) r`,
    values: plan?.sql.values as string[],
  });
  return rows.length;
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

describe("a page of long schemas", () => {
  it("ends a page of schemas at half a megabyte and continues on the next", async () => {
    await publishSchemas(Array.from({ length: 100 }, () => 60_000));
    for (const by of ["cursor", "offset"] as const) {
      const pages = await readAll("/attestations/schemas", "schemas", 100, by);
      expect(pages.map(({ pagination }) => pagination.count)).toEqual([
        ...Array.from({ length: 12 }, () => 8),
        4,
      ]);
      for (const { bytes } of pages) expect(bytes).toBeLessThanOrEqual(PAGE_BYTES_MAX);
      expect(pages.flatMap(({ records }) => records.map(({ name }) => name))).toEqual(numbered(100));
    }
  });

  it("limits a page of schemas in the database, not after reading everything", async () => {
    await publishSchemas(Array.from({ length: 100 }, () => 60_000));
    // All that fit, and the first that exceeds the limit.
    expect(await countRows(attestationSchemaReads[1], 101)).toBe(9);
  });

  it("returns one schema alone that exceeds the limit", async () => {
    await publishSchemas([10, 600_000, 700_000, 10]);
    const pages = await readAll("/attestations/schemas", "schemas", 100, "cursor");
    expect(pages.map(({ records }) => records.map(({ name }) => name))).toEqual([["1"], ["2"], ["3"], ["4"]]);
  });

  it("loses and repeats no schema, whatever the lengths and the limit", async () => {
    const lengths = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 270_000 })), {
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 1, max: 30 }), async (each, limit) => {
        await emptyIndex.database.query("delete from attestation_schemas");
        await publishSchemas(each);
        const pages = await readAll("/attestations/schemas", "schemas", limit, "cursor");
        expect(pages.flatMap(({ records }) => records.map(({ name }) => name))).toEqual(
          numbered(each.length),
        );
        for (const { bytes, records } of pages) {
          expect(records.length).toBeLessThanOrEqual(limit);
          if (records.length > 1) expect(bytes).toBeLessThanOrEqual(PAGE_BYTES_MAX);
        }
      }),
      { numRuns: 8 },
    );
  });
});

describe("a page of long event data", () => {
  it.each([
    ["ordinary letters", "a"],
    ["letters of several bytes", "é"],
    ["letters that JSON writes in six", "\u0001"],
  ])("ends a page at half a megabyte of %s", async (_name, letter) => {
    await registerServices(
      letter,
      Array.from({ length: 40 }, () => 50_000),
    );
    const pages = await readAll("/services", "services", 100, "cursor");
    expect(pages.flatMap(({ records }) => records.map((each) => each.service_numeric_id))).toEqual(
      numbered(40),
    );
    for (const { bytes } of pages) expect(bytes).toBeLessThanOrEqual(PAGE_BYTES_MAX);
    expect(await countRows(serviceReads[1], 101)).toBeLessThan(12);
  });

  it("returns as many short records as requested", async () => {
    await registerServices(
      "a",
      Array.from({ length: 120 }, () => 30),
    );
    const pages = await readAll("/services", "services", 100, "cursor");
    expect(pages.map(({ pagination }) => pagination.count)).toEqual([100, 20]);
  });
});
