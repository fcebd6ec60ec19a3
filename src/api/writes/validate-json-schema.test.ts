// Untrusted schemas: real ones pass; broken and hostile ones are rejected quickly, with a clear sentence.
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { assertJsonSchema } from "./validate-json-schema.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

function validate(schema: Record<string, unknown>): string {
  try {
    assertJsonSchema(schema);
  } catch (error) {
    if (error instanceof Fault && error.code === "INPUT_INVALID") return error.message;
    throw error;
  }
  return "accepted";
}

describe("assertJsonSchema", () => {
  it.each<[string, Record<string, unknown>]>([
    ["the empty one", {}],
    ["one that names the dialect", { $schema: DIALECT, $id: "https://example.com/a", type: "object" }],
    ["local references", { $defs: { a: { type: "string" } }, properties: { x: { $ref: "#/$defs/a" } } }],
    ["a reference with escapes", { $defs: { "a/b c": true }, items: { $ref: "#/$defs/a~1b%20c" } }],
    ["anchors", { $defs: { a: { $anchor: "here" } }, not: { $ref: "#here" } }],
    ["a tree", { $dynamicAnchor: "node", properties: { child: { $dynamicRef: "#node" } } }],
    ["recursion", { items: { $ref: "#" } }],
    ["properties named like keywords", { properties: { $ref: true, $id: false, pattern: {}, type: {} } }],
    [
      "data that looks like a schema",
      { const: { $ref: "https://example.com", pattern: "(" }, default: { $id: 1 } },
    ],
    ["unknown keywords", { "x-note": { $ref: 5 } }],
    ["patterns", { pattern: "^0x[0-9a-f]{40}$", patternProperties: { "^\\p{L}+$": {} } }],
  ])("accepts %s", (_name, schema) => {
    expect(validate(schema)).toBe("accepted");
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ["a wrong keyword value", { type: "objekt" }, /type/],
    ["a wrong keyword value below", { properties: { a: { minimum: "1" } } }, /at \/properties\/a\/minimum/],
    ["required that is not a list", { required: "name" }, /required/],
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, /\$schema must be/],
    ["a remote reference", { $ref: "https://example.com/schema.json" }, /must point to a subschema/],
    ["a file", { allOf: [{ $ref: "file:///etc/passwd" }] }, /at \/allOf\/0/],
    ["a reference to nothing", { $ref: "#/$defs/missing" }, /must point/],
    [
      "a reference to a value that is not a schema",
      { properties: {}, not: { $ref: "#/properties" } },
      /must point/,
    ],
    ["a reference with broken escapes", { $ref: "#/%zz" }, /must point/],
    ["a base below the root", { $defs: { a: { $id: "b" } } }, /only the root schema/],
    ["a broken pattern", { pattern: "(" }, /regular expression/],
    ["a broken pattern as a key", { patternProperties: { "[": {} } }, /regular expression/],
    ["an overlong pattern", { pattern: "a".repeat(513) }, /at most 512/],
    ["a pattern nested beyond any parser", { pattern: `${"(".repeat(256)}${")".repeat(255)}` }, /regular/],
    ["too many subschemas", { allOf: Array.from({ length: 1_001 }, () => ({})) }, /at most 1000 subschemas/],
    ["a long name", { properties: { ["k".repeat(3_000)]: {} } }, /path to a subschema .* at most 2048/],
    ["too many types", { type: Array.from({ length: 8 }, (_, i) => `t${i}`) }, /too many types/],
  ])("rejects %s", (_name, schema, message) => {
    expect(validate(schema)).toMatch(/^json_schema /);
    expect(validate(schema)).toMatch(message);
  });

  it("parses a catastrophic pattern without running it", () => {
    const started = performance.now();
    expect(validate({ pattern: "^(a+)+$", const: `${"a".repeat(60)}!` })).toBe("accepted");
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it("does not pollute prototypes", () => {
    const hostile = JSON.parse(
      '{"properties": {"__proto__": {"type": "string"}, "constructor": {"minimum": 1}}}',
    );
    expect(validate(hostile)).toBe("accepted");
    expect(({} as Record<string, unknown>).type).toBeUndefined();
  });
});
