// The cache creates each response once per change, never serves one across a change, and evicts the least recently used.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SerializedResponse } from "./response.ts";
import { ResponseCache } from "./response-cache.ts";

const responseOf = (text: string): SerializedResponse => ({
  route: "/q",
  status: 200,
  body: Buffer.from(text),
  etag: text,
  indexedBlock: null,
  indexedRevision: null,
  headers: [],
});

const keyOf = (canonicalKey: string, url: string | null, route = "/q") => ({ route, canonicalKey, url });

function enabledCache(bytesMax = 10_000) {
  const cache = new ResponseCache({ bytesMax });
  cache.invalidateAll();
  let created = 0;
  const create = async () => {
    created += 1;
    return responseOf(`response ${created}`);
  };
  return { cache, create, count: () => created };
}

/** Work whose end the test decides. */
function pendingWork() {
  let finish = (_response: SerializedResponse) => {};
  const create = () => new Promise<SerializedResponse>((resolve) => (finish = resolve));
  return { create, finish: (response: SerializedResponse) => finish(response) };
}

describe("a cached response", () => {
  it("serves every equivalent URL", async () => {
    const { cache, create, count } = enabledCache();
    await cache.getOrCreate(keyOf("q", "/q?a=1&b=2"), create);
    await cache.getOrCreate(keyOf("q", "/q?b=2&a=1"), create);
    await cache.getOrCreate(keyOf("q", null), create);
    expect(count()).toBe(1);
    expect(cache.getByUrl("/q?a=1&b=2")).toBe(cache.getByUrl("/q?b=2&a=1"));
    expect(cache.getByUrl("/q?junk")).toBeUndefined();
  });

  it("creates a response once for concurrent requests", async () => {
    const { cache, create, count } = enabledCache();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => cache.getOrCreate(keyOf("q", "/q"), create)),
    );
    expect(new Set(responses).size).toBe(1);
    expect(count()).toBe(1);
  });

  it("neither stores nor shares a response whose work started before a change", async () => {
    const { cache, create, count } = enabledCache();
    const pending = pendingWork();
    const early = cache.getOrCreate(keyOf("q", "/q"), pending.create);
    cache.invalidateAll();
    const late = await cache.getOrCreate(keyOf("q", "/q"), create);
    pending.finish(responseOf("old"));
    expect((await early).etag).toBe("old");
    expect(late.etag).toBe("response 1");
    expect((await cache.getOrCreate(keyOf("q", "/q"), create)).etag).toBe("response 1");
    expect(cache.getByUrl("/q")?.etag).toBe("response 1");
    expect(count()).toBe(1);
  });

  it("drops responses, in flight too, when another read observes another head", async () => {
    const { cache, create, count } = enabledCache();
    const createAt = (hash: string) => () => {
      cache.observeState({ revision: 1n, hash });
      return create();
    };
    await cache.getOrCreate(keyOf("first", "/first"), createAt("a"));
    await cache.getOrCreate(keyOf("q", "/q"), createAt("a"));
    expect(cache.getByUrl("/q")).toBeDefined();
    const pending = pendingWork();
    const early = cache.getOrCreate(keyOf("slow", "/slow"), pending.create);
    await cache.getOrCreate(keyOf("other", "/other"), createAt("b"));
    expect(cache.getByUrl("/q")).toBeUndefined();
    const late = await cache.getOrCreate(keyOf("slow", "/slow"), createAt("b"));
    pending.finish(responseOf("old"));
    await early;
    expect(cache.getByUrl("/slow")).toBe(late);
    expect(count()).toBe(4);
  });

  it("neither stores a response of an older revision nor drops newer ones for it", async () => {
    const { cache } = enabledCache();
    const at = (revision: bigint) => async () => ({
      ...responseOf(String(revision)),
      indexedRevision: revision,
    });
    cache.observeState({ revision: 5n, hash: "b" });
    await cache.getOrCreate(keyOf("new", "/new"), at(5n));
    cache.observeState({ revision: 4n, hash: "a" });
    expect((await cache.getOrCreate(keyOf("old", "/old"), at(4n))).etag).toBe("4");
    expect([cache.getByUrl("/new")?.etag, cache.getByUrl("/old")]).toEqual(["5", undefined]);
    cache.forgetState();
    await cache.getOrCreate(keyOf("old", "/old"), at(4n));
    expect([cache.getByUrl("/new"), cache.getByUrl("/old")?.etag]).toEqual([undefined, "4"]);
  });

  it("creates a response for each request while the cache is disabled", async () => {
    const { cache, create, count } = enabledCache();
    cache.disable();
    await Promise.all([
      cache.getOrCreate(keyOf("q", "/q"), create),
      cache.getOrCreate(keyOf("q", "/q"), create),
    ]);
    await cache.getOrCreate(keyOf("q", "/q"), create);
    expect(count()).toBe(3);
    expect(cache.getByUrl("/q")).toBeUndefined();
  });

  it("fails only for the request that started the work", async () => {
    const { cache, create, count } = enabledCache();
    const failing = cache.getOrCreate(keyOf("q", "/q"), () => Promise.reject(new Error("no such thing")));
    const other = cache.getOrCreate(keyOf("q", "/q"), create);
    await expect(failing).rejects.toThrow("no such thing");
    expect((await other).etag).toBe("response 1");
    expect(count()).toBe(1);
  });
});

