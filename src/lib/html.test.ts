// The template: every value is escaped, unless it is markup made the same way.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type HtmlValue,
  html,
  htmlElement,
  inlineJson,
  inlineModule,
  inlineStyle,
  renderHtml,
} from "./html.ts";

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

  it("rejects an attribute without quotes, because a blank would begin another one", () => {
    expect(() => html`<p title=${"x onclick=alert(1)"}>`).toThrow("needs quotes");
  });

  it("takes whole attributes inside a tag, but no text, which could be any attribute", () => {
    const hidden = html` hidden`;
    expect(renderHtml(html`<p class="a"${[hidden, false]} id='${"b"}'>a > b</p>`)).toBe(
      "<p class=\"a\" hidden id='b'>a > b</p>",
    );
    expect(() => html`<p ${"onclick=alert(1)"}>`).toThrow("whole attributes");
    expect(() => html`<p title="${"a"}" ${[hidden, "onclick=alert(1)"]}>`).toThrow("whole attributes");
  });

  it("rejects values as names of elements, and inside scripts and styles, which have other escapes", () => {
    expect(() => html`<${"script"}>`).toThrow("names its elements");
    expect(() => html`</${"p"}>`).toThrow("names its elements");
    expect(() => html`<script>alert(${"1"})</script>`).toThrow("take no values");
    expect(() => html`<style media="${"print"}">${"p {}"}</style>`).toThrow("take no values");
  });

  it("rejects objects that only look like markup", () => {
    const forged = { text: "<script>", toString: () => "<script>" };
    expect(() => text(forged as unknown as HtmlValue)).toThrow("text, numbers and markup only");
  });
});

it("an element has the given name and attributes, whose values are escaped", () => {
  const built = htmlElement("a", { href: '/x"y', "data-id": "<" }, ["a & b", html`<b>c</b>`]);
  expect(renderHtml(built)).toBe('<a href="/x&quot;y" data-id="&lt;">a &amp; b<b>c</b></a>');
  expect(renderHtml(htmlElement("svg", { viewBox: "0 0 1 1" }, null))).toBe('<svg viewBox="0 0 1 1"></svg>');
});

it.each(["script", "style", "p onclick", "P", ""])("rejects %j as the name of an element", (tag) => {
  expect(() => htmlElement(tag, {}, null)).toThrow("Not a name");
});

it.each(["onclick", "a=b", "a b"])("rejects %j as the name of an attribute", (name) => {
  expect(() => htmlElement("p", { [name]: "" }, null)).toThrow("Not a name");
});

describe("text of our build in a page", () => {
  it("becomes the whole content of its element", () => {
    expect(renderHtml(inlineStyle("a > b {}"))).toBe("<style>a > b {}</style>");
    expect(renderHtml(inlineModule('if (a < b) c("&")'))).toBe(
      '<script type="module">if (a < b) c("&")</script>',
    );
  });

  it.each(["</style", "</STYLE >", "</script>", "</Script", "<!--"])("is rejected if it has %j", (ending) => {
    expect(() => inlineStyle(`a ${ending} b`)).toThrow("would end its <style>");
    expect(() => inlineModule(`a ${ending} b`)).toThrow("would end its <script>");
  });

  it("is JSON that cannot end its data block", () => {
    const value = { name: "</script><script>alert(1)</script><!--" };
    const [, json = ""] = /^<script type="application\/json" id="a&quot;">(.*)<\/script>$/.exec(
      renderHtml(inlineJson('a"', value)),
    ) as RegExpExecArray;
    expect(json).not.toContain("<");
    expect(JSON.parse(json)).toEqual(value);
  });
});
