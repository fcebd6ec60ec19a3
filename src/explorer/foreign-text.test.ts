// Third-party text: visible as it is, isolated, and linked only to the web.
import { describe, expect, it } from "vitest";
import { renderHtml } from "../lib/html.ts";
import { foreignUri, renderForeignText } from "./format.ts";

const shown = (value: string) => renderHtml(renderForeignText(value));
const linked = (value: string) => renderHtml(foreignUri(value));

describe("third-party text", () => {
  it.each([
    ["an override of direction", "a\u202eb", "202e"],
    ["an isolate", "a\u2067b", "2067"],
    ["a mark", "a\u200fb", "200f"],
    ["a space without width", "a\u200bb", "200b"],
    ["a line break", "a\nb", "000a"],
    ["a null", "a\0b", "0000"],
    ["a tag character", "a\u{e0041}b", "e0041"],
    ["a filler", "a\u3164b", "3164"],
    ["a lone surrogate", "a\ud800b", "d800"],
    ["a variation selector", "a\ufe0fb", "fe0f"],
  ])("shows %s by its number", (_, value, code) => {
    expect(shown(value)).toContain(`\\u{${code}}`);
    expect(shown(value)).not.toContain([...value][1] ?? "");
  });

  it("isolates untrusted text, so that it reorders nothing around it", () => {
    expect(shown("שלום")).toBe('<bdi class="foreign">שלום</bdi>');
  });

  it("warns if letters of two alphabets look alike", () => {
    expect(shown("pаypal")).toContain("mixed alphabets");
    expect(shown("paypal")).not.toContain("mixed alphabets");
    expect(shown("Яндекс")).not.toContain("mixed alphabets");
  });

  it("takes little markup however many hidden characters it has", () => {
    for (const value of ["\u200b".repeat(400), "a\u200b".repeat(200), "\u{e0041}".repeat(1_000)]) {
      expect(shown(value).length).toBeLessThan(3_000);
      expect(shown(value)).toContain("…");
    }
    expect(shown("\u200b".repeat(24))).not.toContain("…");
  });

  it("cuts very long untrusted text", () => {
    expect(shown("x".repeat(1_000_000)).length).toBeLessThan(1_000);
    expect(shown("x".repeat(1_000_000))).toContain("…");
    expect(shown("😀".repeat(400))).not.toContain("…");
  });
});

describe("a third-party URI", () => {
  it("links an https URI without passing on the referrer", () => {
    expect(linked("https://example.org/a?b=c&d")).toBe(
      '<a href="https://example.org/a?b=c&amp;d" rel="noopener noreferrer nofollow ugc"><bdi class="foreign">https://example.org/a?b=c&amp;d</bdi></a>',
    );
  });

  it.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "ipfs://bafy",
    "//example.org",
    "https://user:pass@example.org/",
    'https://example.org/" onclick="alert(1)',
    "https://exam\u202eple.org/",
    "https://",
    "http://[",
    "",
  ])("does not link %j", (value) => {
    expect(linked(value)).not.toContain("href");
  });
});