describe("an invalidated route", () => {
  it("loses its own responses and no others", async () => {
    const { cache, create, count } = enabledCache();
    await cache.getOrCreate(keyOf("a", "/a", "/a"), create);
    await cache.getOrCreate(keyOf("b", "/b", "/b"), create);
    cache.invalidateRoutes(["/a", "/never-requested"]);
    expect(cache.getByUrl("/a")).toBeUndefined();
    expect(cache.getByUrl("/b")?.etag).toBe("response 2");
    expect((await cache.getOrCreate(keyOf("a", "/a", "/a"), create)).etag).toBe("response 3");
    expect(cache.getByUrl("/a")?.etag).toBe("response 3");
    expect(count()).toBe(3);
  });

  it("neither stores nor shares a route's work that started before its invalidation", async () => {
    const { cache, create } = enabledCache();
    const pending = pendingWork();
    const early = cache.getOrCreate(keyOf("a", "/a", "/a"), pending.create);
    cache.invalidateRoutes(["/a"]);
    const late = await cache.getOrCreate(keyOf("a", "/a", "/a"), create);
    pending.finish(responseOf("old"));
    expect((await early).etag).toBe("old");
    expect(late.etag).toBe("response 1");
    expect(cache.getByUrl("/a")?.etag).toBe("response 1");
  });

  it("frees its bytes, however often it is invalidated and requested again", async () => {
    const { cache, create } = enabledCache(4_000);
    await cache.getOrCreate(keyOf("stays", "/stays", "/stays"), create);
    const before = cache.bytes;
    for (let n = 0; n < 100; n += 1) {
      await cache.getOrCreate(keyOf("a", "/a", "/a"), async () => responseOf("x".repeat(500)));
      cache.invalidateRoutes(["/a"]);
    }
    expect(cache.getByUrl("/stays")?.etag).toBe("response 1");
    expect(cache.bytes).toBe(before);
  });
});

