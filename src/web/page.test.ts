// The pay pages as they are built: one style and one module each, which run as their policy names them.
import { createHash } from "node:crypto";
import { Script } from "node:vm";
import { describe, expect, it } from "vitest";
import { buildForBrowser } from "../http/pages/build-for-browser.ts";
import { html } from "../lib/html.ts";
import { renderPage } from "./page.ts";
import { PAY_PAGES } from "./pay-pages.ts";

describe.each(PAY_PAGES)("the page of $path", ({ script }) => {
  const { html: text, contentSecurityPolicy: policy } = renderPage({
    title: "A & B",
    main: html`<p>main</p>`,
    links: [{ path: "/portfolio", label: "<Snapshot>" }],
    script,
  });
  const [, module = ""] = /<script type="module">(.*)<\/script>/s.exec(text) ?? [];

  it("has one module without imports, which the browser can parse", () => {
    expect(module).not.toMatch(/(?:^|[;}])(?:import|export)\b/m);
    expect(module.length).toBeGreaterThan(20_000);
    // A module is strict and may wait. Parsed and not run, because there is no document.
    expect(() => new Script(`async () => { "use strict";\n${module}\n}`)).not.toThrow();
  });

  it("allows exactly its own style and module", () => {
    const [, style = ""] = /<style>(.*)<\/style>/s.exec(text) ?? [];
    const hash = (inside: string) => createHash("sha256").update(inside).digest("base64");
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash(style)}'; img-src 'self'; script-src 'sha256-${hash(module)}'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
  });

  it("escapes its title and links", () => {
    expect(text).toContain("<title>A &amp; B</title>");
    expect(text).toContain('<a href="/portfolio">&lt;Snapshot&gt;</a>');
  });
});

it("a build keeps the names of functions, so that the errors of a page can be read", () => {
  const [first] = PAY_PAGES;
  const [module = ""] = first === undefined ? [] : buildForBrowser(first.script);
  expect(module).toContain("function findChecksumProblem(");
});
