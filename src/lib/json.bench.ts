// How long strict JSON takes for bodies of the largest size, compared with JSON.parse: `npx vitest bench --run src/lib`.
import { bench, describe } from "vitest";
import { parseStrictJson } from "./json.ts";

const BYTES = 262_144;

function filled(head: string, unit: (index: number) => string, tail: string): string {
  let text = head;
  for (let index = 0; ; index += 1) {
    const next = unit(index);
    if (text.length + next.length + tail.length > BYTES) return text + tail;
    text += next;
  }
}

const BODIES: Readonly<Record<string, string>> = {
  "tiny numbers": filled("[1", () => ",1", "]"),
  "empty objects": filled("[{}", () => ",{}", "]"),
  "deep nesting": "[".repeat(BYTES / 2) + "]".repeat(BYTES / 2),
  "distinct keys": filled('{"x":1', (index) => `,"k${index}":1`, "}"),
  "colliding keys": filled('{"x":1', (index) => `,"${1_000_000_000 + index * 65_536}":1`, "}"),
  "a repeated key": filled('{"a":1', () => ',"a":1', "}"),
  "one long string": `"${"x".repeat(BYTES - 2)}"`,
  "one string of escapes": `"${"\\u0041".repeat(Math.floor((BYTES - 2) / 6))}"`,
};

for (const [name, text] of Object.entries(BODIES)) {
  const bytes = Buffer.from(text);
  describe(name, () => {
    bench("parseStrictJson", () => {
      try {
        parseStrictJson(bytes, "The body");
      } catch {
        // Most of them are rejected; the time until then is what is measured.
      }
    });
    bench("JSON.parse", () => {
      JSON.parse(text);
    });
  });
}
