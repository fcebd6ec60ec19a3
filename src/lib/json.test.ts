// Strict JSON: everything unambiguous is read as JSON.parse reads it, everything else is rejected in a sentence.
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import { JSON_DEPTH_MAX, JSON_KEYS_MAX, JSON_TOKENS_MAX, parseStrictJson } from "./json.ts";

const read = (text: string) => parseStrictJson(Buffer.from(text), "The body");

/** Whether a text is taken, by a second and slow way: a parser that keeps every key, and every rule on its own. */
function isTaken(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g)) {
    if (token === "{" || token === "[") open.push(token === "{" ? new Set() : null);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":" && (last === "__proto__" || open.at(-1)?.has(last))) return false;
    else if (token === ":") open.at(-1)?.add(last);
    else if (token.startsWith('"')) {
      last = JSON.parse(token) as string;
      if (last.includes("\0") || /\p{Surrogate}/u.test(last)) return false;
    } else if (/^-?[0-9]+$/.test(token) && !Number.isSafeInteger(Number(token))) return false;
    else if (Math.abs(Number(token)) === Number.POSITIVE_INFINITY) return false;
    if (open.length > JSON_DEPTH_MAX) return false;
  }
  return true;
}

const COMPARED = runsOf(5_000, { min: 1_000 });

const piece = fc.constantFrom(
  ...["{", "}", "[", "]", ":", ",", '"', "\\", " ", "\n", "\t", "\u00a0", "\u0001", "é", "😀"],
  ...['"a"', '"b"', '"\\u0061"', '"__proto__"', '"\\u005f_proto__"', '"\\\\"', '"\\""', '"\\x"', '"\\u12"'],
  ...['"\\u0000"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\ud83d\\u0041"', '"\\uD83D😀"'],
  ...["1", "-0", "1.5", "9007199254740991", "9007199254740992", "-9007199254740993", "00", "1e400", "1e-400"],
  ...["true", "null", "nul", "Infinity", "NaN", "-", '{"a":', '"a":1', '{"a":1}', "[1,2]", '{"a":1,"a":2}'],
);

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
      { numRuns: runsOf(500) },
    );
  });

  it("takes exactly what the rules allow, one by one", () => {
    let taken = 0;
    let rejected = 0;
    const agrees = (text: string) => {
      let value: { readonly parsed: unknown } | null = null;
      try {
        value = { parsed: read(text) };
      } catch {
        // Compared below.
      }
      expect([text, value !== null]).toEqual([text, isTaken(text)]);
      if (value !== null) expect(value.parsed).toEqual(JSON.parse(text));
      if (value === null) rejected += 1;
      else taken += 1;
    };
    const pieces = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(""));
    const listed = fc.array(piece, { maxLength: 4 }).map((parts) => `[${parts.join(",")}]`);
    const keyed = fc.array(fc.tuple(piece, piece), { maxLength: 4 });
    const object = keyed.map((pairs) => `{${pairs.map(([key, value]) => `${key}:${value}`).join(",")}}`);
    const whole = fc.json({ maxDepth: 3, stringUnit: "binary" });
    fc.assert(fc.property(fc.oneof(pieces, listed, object, whole), agrees), { numRuns: COMPARED });
    // Both ways were gone often enough for the comparison to mean something.
    expect(Math.min(taken, rejected)).toBeGreaterThan(COMPARED / 20);
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
    ["too many values", `[${"1,".repeat(JSON_TOKENS_MAX - 1)}1]`, /more than 10000 values and keys/],
    [
      "too many keys",
      `{${Array.from({ length: JSON_KEYS_MAX + 1 }, (_, key) => `"${key}":0`).join(",")}}`,
      /an object with more than 1000 keys/,
    ],
    ["too many values in a text that is not JSON either", "[1".repeat(100_000), /deeper than 32/],
  ])("rejects %s", (_name, text, sentence) => {
    expect(() => read(text)).toThrow(sentence);
  });

  it("rejects bytes that are not UTF-8", () => {
    expect(() => parseStrictJson(Buffer.from([0x22, 0xc3, 0x28, 0x22]), "The body")).toThrow(
      /not valid UTF-8/,
    );
  });

  it.each([
    ["the deepest nesting", "[".repeat(JSON_DEPTH_MAX) + "]".repeat(JSON_DEPTH_MAX)],
    ["as many values as allowed", `[${"1,".repeat(JSON_TOKENS_MAX - 2)}1]`],
    [
      "as many keys as allowed",
      `{${Array.from({ length: JSON_KEYS_MAX }, (_, key) => `"${key}":0`).join(",")}}`,
    ],
    ["a pair in escapes", '["\\ud83d\\ude00"]'],
    ["the same key in different objects", '[{"a":1},{"a":{"a":2}}]'],
    ["strings that look like structure", '{"a":"{\\"a\\":1,\\"a\\":2}","b":["[",":","\\\\"]}'],
    ["a key that looks like structure", '{"a:b":1,"a":{"}":2}}'],
    ["the largest exact integer", "[9007199254740991,-9007199254740991,-0,1.5e10]"],
  ])("takes %s", (_name, text) => {
    expect(read(text)).toEqual(JSON.parse(text));
  });

  // Each took 24 to 126 ms when every token was a match of a pattern; now none is read beyond the limit.
  it.each([
    ["numbers", "[1", ",1", "]"],
    ["empty strings", '[""', ',""', "]"],
    ["empty objects", "[{}", ",{}", "]"],
    ["escapes", '["\\\\"', ',"\\\\"', "]"],
    ["flat lists", "[[]", ",[[[[[[[[]]]]]]]]", "]"],
  ])("builds nothing of a body of the largest size full of %s", (_name, head, unit, tail) => {
    const count = Math.floor((262_144 - head.length - tail.length) / unit.length);
    const hostile = `${head}${unit.repeat(count)}${tail}`;
    expect(JSON.parse(hostile)).toBeDefined();
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    expect(() => read(hostile)).toThrow(/more than 10000 values and keys/);
    expect(parse).not.toHaveBeenCalled();
  });

  it("reads a long string of a body of the largest size", () => {
    const long = [
      `{"a":"${"\\".repeat(260_000)}"}`,
      `"${" ".repeat(262_000)}"`,
      `"${"\\u0041".repeat(43_000)}"`,
    ];
    for (const text of long) expect(read(text)).toEqual(JSON.parse(text));
  });
});