describe("the byte limit", () => {
  const body = "x".repeat(500);
  const add = (cache: ResponseCache, name: string, url: string | null = `/${name}`) =>
    cache.getOrCreate(keyOf(name, url), async () => responseOf(body));
  /** Enough for four entries with one alias each. */
  const FOUR_ENTRIES = 4 * (500 + 1 + 500 + 2 + 500);

  it("holds whatever is requested", async () => {
    const { cache } = enabledCache(2_000);
    for (let i = 0; i < 50; i += 1) {
      await add(cache, `q${i}`);
      expect(cache.bytes).toBeLessThanOrEqual(2_000);
    }
    const cached = Array.from({ length: 50 }, (_, i) => cache.getByUrl(`/q${i}`)).filter(Boolean);
    expect(cached.length).toBeGreaterThan(0);
    expect(cached.length).toBeLessThan(4);
    await cache.getOrCreate(keyOf("huge", "/huge"), async () => responseOf("x".repeat(5_000)));
    expect(cache.getByUrl("/huge")).toBeUndefined();
    expect(cache.getByUrl("/q49")).toBeDefined();
  });

  it("evicts the least recently used entry and keeps the others", async () => {
    const { cache } = enabledCache(FOUR_ENTRIES);
    for (const name of ["a", "b", "c", "d"]) await add(cache, name);
    await add(cache, "e");
    expect(["a", "b", "c", "d", "e"].filter((name) => cache.getByUrl(`/${name}`))).toEqual([
      "b",
      "c",
      "d",
      "e",
    ]);
  });

  it.each([
    ["by URL", async (cache: ResponseCache) => void cache.getByUrl("/a")],
    ["by key", async (cache: ResponseCache) => void (await add(cache, "a", null))],
  ])("counts a hit %s as use", async (_name, hit) => {
    const { cache } = enabledCache(FOUR_ENTRIES);
    for (const name of ["a", "b", "c", "d"]) await add(cache, name);
    await hit(cache);
    await add(cache, "e");
    expect(["a", "b", "c", "d", "e"].filter((name) => cache.getByUrl(`/${name}`))).toEqual([
      "a",
      "c",
      "d",
      "e",
    ]);
  });

  it("limits the aliases of an entry, so that one response cannot evict all others", async () => {
    const { cache } = enabledCache(7_000);
    await add(cache, "b");
    const urls = Array.from({ length: 50 }, (_, index) => `/a?n=${String(index).padStart(2, "0")}`);
    for (const url of urls) await add(cache, "a", url);
    expect(cache.getByUrl("/b")).toBeDefined();
    expect(urls.filter((url) => cache.getByUrl(url))).toEqual(urls.slice(-8));
    cache.invalidateRoutes(["/q"]);
    expect([cache.bytes, ...urls.map((url) => cache.getByUrl(url))].filter(Boolean)).toEqual([]);
  });

  it("keeps the same entries as a plain list ordered by use", async () => {
    const actions = fc.array(
      fc.record({
        kind: fc.constantFrom("request", "request", "request", "lookup", "invalidate"),
        name: fc.integer({ min: 0, max: 9 }),
        size: fc.integer({ min: 0, max: 1_200 }),
      }),
      { maxLength: 80 },
    );
    await fc.assert(
      fc.asyncProperty(actions, fc.integer({ min: 0, max: 8_000 }), async (steps, bytesMax) => {
        const { cache } = enabledCache(bytesMax);
        let model: { name: number; bytes: number; hasUrl: boolean }[] = [];
        const total = () => model.reduce((sum, { bytes }) => sum + bytes, 0);
        const use = (name: number) => {
          const found = model.find((entry) => entry.name === name);
          if (found) model = [...model.filter((entry) => entry !== found), found];
          return found;
        };
        const freeUp = (bytes: number) => {
          while (model.length > 0 && total() + bytes > bytesMax) model.shift();
        };
        for (const { kind, name, size } of steps) {
          if (kind === "invalidate") {
            cache.invalidateRoutes([`/${name % 3}`]);
            model = model.filter((entry) => entry.name % 3 !== name % 3);
          } else if (kind === "lookup") {
            const found = model.find((entry) => entry.name === name);
            if (found?.hasUrl) use(name);
            expect(cache.getByUrl(`/${name}`) !== undefined).toBe(found?.hasUrl === true);
          } else {
            const key = keyOf(`${name}`, `/${name}`, `/${name % 3}`);
            await cache.getOrCreate(key, async () => responseOf("x".repeat(size)));
            let entry = use(name);
            if (!entry && size + 501 <= bytesMax) {
              freeUp(size + 501);
              entry = { name, bytes: size + 501, hasUrl: false };
              model.push(entry);
            }
            if (entry && !entry.hasUrl && entry.bytes + 502 <= bytesMax) {
              freeUp(502);
              entry.bytes += 502;
              entry.hasUrl = true;
            }
          }
          expect(cache.bytes).toBe(total());
          expect(cache.bytes).toBeLessThanOrEqual(bytesMax);
        }
      }),
    );
  });
});
