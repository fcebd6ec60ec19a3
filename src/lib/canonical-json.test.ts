// Canonical JSON of schemas, compared with the examples of RFC 8785 and with properties that hold for any JSON.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toCanonicalJson } from "./canonical-json.ts";

describe("toCanonicalJson", () => {
  it("matches RFC 8785, section 3.2.2", () => {
    const input =
      '{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001], "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/", "literals": [null, true, false]}';
    expect(toCanonicalJson(JSON.parse(input))).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it("orders keys by UTF-16 code units, as in section 3.2.3", () => {
    const keys = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6"];
    const ordered = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\ud83d\ude00", "\ufb33"];
    const text = toCanonicalJson(Object.fromEntries(keys.map((key) => [key, 0])));
    expect(text).toBe(`{${ordered.map((key) => `${JSON.stringify(key)}:0`).join(",")}}`);
  });

  it("preserves the value and is idempotent", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const canonical = toCanonicalJson(JSON.parse(text));
        expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
        expect(toCanonicalJson(JSON.parse(canonical))).toBe(canonical);
      }),
    );
  });

  it("does not depend on key order or spacing", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (object, rotation) => {
        const entries = Object.entries(object);
        const at = rotation % (entries.length + 1);
        const rotated = Object.fromEntries([...entries.slice(at), ...entries.slice(0, at)].reverse());
        const rewritten = JSON.parse(JSON.stringify(rotated, null, 2));
        expect(toCanonicalJson(rewritten)).toBe(toCanonicalJson(JSON.parse(JSON.stringify(object))));
      }),
    );
  });

  it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY])("rejects %s, which is not JSON", (value) => {
    expect(() => toCanonicalJson({ value })).toThrow(TypeError);
  });
});
