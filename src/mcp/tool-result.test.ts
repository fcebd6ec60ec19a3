// Results stay below their limit: pages continue by cursor, lists and long texts are cut, documents are split.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../tests/support/any-character.ts";
import {
  buildErrorResult,
  buildResult,
  countFitting,
  cutText,
  noteResult,
  type ServiceResponse,
  shortenToFit,
} from "./tool-result.ts";

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const page = (records: readonly unknown[], cursor = "abc") => ({
  records,
  pagination: { limit: 50, offset: 0, count: records.length, next_cursor: cursor },
});

describe("a page", () => {
  it("asks for a page again with as many records as fit, wherever its cursor is", () => {
    const records = fc.array(fc.string({ maxLength: 300, unit: anyCharacter }), { minLength: 1 });
    const longCursor = "x".repeat(60);
    fc.assert(
      fc.property(records, (all) => {
        const fitting = countFitting(page(all), 1_000);
        if (fitting === null) {
          expect(bytesOf(shortenToFit(page(all), 1_000, false))).toBeLessThanOrEqual(1_000);
          return;
        }
        expect(fitting).toBeLessThan(Math.max(2, all.length));
        if (fitting === 1) return;
        const shorter = page(all.slice(0, fitting), longCursor);
        expect(countFitting(shorter, 1_000)).toBeNull();
        expect(shortenToFit(shorter, 1_000, true)).toEqual({
          data: shorter,
          truncated: true,
          cursor: longCursor,
        });
      }),
    );
  });

  it("has the cursor of its route", () => {
    expect(shortenToFit(page([1]), 1_000, true)).toEqual({ data: page([1]), truncated: true, cursor: "abc" });
    const last = { records: [], pagination: { limit: 50, offset: 0, count: 0 } };
    expect(shortenToFit(last, 1_000, false)).toEqual({ data: last, truncated: false, cursor: null });
  });

  it("cuts inside a page's only record, and never loses one of several", () => {
    const large = { id: "1", notes: "x".repeat(5_000) };
    const cut = shortenToFit(page([large]), 3_000, true);
    expect(cut).toMatchObject({ truncated: true, cursor: "abc", data: { records: [{ id: "1" }] } });
    expect(bytesOf(cut)).toBeLessThanOrEqual(3_000);
    expect(shortenToFit(page([large, large]), 3_000, true)).toBeNull();
  });
});

