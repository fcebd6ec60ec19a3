// The text of a document: any JSON, stored byte for byte and identified by the hash of those bytes.
import fc from "fast-check";
import { keccak256, stringToBytes } from "viem";
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { DOCUMENT_BYTES_MAX, DOCUMENT_DEPTH_MAX, parseDocumentText } from "./kinds.ts";

const code = (text: unknown): string => {
  try {
    parseDocumentText(text, "catalog_json");
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
  return "accepted";
};

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("the text of a document", () => {
  it("keeps spacing, key order, digits and escapes", () => {
    const odd =
      ' { "b" : 115792089237316195423570985008687907853269984665640564039457584007913129639935,\n"a":1.0, "a":"\\u0041" } ';
    const read = parseDocumentText(odd, "catalog_json");
    expect(read.text).toBe(odd);
    expect(read.hash).toBe(keccak256(stringToBytes(odd)));
    expect(read.hash).not.toBe(keccak256(stringToBytes(JSON.stringify(JSON.parse(odd)))));
  });

  it("hashes and measures a document's text as UTF-8", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "grapheme" }), (json) => {
        const { text, hash, size } = parseDocumentText(json, "catalog_json");
        const bytes = new TextEncoder().encode(json);
        expect([text, hash, size]).toEqual([json, keccak256(bytes), bytes.length]);
      }),
    );
  });

  it.each(["null", "0", '""', "[]", nested(DOCUMENT_DEPTH_MAX), `[${"[],".repeat(40_000)}[]]`])(
    "accepts any JSON value as a document (%#)",
    (text) => {
      expect(code(text)).toBe("accepted");
    },
  );

  it.each([DOCUMENT_DEPTH_MAX + 1, 60_000])("rejects a document with %d nested levels", (depth) => {
    expect(code(nested(depth))).toBe("INPUT_INVALID");
    expect(() => parseDocumentText(nested(depth), "catalog_json")).toThrow(
      "catalog_json is nested deeper than 64 levels.",
    );
    expect(code(`{"a":${nested(depth - 1)}}`)).toBe("INPUT_INVALID");
    // Brackets inside strings are text.
    expect(code(JSON.stringify(nested(depth)))).toBe("accepted");
  });

  it.each([
    "",
    "{",
    "{'a': 1}",
    "[1,]",
    "NaN",
    '\ufeff{"a":1}',
    '"\u0000"',
    '"\ud800"',
    '"\t"',
    undefined,
    { a: 1 },
  ])("rejects a document that is not JSON (%#)", (text) => {
    expect(code(text)).toBe("INPUT_INVALID");
  });

  it("rejects a document above 128 KiB, counted in bytes", () => {
    const filled = (unit: string, bytes: number) => `"${unit.repeat((bytes - 2) / Buffer.byteLength(unit))}"`;
    expect(code(filled("a", DOCUMENT_BYTES_MAX))).toBe("accepted");
    expect(code(filled("a", DOCUMENT_BYTES_MAX + 1))).toBe("BODY_TOO_LARGE");
    expect(code(filled("é", DOCUMENT_BYTES_MAX))).toBe("accepted");
    expect(code(filled("é", DOCUMENT_BYTES_MAX + 2))).toBe("BODY_TOO_LARGE");
  });
});
