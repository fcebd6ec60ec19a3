// Browsers get the page, programs get JSON.
import { describe, expect, it } from "vitest";
import { prefersHtml } from "./page.ts";

describe("a client", () => {
  it.each([
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true],
    ["text/html", true],
    ["text/html;q=0.9, application/json;q=0.5", true],
    ["TEXT/HTML, */*;q=0.1", true],
    [undefined, false],
    ["", false],
    ["*/*", false],
    ["application/json", false],
    ["application/json, text/plain, */*", false],
    ["application/json, text/html", false],
    ["text/html;q=0.1, application/json", false],
    ["text/html;q=0", false],
    ["text/html;q=x, */*;q=0.1", false],
    ["text/*", false],
    [",,;;q=,", false],
  ])("a client that accepts %s prefers HTML: %s", (accept, expected) => {
    expect(prefersHtml(accept)).toBe(expected);
  });
});
