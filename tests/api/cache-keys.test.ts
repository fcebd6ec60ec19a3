// Cache keys contain only known parameters, so that unknown ones cannot bypass the cache.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeReads } from "../../src/api/write-service.ts";
import { BlockWaiters } from "../../src/http/block-waiters.ts";
import { ResponseCache } from "../../src/http/response-cache.ts";
import { addReadRoutes } from "../../src/http/routes/reads.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";
import { indexReads as protocolReads } from "../../src/protocol/reads.ts";
import { openPipelinedReader } from "../../src/store/fast/pipelined-reader.ts";
import { openIndexReader, openSlowReader } from "../../src/store/index/reader.ts";
import { NO_LIMITS } from "../support/http/no-limits.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";
import { silentLog } from "../support/quiet-log.ts";

const reads = [...protocolReads, ...writeReads];
const OWNER = `0x${"ab".repeat(20)}`;
const HASH = `0x${"1".repeat(64)}`;

let emptyIndex: EmptyIndex;
let readers: { quick: ReturnType<typeof openPipelinedReader>; slow: ReturnType<typeof openSlowReader> };
let server: HttpServer;
let url: string;
let statements = 0;

beforeAll(async () => {
  emptyIndex = await openEmptyIndex();
  readers = {
    quick: openPipelinedReader(emptyIndex.database),
    slow: openSlowReader(emptyIndex.database, { connections: 2 }),
  };
  const index = openIndexReader(readers);
  const run: typeof index.read = (statement, use) => {
    statements += 1;
    return index.read(statement, use);
  };
  const cache = new ResponseCache({ bytesMax: 1_000_000 });
  cache.invalidateAll();
  const ready = async () => ({ ready: true }) as const;
  server = createHttpServer({
    ...NO_LIMITS,
    log: silentLog,
    bodyBytesMax: 1_024,
    requestMsMax: 10_000,
    checkReadiness: ready,
  });
  const waiters = new BlockWaiters({ readHead: async () => 7n });
  addReadRoutes(server, reads, { run, cache, waiters });
  url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
});

afterAll(async () => {
  await server?.close();
  await readers?.quick.close();
  await readers?.slow.close();
  await emptyIndex?.drop();
});

/** A list request that needs no other record. */
const lists = reads
  .filter(({ path, notFoundMessage: missing }) => !path.includes(":") && missing === null)
  .map(({ path, parameters }) => {
    const required = parameters
      .filter((each) => each.required)
      .map(({ name }) => `&${name}=${name === "hash" ? HASH : OWNER}`);
    return [path, `${path}?${required.join("")}`] as const;
  });

async function statementsFor(queries: readonly string[], address: string): Promise<number> {
  const before = statements;
  for (const query of queries) {
    const response = await fetch(`${url}${address}&${query}`);
    expect([query, response.status, await response.text()]).toEqual([query, 200, expect.any(String)]);
  }
  return statements - before;
}

describe("a cached response", () => {
  it("caches the response of every list", () => {
    expect(lists.length).toBeGreaterThan(10);
  });

  it.each(lists)(
    "shares the response of %s among requests that differ in unknown keys",
    async (_path, address) => {
      await statementsFor([""], address);
      const junk = ["x=1", "x=2", "Limit=3", "limit[]=4", "y", "_=1700000000"];
      expect(await statementsFor(junk, address)).toBe(0);
    },
  );

  it.each(["/attestations/schemas?", `/attestations/schemas/0x${"1".repeat(64)}?`])(
    "shares the response of %s whatever its unsupported keys block and include say",
    async (address) => {
      await statementsFor([""], address);
      const unknown = ["block=1", "block=2", "block=99999", "block=x", "include=provenance", "include=x"];
      expect(await statementsFor(unknown, address)).toBe(0);
    },
  );

  it.each(lists)(
    "shares the response of %s among requests that wait for different blocks",
    async (_path, address) => {
      await statementsFor([""], address);
      expect(
        await statementsFor(["min_block=0", "min_block=6", "min_block=7", "x=1&min_block=3"], address),
      ).toBe(0);
    },
  );

  it("caches versioned lists separately per block", async () => {
    expect(await statementsFor(["block=1", "block=2", "block=1"], "/intents?")).toBe(2);
  });
});
