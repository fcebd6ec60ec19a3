// Strict JSON: everything unambiguous is read as JSON.parse reads it, everything else is refused in a sentence.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JSON_DEPTH_MAX, parseStrictJson } from "./strict-json.ts";

const read = (text: string) => parseStrictJson(Buffer.from(text), "The body");

describe("strict JSON", () => {
  it("reads whatever JSON.stringify writes, with any spacing", () => {
    const value = fc.jsonValue({ maxDepth: 5, noUnicodeString: false });
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2, "\t"), (sent, spacing) => {
        const text = JSON.stringify(sent, null, spacing);
        fc.pre(!text.includes("\\u0000") && !text.includes("__proto__") && !/\\ud[89a-f]/i.test(text));
        fc.pre(!(text.match(/-?[0-9]+/g) ?? []).some((digits) => !Number.isSafeInteger(Number(digits))));
        expect(read(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it("never throws anything but its own sentence", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          parseStrictJson(bytes, "The body");
        } catch (error) {
          expect(error).toMatchObject({
            code: "INPUT_INVALID",
            message: expect.stringMatching(/^The body /),
          });
        }
      }),
    );
  });

  it.each([
    ["nothing", "", /not valid JSON/],
    ["half a value", '{"a":', /not valid JSON/],
    ["two values", "{} {}", /not valid JSON/],
    ["a byte order mark", "\ufeff{}", /not valid JSON/],
    ["a key given twice", '{"a":1,"b":{"a":1},"a":2}', /a key given twice/],
    ["a key given twice in two spellings", '{"a":1,"\\u0061":2}', /a key given twice/],
    ["the prototype", '{"__proto__":{"admin":true}}', /__proto__/],
    ["NUL", '["a\\u0000b"]', /NUL/],
    ["NUL in a key", '{"\\u0000":1}', /NUL/],
    ["half a pair", '["\\ud800"]', /surrogate/],
    ["halves in the wrong order", '["\\ude00\\ud83d"]', /surrogate/],
    ["an integer above 2^53", "[9007199254740993]", /exactly/],
    ["an integer below -2^53", "[-9007199254740993]", /exactly/],
    ["a number beyond floats", "[1e400]", /exactly/],
    ["too deep a nesting", "[".repeat(JSON_DEPTH_MAX + 1) + "]".repeat(JSON_DEPTH_MAX + 1), /deeper than 32/],
    ["a very deep nesting", "[".repeat(100_000) + "]".repeat(100_000), /deeper than 32/],
  ])("refuses %s", (_name, text, sentence) => {
    expect(() => read(text)).toThrow(sentence);
  });

  it("refuses what is not UTF-8", () => {
    expect(() => parseStrictJson(Buffer.from([0x22, 0xc3, 0x28, 0x22]), "The body")).toThrow(
      /not valid UTF-8/,
    );
  });

  it.each([
    ["the deepest nesting", "[".repeat(JSON_DEPTH_MAX) + "]".repeat(JSON_DEPTH_MAX)],
    ["a pair in escapes", '["\\ud83d\\ude00"]'],
    ["the same key in different objects", '[{"a":1},{"a":{"a":2}}]'],
    ["strings that look like structure", '{"a":"{\\"a\\":1,\\"a\\":2}","b":["[",":","\\\\"]}'],
    ["a key that looks like structure", '{"a:b":1,"a":{"}":2}}'],
    ["the largest exact integer", "[9007199254740991,-9007199254740991,-0,1.5e10]"],
  ])("takes %s", (_name, text) => {
    expect(read(text)).toEqual(JSON.parse(text));
  });

  it("reads a hostile body of the largest size in milliseconds", () => {
    const hostile = [
      `[${'"\\\\",'.repeat(40_000)}1]`,
      `{"a":"${"\\".repeat(130_000)}"}`,
      `"${" ".repeat(262_000)}"`,
    ];
    const start = performance.now();
    for (const text of hostile) expect(read(text)).toBeDefined();
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
