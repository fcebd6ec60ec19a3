// Results stay below their limit: pages continue by cursor, lists are cut, texts are split at any place.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildErrorResult, countFitting, cutText, shorten } from "./tool-result.ts";

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const page = (records: readonly unknown[]) => ({
  records,
  pagination: { limit: 50, offset: 0, count: records.length, next_cursor: "abc" },
});

describe("a page", () => {
  it("is asked for again with as many records as fit", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 300 }), { minLength: 1 }), (records) => {
        const fitting = countFitting(page(records), 1_000);
        if (fitting === null) {
          expect(bytesOf(page(records))).toBeLessThanOrEqual(1_000);
          return;
        }
        expect(fitting).toBeLessThan(Math.max(2, records.length));
        if (fitting > 1) expect(bytesOf(page(records.slice(0, fitting)))).toBeLessThanOrEqual(1_000);
      }),
    );
  });

  it("has the cursor of its route", () => {
    expect(shorten(page([1]), 1_000, true)).toEqual({ data: page([1]), truncated: true, cursor: "abc" });
    const last = { records: [], pagination: { limit: 50, offset: 0, count: 0 } };
    expect(shorten(last, 1_000, false)).toEqual({ data: last, truncated: false, cursor: null });
  });
});

describe("another response", () => {
  it("has its longest lists cut, from the end, until it fits", () => {
    const body = { total: "1", tokens: Array.from({ length: 500 }, (_, i) => i), warnings: ["a", "b"] };
    const { data, truncated } = shorten(body, 400, false);
    expect([bytesOf(data) <= 400, truncated]).toEqual([true, true]);
    const { tokens } = data as typeof body;
    expect(data).toEqual({ ...body, tokens: body.tokens.slice(0, tokens.length) });
    expect(tokens.length).toBeGreaterThan(10);
    expect(shorten(body, 10_000, false)).toEqual({ data: body, truncated: false, cursor: null });
  });
});

describe("a text", () => {
  it("is read completely in parts of any size", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 20 }), (text, size) => {
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
});

describe("an error", () => {
  it("has the sentence of the service, or says so without one", () => {
    const response = { status: 500, headers: {}, body: "<html>" };
    expect(buildErrorResult(response)).toMatchObject({
      isError: true,
      content: [{ text: "The request failed." }],
    });
    expect(buildErrorResult({ ...response, status: 200 })).toBeNull();
  });
});