describe("another response", () => {
  it("cuts the longest lists of a response, from the end, until it fits", () => {
    const body = { total: "1", tokens: Array.from({ length: 500 }, (_, i) => i), warnings: ["a", "b"] };
    const shortened = shortenToFit(body, 400, false);
    expect([bytesOf(shortened) <= 400, shortened?.truncated]).toEqual([true, true]);
    const { tokens } = (shortened ?? { data: body }).data as typeof body;
    expect(shortened?.data).toEqual({ ...body, tokens: body.tokens.slice(0, tokens.length) });
    expect(tokens.length).toBeGreaterThan(50);
    expect(shortenToFit(body, 10_000, false)).toEqual({ data: body, truncated: false, cursor: null });
  });

  it("cuts lists at any depth, and keeps what is around them", () => {
    const tokens = Array.from({ length: 900 }, (_, i) => ({ symbol: `T${i}`, amount: "1" }));
    const body = {
      chains: [
        { name: "base", tokens },
        { name: "ethereum", tokens },
      ],
      total: "2",
    };
    const shortened = shortenToFit(body, 4_000, false);
    expect(shortened).toMatchObject({
      truncated: true,
      data: { chains: [{ name: "base" }, { name: "ethereum" }], total: "2" },
    });
    expect(bytesOf(shortened)).toBeLessThanOrEqual(4_000);
    expect(bytesOf(shortened)).toBeGreaterThan(3_000);
  });

  it("cuts long texts, visibly, before lists", () => {
    const body = { summary: "word ".repeat(40_000), data: `0x${"ab".repeat(9_000)}`, events: [1, 2, 3] };
    const shortened = shortenToFit(body, 16_384, false);
    expect(bytesOf(shortened)).toBeLessThanOrEqual(16_384);
    const { summary, data, events } = (shortened ?? { data: body }).data as typeof body;
    expect([summary.at(-1), data.at(-1), events]).toEqual(["…", "…", [1, 2, 3]]);
  });

  it("keeps any response below the limit, or returns none", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 100, max: 500 }), (body, limit) => {
        const shortened = shortenToFit(body, limit, false);
        if (shortened !== null) expect(bytesOf(shortened)).toBeLessThanOrEqual(limit);
        if (bytesOf({ data: body, truncated: false, cursor: null }) <= limit) {
          expect(shortened?.data).toEqual(body);
        }
      }),
    );
    const keys = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key${i}`, i]));
    expect(shortenToFit(keys, 1_000, false)).toBeNull();
  });
});

describe("a document", () => {
  it.each([
    ["Chinese", "中".repeat(30_000)],
    ["control characters", "\u0001".repeat(30_000)],
    ["emoji", "🦊".repeat(20_000)],
    ["plain", "x".repeat(30_000)],
  ])("reads a document of %s in parts that are full and below the limit", (_, text) => {
    let read = "";
    let cursor: string | null = null;
    do {
      const part = cutText(text, cursor, 16_384);
      expect(bytesOf(part)).toBeLessThanOrEqual(16_384);
      if (part.truncated) expect(bytesOf(part)).toBeGreaterThan(16_000);
      // No half of a character, which would become another one on its way.
      expect(Buffer.from(part.data as string).toString()).toBe(part.data);
      read += part.data as string;
      cursor = part.cursor;
    } while (cursor !== null);
    expect(read).toBe(text);
  });

  it("reads a document completely in parts of any size", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.integer({ min: 1, max: 80 }), (text, size) => {
        let read = "";
        let cursor: string | null = null;
        do {
          const part = cutText(text, cursor, size);
          read += part.data as string;
          cursor = part.cursor;
        } while (cursor !== null);
        expect(read).toBe(text);
      }),
    );
  });

  it("reads nothing beyond the end of a document", () => {
    expect(cutText("text", "99", 1_000)).toEqual({ data: "", truncated: false, cursor: null });
  });
});

describe("an error", () => {
  const response = { status: 500, headers: {}, body: "<html>" };

  it("reports a failed request without a sentence of the service", () => {
    expect(buildErrorResult(response, "tool-result")).toMatchObject({
      isError: true,
      content: [{ text: "The request failed." }],
    });
    expect(buildErrorResult({ ...response, status: 200 }, "tool-result")).toBeNull();
  });

  it("shortens an error, whatever a proxy in between says", () => {
    const body = JSON.stringify({ error: "no ".repeat(20_000) });
    expect(bytesOf(buildErrorResult({ ...response, body }, "tool-result"))).toBeLessThan(4_000);
  });

  it("says in an error what was charged if the server pays", () => {
    const payment = { charged: "unknown", advice: "Call again." } as const;
    expect(
      buildErrorResult({ ...response, body: '{"error":"Lost."}', payment }, "tool-result"),
    ).toMatchObject({
      content: [{ text: "Lost. Call again." }],
      structuredContent: { error: "Lost.", charged: "unknown" },
    });
  });
});

describe("terms of a payment", () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
  const terms = { x402Version: 2, accepts: [] };
  const headers = { "payment-required": encode(terms) };

  it("returns terms as an error, or as their own result to clients that understand it", () => {
    const response = { status: 402, headers, body: "{}" };
    expect(buildErrorResult(response, "tool-result")).toEqual({
      isError: true,
      structuredContent: terms,
      content: [{ type: "text", text: JSON.stringify(terms) }],
    });
    expect(buildErrorResult(response, "extension")).toEqual({
      resultType: "payment_required",
      paymentRequired: terms,
      content: [],
    });
  });

  it("returns the outcome of a settlement with terms, as with a result", () => {
    const settled = { success: false, errorReason: "insufficient_funds" };
    const response = {
      status: 402,
      headers: { ...headers, "payment-response": encode(settled) },
      body: "{}",
    };
    const meta = { _meta: { "x402/payment-response": settled } };
    expect(buildErrorResult(response, "extension")).toMatchObject(meta);
    expect(buildResult({ data: 1, truncated: false, cursor: null }, response, {})).toMatchObject(meta);
  });
});

describe("the time of a read", () => {
  const read = (headers: ServiceResponse["headers"], block?: string) => {
    const parameters = block === undefined ? {} : { block };
    return noteResult({ status: 200, headers, body: "" }, {}, { parameters, foreignText: [] });
  };
  const head = { "x-indexed-block": "9", "x-indexed-time": "2026-11-18T12:00:00Z" };

  it("stands next to the newest block, and next to the block of a time that was asked for", () => {
    expect(read(head)).toEqual({ block: "9", time: "2026-11-18T12:00:00Z" });
    const found = { ...head, "x-block-number": "4", "x-block-time": "2026-11-11T12:00:00Z" };
    expect(read(found)).toEqual({ block: "4", time: "2026-11-11T12:00:00Z" });
  });

  it("is not that of the newest block if an earlier one was read", () => {
    expect(read(head, "4")).toEqual({ block: "4" });
  });
});

describe("the blocks of a wallet's chains", () => {
  const response = { status: 200, headers: {}, body: "" };
  const [base, ethereum] = [
    { chain: "base", number: 5, hash: "0x1" },
    { chain: "ethereum", number: 7 },
  ];
  it.each([
    ["a snapshot", { chains: ["base", "ethereum"], blocks: [base, ethereum] }],
    [
      "the later side of a difference",
      { from: { blocks: [{ chain: "base", number: 1 }] }, to: { blocks: [base, ethereum] } },
    ],
    [
      "an exposure",
      {
        summary: {
          chains: [
            { chain: "base", blockNumber: 5 },
            { chain: "ethereum", blockNumber: 7 },
            { chain: "bnb", blockNumber: null },
          ],
        },
      },
    ],
    [
      "an overview",
      {
        chains: [
          { chain: "base", blockNumber: 5 },
          { chain: "ethereum", blockNumber: 7 },
        ],
      },
    ],
  ])("puts the blocks next to the data of %s, as the argument block takes them", (_what, body) => {
    expect(noteResult(response, body, { parameters: {}, foreignText: [] })).toEqual({
      block: "base:5,ethereum:7",
    });
  });

  it("shows no blocks if a response does not have them", () => {
    for (const body of [null, {}, { chains: ["base"] }, { blocks: [] }, { chains: [{ chain: "base" }] }]) {
      expect(noteResult(response, body, { parameters: {}, foreignText: [] })).toEqual({});
    }
  });
});
