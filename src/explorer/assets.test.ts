// Assets: every file of the browser is built into one that is named by its content and asks for nothing else.
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { loadAssets } from "./layout.ts";

it("every asset has the hash of its content in its name, and imports nothing", () => {
  expect([...loadAssets().keys()].sort()).toEqual(["explorer.css", "live-feed.js", "page.js"]);
  for (const [name, { path, text }] of loadAssets()) {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    const [stem, extension] = name.split(".");
    expect(path).toBe(`/explorer/assets/${stem}.${hash}.${extension}`);
    expect(text.length).toBeGreaterThan(2_000);
    expect(text).not.toMatch(/\bimport\b|@import|url\(/);
  }
});

it("a module that two entries need runs nothing by itself", () => {
  const page = loadAssets().get("page.js")?.text ?? "";
  const feed = loadAssets().get("live-feed.js")?.text ?? "";
  expect(page).toContain("form[data-slider]");
  expect(feed).not.toContain("form[data-slider]");
  expect(page.match(/^addCopyButtons\(|[;}]addCopyButtons\(/g)).toHaveLength(1);
});
