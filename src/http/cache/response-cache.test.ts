// Answers are made once per change and question, never kept beyond a change, and never shared across one.
import { describe, expect, it } from "vitest";
import type { SerializedResponse } from "../response.ts";
import { createResponseCache } from "./response-cache.ts";

const answerOf = (text: string): SerializedResponse => ({
  route: "/q",
  body: Buffer.from(text),
  etag: text,
  headers: [],
});

const asked = (canonicalKey: string, url: string | null, route = "/q") => ({ route, canonicalKey, url });

function hearing(bytesMax = 10_000) {
  const cache = createResponseCache({ bytesMax });
  cache.invalidateAll();
  let made = 0;
  const make = async () => {
    made += 1;
    return answerOf(`answer ${made}`);
  };
  return { cache, make, count: () => made };
}

describe("an answer", () => {
  it("is made once for all spellings of a question", async () => {
    const { cache, make, count } = hearing();
    await cache.getOrCreate(asked("q", "/q?a=1&b=2"), make);
    await cache.getOrCreate(asked("q", "/q?b=2&a=1"), make);
    await cache.getOrCreate(asked("q", null), make);
    expect(count()).toBe(1);
    expect(cache.getByUrl("/q?a=1&b=2")).toBe(cache.getByUrl("/q?b=2&a=1"));
    expect(cache.getByUrl("/q?junk")).toBeUndefined();
  });

  it("is made once for all who ask at the same time", async () => {
    const { cache, make, count } = hearing();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => cache.getOrCreate(asked("q", "/q"), make)),
    );
    expect(new Set(answers).size).toBe(1);
    expect(count()).toBe(1);
  });

  it("that was begun before a change is neither kept nor given to those who ask after it", async () => {
    const { cache, make, count } = hearing();
    let finish = (_answer: SerializedResponse) => {};
    const early = cache.getOrCreate(asked("q", "/q"), () => new Promise((resolve) => (finish = resolve)));
    cache.invalidateAll();
    const late = await cache.getOrCreate(asked("q", "/q"), make);
    finish(answerOf("old"));
    expect((await early).etag).toBe("old");
    expect(late.etag).toBe("answer 1");
    expect((await cache.getOrCreate(asked("q", "/q"), make)).etag).toBe("answer 1");
    expect(cache.getByUrl("/q")?.etag).toBe("answer 1");
    expect(count()).toBe(1);
  });

  it("is forgotten, and no longer waited for, when another one was made at another head", async () => {
    const { cache, make, count } = hearing();
    const at = (head: string) => () => {
      cache.observeHead(head);
      return make();
    };
    await cache.getOrCreate(asked("first", "/first"), at("a"));
    await cache.getOrCreate(asked("q", "/q"), at("a"));
    expect(cache.getByUrl("/q")).toBeDefined();
    let finish = (_answer: SerializedResponse) => {};
    const early = cache.getOrCreate(
      asked("slow", "/slow"),
      () => new Promise((resolve) => (finish = resolve)),
    );
    await cache.getOrCreate(asked("other", "/other"), at("b"));
    expect(cache.getByUrl("/q")).toBeUndefined();
    const late = await cache.getOrCreate(asked("slow", "/slow"), at("b"));
    finish(answerOf("old"));
    await early;
    expect(cache.getByUrl("/slow")).toBe(late);
    expect(count()).toBe(4);
  });

  it("is made anew for each who asks while nobody tells of changes", async () => {
    const { cache, make, count } = hearing();
    cache.disable();
    await Promise.all([cache.getOrCreate(asked("q", "/q"), make), cache.getOrCreate(asked("q", "/q"), make)]);
    await cache.getOrCreate(asked("q", "/q"), make);
    expect(count()).toBe(3);
    expect(cache.getByUrl("/q")).toBeUndefined();
  });

  it("that fails fails only for who began it", async () => {
    const { cache, make, count } = hearing();
    const failing = cache.getOrCreate(asked("q", "/q"), () => Promise.reject(new Error("no such thing")));
    const other = cache.getOrCreate(asked("q", "/q"), make);
    await expect(failing).rejects.toThrow("no such thing");
    expect((await other).etag).toBe("answer 1");
    expect(count()).toBe(1);
  });
});

describe("a dropped route", () => {
  it("loses its own responses and no others", async () => {
    const { cache, make, count } = hearing();
    await cache.getOrCreate(asked("a", "/a", "/a"), make);
    await cache.getOrCreate(asked("b", "/b", "/b"), make);
    cache.invalidateRoutes(["/a", "/never-asked"]);
    expect(cache.getByUrl("/a")).toBeUndefined();
    expect(cache.getByUrl("/b")?.etag).toBe("answer 2");
    expect((await cache.getOrCreate(asked("a", "/a", "/a"), make)).etag).toBe("answer 3");
    expect(cache.getByUrl("/a")?.etag).toBe("answer 3");
    expect(count()).toBe(3);
  });

  it("keeps nothing that was begun before it was dropped, and gives it to none that asks after", async () => {
    const { cache, make } = hearing();
    let finish = (_answer: SerializedResponse) => {};
    const early = cache.getOrCreate(
      asked("a", "/a", "/a"),
      () => new Promise((resolve) => (finish = resolve)),
    );
    cache.invalidateRoutes(["/a"]);
    const late = await cache.getOrCreate(asked("a", "/a", "/a"), make);
    finish(answerOf("old"));
    expect((await early).etag).toBe("old");
    expect(late.etag).toBe("answer 1");
    expect(cache.getByUrl("/a")?.etag).toBe("answer 1");
  });

  it("costs no room, however often it is dropped and asked for again", async () => {
    const { cache, make } = hearing(4_000);
    await cache.getOrCreate(asked("stays", "/stays", "/stays"), make);
    for (let n = 0; n < 100; n += 1) {
      await cache.getOrCreate(asked("a", "/a", "/a"), async () => answerOf("x".repeat(500)));
      cache.invalidateRoutes(["/a"]);
    }
    expect(cache.getByUrl("/stays")?.etag).toBe("answer 1");
  });
});

describe("the room for answers", () => {
  it("is bounded, whatever is asked", async () => {
    const { cache } = hearing(2_000);
    const body = "x".repeat(500);
    for (let i = 0; i < 50; i += 1)
      await cache.getOrCreate(asked(`q${i}`, `/q${i}`), async () => answerOf(body));
    const kept = Array.from({ length: 50 }, (_, i) => cache.getByUrl(`/q${i}`)).filter(Boolean);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(4);
    await cache.getOrCreate(asked("huge", "/huge"), async () => answerOf("x".repeat(5_000)));
    expect(cache.getByUrl("/huge")).toBeUndefined();
  });
});
