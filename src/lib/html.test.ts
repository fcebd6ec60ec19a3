// Text in a page stays text, whatever it says.
import { describe, expect, it } from "vitest";
import { cspSourceHash, escapeHtml, jsonForHtml } from "./html.ts";

describe("text in a page", () => {
  it("cannot open a tag, end an attribute or make an entity", () => {
    expect(escapeHtml(`<b a="1" c='2'>&amp;`)).toBe("&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
    expect(escapeHtml(null)).toBe("null");
  });

  it("cannot end a data block", () => {
    const value = { name: "</script><script>alert(1)</script><!--" };
    const text = jsonForHtml(value);
    expect(text).not.toContain("<");
    expect(JSON.parse(text)).toEqual(value);
  });

  it("is named by its hash as browsers compute it", () => {
    expect(cspSourceHash("")).toBe("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  });
});
