// JSON is indented as JavaScript would, and not a character of a value changes.
import fc from "fast-check";
import { describe, expect, it } from "vitest";

type Part = { readonly text: string; readonly isKey: boolean };
// Imported by URL: the compiler of the tests does not include the modules of the page.
const { indentJson } = (await import(new URL("./json-text.ts", import.meta.url).href)) as {
  indentJson(text: string): readonly Part[];
};
const indented = (text: string) =>
  indentJson(text)
    .map((part) => part.text)
    .join("");

describe("indenting", () => {
  it("does what JSON.stringify does", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indented(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it("keeps numbers as they are", () => {
    expect(indented('{"n":12345678901234567890.10,"e":1E400}')).toBe(
      '{\n  "n": 12345678901234567890.10,\n  "e": 1E400\n}',
    );
  });

  it("marks keys and leaves other text alone", () => {
    const keys = indentJson('{"a":["a"],"b\\"":{}}').filter(({ isKey }) => isKey);
    expect(keys.map(({ text }) => text)).toEqual(['"a"', '"b\\""']);
    expect(indentJson("not: json")).toEqual([{ text: "not: json", isKey: false }]);
  });
});
