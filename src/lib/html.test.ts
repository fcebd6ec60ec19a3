// Text in a page stays text, whatever it says.
import { describe, expect, it } from "vitest";
import { cspSourceHash, escapeHtml, jsonForHtml } from "./html.ts";

describe("text in a page", () => {
  it("escaped text cannot open a tag, end an attribute or make an entity", () => {
    expect(escapeHtml(`<b a="1" c='2'>&amp;`)).toBe("&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
    expect(escapeHtml(null)).toBe("null");
  });

  it("JSON in a page cannot end its data block", () => {
    const value = { name: "</script><script>alert(1)</script><!--" };
    const text = jsonForHtml(value);
    expect(text).not.toContain("<");
    expect(JSON.parse(text)).toEqual(value);
  });

  it("computes the hash of a text as browsers do", () => {
    expect(cspSourceHash("")).toBe("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  });
});
