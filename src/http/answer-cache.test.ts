// Answers are made once per change and question, never kept beyond a change, and never shared across one.
import { describe, expect, it } from "vitest";
import type { Answer } from "./answer.ts";
import { createAnswerCache } from "./answer-cache.ts";

const answerOf = (text: string): Answer => ({
  route: "/q",
  body: Buffer.from(text),
  etag: text,
  headers: [],
});

function hearing(bytesMax = 10_000) {
  const cache = createAnswerCache({ bytesMax });
  cache.changed();
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
    await cache.answer("q", "/q?a=1&b=2", make);
    await cache.answer("q", "/q?b=2&a=1", make);
    await cache.answer("q", null, make);
    expect(count()).toBe(1);
    expect(cache.byAddress("/q?a=1&b=2")).toBe(cache.byAddress("/q?b=2&a=1"));
    expect(cache.byAddress("/q?junk")).toBeUndefined();
  });

  it("is made once for all who ask at the same time", async () => {
    const { cache, make, count } = hearing();
    const answers = await Promise.all(Array.from({ length: 10 }, () => cache.answer("q", "/q", make)));
    expect(new Set(answers).size).toBe(1);
    expect(count()).toBe(1);
  });

  it("that was begun before a change is neither kept nor given to those who ask after it", async () => {
    const { cache, make, count } = hearing();
    let finish = (_answer: Answer) => {};
    const early = cache.answer("q", "/q", () => new Promise((resolve) => (finish = resolve)));
    cache.changed();
    const late = await cache.answer("q", "/q", make);
    finish(answerOf("old"));
    expect((await early).etag).toBe("old");
    expect(late.etag).toBe("answer 1");
    expect((await cache.answer("q", "/q", make)).etag).toBe("answer 1");
    expect(cache.byAddress("/q")?.etag).toBe("answer 1");
    expect(count()).toBe(1);
  });

  it("is forgotten, and no longer waited for, when another one was made at another head", async () => {
    const { cache, make, count } = hearing();
    const at = (head: string) => () => {
      cache.saw(head);
      return make();
    };
    await cache.answer("first", "/first", at("a"));
    await cache.answer("q", "/q", at("a"));
    expect(cache.byAddress("/q")).toBeDefined();
    let finish = (_answer: Answer) => {};
    const early = cache.answer("slow", "/slow", () => new Promise((resolve) => (finish = resolve)));
    await cache.answer("other", "/other", at("b"));
    expect(cache.byAddress("/q")).toBeUndefined();
    const late = await cache.answer("slow", "/slow", at("b"));
    finish(answerOf("old"));
    await early;
    expect(cache.byAddress("/slow")).toBe(late);
    expect(count()).toBe(4);
  });

  it("is made anew for each who asks while nobody tells of changes", async () => {
    const { cache, make, count } = hearing();
    cache.deaf();
    await Promise.all([cache.answer("q", "/q", make), cache.answer("q", "/q", make)]);
    await cache.answer("q", "/q", make);
    expect(count()).toBe(3);
    expect(cache.byAddress("/q")).toBeUndefined();
  });

  it("that fails fails only for who began it", async () => {
    const { cache, make, count } = hearing();
    const failing = cache.answer("q", "/q", () => Promise.reject(new Error("no such thing")));
    const other = cache.answer("q", "/q", make);
    await expect(failing).rejects.toThrow("no such thing");
    expect((await other).etag).toBe("answer 1");
    expect(count()).toBe(1);
  });
});

describe("the room for answers", () => {
  it("is bounded, whatever is asked", async () => {
    const { cache } = hearing(2_000);
    const body = "x".repeat(500);
    for (let i = 0; i < 50; i += 1) await cache.answer(`q${i}`, `/q${i}`, async () => answerOf(body));
    const kept = Array.from({ length: 50 }, (_, i) => cache.byAddress(`/q${i}`)).filter(Boolean);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(4);
    await cache.answer("huge", "/huge", async () => answerOf("x".repeat(5_000)));
    expect(cache.byAddress("/huge")).toBeUndefined();
  });
});
