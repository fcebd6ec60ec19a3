// Measures a lookup and an insertion, including the order of use.
import { bench, describe } from "vitest";
import type { SerializedResponse } from "./response.ts";
import { ResponseCache } from "./response-cache.ts";

const response: SerializedResponse = {
  route: "/things/:id",
  status: 200,
  body: Buffer.alloc(1_000),
  etag: '"a"',
  indexedBlock: null,
  indexedRevision: null,
  headers: [],
};
const create = async () => response;
const keyOf = (n: number) => ({
  route: "/things/:id",
  canonicalKey: `/things/:id {"id":"${n}"}`,
  url: `/things/${n}`,
});
const COUNT = 10_000;

async function filledCache(bytesMax: number): Promise<ResponseCache> {
  const cache = new ResponseCache({ bytesMax });
  cache.invalidateAll();
  for (let n = 0; n < COUNT; n += 1) await cache.getOrCreate(keyOf(n), create);
  return cache;
}

describe("response cache", async () => {
  const large = await filledCache(64 * 1024 * 1024);
  // About a thousand entries: each insertion evicts one.
  const small = await filledCache(2 * 1024 * 1024);
  const urls = Array.from({ length: COUNT }, (_, n) => keyOf(n).url);
  const keys = Array.from({ length: COUNT }, (_, n) => keyOf(n));
  let next = 0;

  bench("hit by URL, the same each time", () => {
    large.getByUrl("/things/1");
  });
  bench("hit by URL, another each time", () => {
    large.getByUrl(urls[next++ % COUNT] ?? "");
  });
  bench("hit by key, another each time", async () => {
    await large.getOrCreate(keys[next++ % COUNT] ?? keyOf(0), create);
  });
  bench("insertion with eviction", async () => {
    await small.getOrCreate(keys[next++ % COUNT] ?? keyOf(0), create);
  });
});
