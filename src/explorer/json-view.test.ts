// Third-party JSON as markup: every token stays, nothing gets through, and long texts are cut.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderHtml } from "../lib/html.ts";
import { jsonView } from "./json-view.ts";

const textOf = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

describe("a document", () => {
  it("shows a line for each member of a document, with tokens as written", () => {
    const { markup, isCut } = jsonView('{"a":[1,2.50,{}],"a":"x: {y}","n":123456789012345678901234567890}');
    expect(textOf(renderHtml(markup))).toBe(
      '{\n  "a": [\n    1,\n    2.50,\n    {}\n  ],\n  "a": "x: {y}",\n  "n": 123456789012345678901234567890\n}',
    );
    expect(isCut).toBe(false);
  });

  it("means the same after it was indented, whatever it is", () => {
    fc.assert(
      fc.property(
        fc.json({ stringUnit: fc.constantFrom("a", '"', "\\", "{", ",", ":", "<", " ") }),
        (text) => {
          const shown = textOf(renderHtml(jsonView(text).markup));
          expect(JSON.parse(shown)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it("shows hidden characters and no markup", () => {
    const shown = renderHtml(jsonView('{"<script>":"\u202e\u200b</pre>"}').markup);
    expect(shown).not.toMatch(/[\u202e\u200b]|<script|<\/pre>"/);
    expect(shown).toContain("\\u{202e}");
  });

  it("cuts a document that is long or never ends", () => {
    const { markup, isCut } = jsonView(`{"a":"${"x".repeat(200_000)}"}`);
    expect(isCut).toBe(true);
    expect(renderHtml(markup).length).toBeLessThan(20_000);
    expect(jsonView("[".repeat(100_000)).isCut).toBe(true);
    expect(renderHtml(jsonView("[".repeat(100_000)).markup).length).toBeLessThan(60_000);
  });

  it("stays small as markup whatever its characters are", () => {
    for (const text of [
      `{"a":"${"\u200b".repeat(11_000)}"}`,
      `{"${"\u200b".repeat(11_000)}":1}`,
      `[${'"\u200b",'.repeat(2_500)}1]`,
      `[${"[],".repeat(3_900)}1]`,
      `["${"<".repeat(11_500)}"]`,
      `[${'"",'.repeat(3_900)}1]`,
    ]) {
      expect(text.length).toBeLessThan(12_000);
      const { markup, isCut } = jsonView(text);
      const rendered = renderHtml(markup);
      expect(rendered.length).toBeLessThan(60_000);
      expect(isCut).toBe(rendered.endsWith("…</pre>"));
      expect(isCut).toBe(!textOf(rendered).endsWith(text.slice(-1)));
    }
    expect(jsonView(`{"a":"${"\u200b".repeat(100)}"}`).isCut).toBe(false);
  });
});
