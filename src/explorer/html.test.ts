// The template: every value is escaped, unless it is markup made the same way.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type HtmlValue, html, renderHtml } from "./html.ts";

const text = (value: HtmlValue) => renderHtml(html`${value}`);

describe("a template", () => {
  it("escapes text in content and in attributes", () => {
    const hostile = `"><script>alert('x')</script>&amp;`;
    const escaped = "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;";
    expect(renderHtml(html`<p title="${hostile}">${hostile}</p>`)).toBe(
      `<p title="${escaped}">${escaped}</p>`,
    );
  });

  it("passes markup through, also in lists, and leaves nothing out but absent values", () => {
    const items = ["<a>", 2n ** 70n, 0].map((each) => html`<li>${each}</li>`);
    expect(text([items, null, undefined, false, ""])).toBe(
      "<li>&lt;a&gt;</li><li>1180591620717411303424</li><li>0</li>",
    );
  });

  it("lets no text become a tag or leave an attribute", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."<>\"'&;=/ax \n") }), (value) => {
        expect(text(value)).not.toMatch(/[<>"']/);
      }),
    );
  });

  it("shows controls of direction by their number, also in attributes", () => {
    expect(renderHtml(html`<p title="${"a\u202eb"}">${"\u2067"}</p>`)).toBe(
      '<p title="a\\u{202e}b">\\u{2067}</p>',
    );
  });

  it("rejects an attribute without quotes, where a blank would begin another one", () => {
    expect(() => html`<p title=${"x onclick=alert(1)"}>`).toThrow("needs quotes");
  });

  it("rejects objects that only look like markup", () => {
    const forged = { text: "<script>", toString: () => "<script>" };
    expect(() => text(forged as unknown as HtmlValue)).toThrow("text, numbers and markup only");
  });
});
