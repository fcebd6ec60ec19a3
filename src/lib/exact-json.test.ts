// Numbers of a vendor survive as text, whatever stands around them, and become exactly what they name.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDecimal } from "./decimal.ts";
import { parseExactDecimal, parseExactInteger, parseExactJson } from "./json.ts";

describe("exact JSON", () => {
  it("keeps numbers as they were written, and strings as they are", () => {
    const text =
      '{"a": 0.10, "b": [1e-7, -0], "c": "1 \\" 2.5", "d\\\\": null, "5": true, "e": 12345678901234567890}';
    expect(parseExactJson(text)).toEqual({
      a: "0.10",
      b: ["1e-7", "-0"],
      c: '1 " 2.5',
      "d\\": null,
      5: true,
      e: "12345678901234567890",
    });
  });

  it.each(['{"a": 01}', '{"a": 1.}', '{"a": 1 2}', "{1: 2}", '{"a": NaN}', '{"a": 1', "", "<html>"])(
    "rejects %s",
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError);
    },
  );

  it("agrees with the platform's parser about any value", () => {
    const shape = (value: unknown): unknown => {
      if (typeof value === "number") return String(JSON.stringify(value));
      if (Array.isArray(value)) return value.map(shape);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]));
    };
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseExactJson(JSON.stringify(JSON.parse(text)))).toEqual(shape(JSON.parse(text)));
      }),
    );
  });
});

describe("decimalOf", () => {
  it.each([
    ["1.5", "1.5"],
    ["-2", "-2"],
    ["0", "0"],
    ["0e9", "0"],
    ["1e3", "1000"],
    ["1.25E+1", "12.5"],
    ["1.25e1", "12.5"],
    ["123e-5", "0.00123"],
    ["1.234567890123456789e-12", "0.000000000001234567890123456789"],
  ])("reads %s as %s", (text, expected) => {
    const value = parseExactDecimal(text);
    expect(value && formatDecimal(value)).toBe(expected);
  });

  it.each([
    "",
    " 1",
    "1.",
    ".5",
    "+1",
    "NaN",
    "Infinity",
    "0x10",
    "1e9999",
    "1e-511",
    "1e10000",
    "9".repeat(121),
  ])("rejects %j", (text) => {
    expect(parseExactDecimal(text)).toBeNull();
  });

  it.each([1.5, null, undefined, {}, ["1"]])("rejects %j, which is not a text", (value) => {
    expect(parseExactDecimal(value)).toBeNull();
  });

  it("reads any double from its shortest text without loss", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e100, max: 1e100 }), (value) => {
        const read = parseExactDecimal(JSON.stringify(value));
        expect(read && Number(formatDecimal(read))).toBe(value === 0 ? 0 : value);
      }),
    );
  });
});

describe("integerOf", () => {
  it("reads whole numbers that a float keeps, and nothing else", () => {
    expect(["0", "18", "999999999999999"].map(parseExactInteger)).toEqual([0, 18, 999_999_999_999_999]);
    expect(["-1", "1.0", "1e3", "1000000000000000", "", 5, null].map(parseExactInteger)).toEqual(
      Array(7).fill(null),
    );
  });
});
