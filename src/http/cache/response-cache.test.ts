// Answers are made once per change and question, never kept beyond a change, and never shared across one.
import { describe, expect, it } from "vitest";
import type { Answer } from "../response.ts";
import { createAnswerCache } from "./response-cache.ts";

const answerOf = (text: string): Answer => ({
  route: "/q",
  body: Buffer.from(text),
  etag: text,
  headers: [],
});

const asked = (question: string, address: string | null, route = "/q") => ({ route, question, address });

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
    await cache.answer(asked("q", "/q?a=1&b=2"), make);
    await cache.answer(asked("q", "/q?b=2&a=1"), make);
    await cache.answer(asked("q", null), make);
    expect(count()).toBe(1);
    expect(cache.byAddress("/q?a=1&b=2")).toBe(cache.byAddress("/q?b=2&a=1"));
    expect(cache.byAddress("/q?junk")).toBeUndefined();
  });

  it("is made once for all who ask at the same time", async () => {
    const { cache, make, count } = hearing();
    const answers = await Promise.all(Array.from({ length: 10 }, () => cache.answer(asked("q", "/q"), make)));
    expect(new Set(answers).size).toBe(1);
    expect(count()).toBe(1);
  });

  it("that was begun before a change is neither kept nor given to those who ask after it", async () => {
    const { cache, make, count } = hearing();
    let finish = (_answer: Answer) => {};
    const early = cache.answer(asked("q", "/q"), () => new Promise((resolve) => (finish = resolve)));
    cache.changed();
    const late = await cache.answer(asked("q", "/q"), make);
    finish(answerOf("old"));
    expect((await early).etag).toBe("old");
    expect(late.etag).toBe("answer 1");
    expect((await cache.answer(asked("q", "/q"), make)).etag).toBe("answer 1");
    expect(cache.byAddress("/q")?.etag).toBe("answer 1");
    expect(count()).toBe(1);
  });

  it("is forgotten, and no longer waited for, when another one was made at another head", async () => {
    const { cache, make, count } = hearing();
    const at = (head: string) => () => {
      cache.saw(head);
      return make();
    };
    await cache.answer(asked("first", "/first"), at("a"));
    await cache.answer(asked("q", "/q"), at("a"));
    expect(cache.byAddress("/q")).toBeDefined();
    let finish = (_answer: Answer) => {};
    const early = cache.answer(asked("slow", "/slow"), () => new Promise((resolve) => (finish = resolve)));
    await cache.answer(asked("other", "/other"), at("b"));
    expect(cache.byAddress("/q")).toBeUndefined();
    const late = await cache.answer(asked("slow", "/slow"), at("b"));
    finish(answerOf("old"));
    await early;
    expect(cache.byAddress("/slow")).toBe(late);
    expect(count()).toBe(4);
  });

  it("is made anew for each who asks while nobody tells of changes", async () => {
    const { cache, make, count } = hearing();
    cache.deaf();
    await Promise.all([cache.answer(asked("q", "/q"), make), cache.answer(asked("q", "/q"), make)]);
    await cache.answer(asked("q", "/q"), make);
    expect(count()).toBe(3);
    expect(cache.byAddress("/q")).toBeUndefined();
  });

  it("that fails fails only for who began it", async () => {
    const { cache, make, count } = hearing();
    const failing = cache.answer(asked("q", "/q"), () => Promise.reject(new Error("no such thing")));
    const other = cache.answer(asked("q", "/q"), make);
    await expect(failing).rejects.toThrow("no such thing");
    expect((await other).etag).toBe("answer 1");
    expect(count()).toBe(1);
  });
});

describe("a dropped route", () => {
  it("loses its own responses and no others", async () => {
    const { cache, make, count } = hearing();
    await cache.answer(asked("a", "/a", "/a"), make);
    await cache.answer(asked("b", "/b", "/b"), make);
    cache.dropRoutes(["/a", "/never-asked"]);
    expect(cache.byAddress("/a")).toBeUndefined();
    expect(cache.byAddress("/b")?.etag).toBe("answer 2");
    expect((await cache.answer(asked("a", "/a", "/a"), make)).etag).toBe("answer 3");
    expect(cache.byAddress("/a")?.etag).toBe("answer 3");
    expect(count()).toBe(3);
  });

  it("keeps nothing that was begun before it was dropped, and gives it to none that asks after", async () => {
    const { cache, make } = hearing();
    let finish = (_answer: Answer) => {};
    const early = cache.answer(asked("a", "/a", "/a"), () => new Promise((resolve) => (finish = resolve)));
    cache.dropRoutes(["/a"]);
    const late = await cache.answer(asked("a", "/a", "/a"), make);
    finish(answerOf("old"));
    expect((await early).etag).toBe("old");
    expect(late.etag).toBe("answer 1");
    expect(cache.byAddress("/a")?.etag).toBe("answer 1");
  });

  it("costs no room, however often it is dropped and asked for again", async () => {
    const { cache, make } = hearing(4_000);
    await cache.answer(asked("stays", "/stays", "/stays"), make);
    for (let n = 0; n < 100; n += 1) {
      await cache.answer(asked("a", "/a", "/a"), async () => answerOf("x".repeat(500)));
      cache.dropRoutes(["/a"]);
    }
    expect(cache.byAddress("/stays")?.etag).toBe("answer 1");
  });
});

describe("the room for answers", () => {
  it("is bounded, whatever is asked", async () => {
    const { cache } = hearing(2_000);
    const body = "x".repeat(500);
    for (let i = 0; i < 50; i += 1) await cache.answer(asked(`q${i}`, `/q${i}`), async () => answerOf(body));
    const kept = Array.from({ length: 50 }, (_, i) => cache.byAddress(`/q${i}`)).filter(Boolean);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(4);
    await cache.answer(asked("huge", "/huge"), async () => answerOf("x".repeat(5_000)));
    expect(cache.byAddress("/huge")).toBeUndefined();
  });
});
