// The navigation: a menu for each section that has pages to name, with the place of the visitor marked.
import { describe, expect, it } from "vitest";
import { html, renderHtml } from "../lib/html.ts";
import { createNavigation, navigation } from "./layout.ts";
import { definePage, type Page } from "./page.ts";

const page = (path: string, nav?: string): Page =>
  definePage({
    path,
    ...(nav === undefined ? {} : { nav }),
    findExample: async () => ({}),
    load: async () => null,
    render: () => ({ title: path, main: html`` }),
  });

const sections = createNavigation([
  { label: "Trade", pages: [page("/intents", "Intents"), page("/intents/:id"), page("/solvers/:id")] },
  { label: "Trust", pages: [page("/attestations/:id")] },
  { label: "Chain", pages: [page("/events", "Events")] },
]);
const show = (path: string, block: string | null = null) =>
  renderHtml(navigation({ nav: sections, deployments: [] }, { path, block, base: "" }));
const here = (text: string) => [...text.matchAll(/<summary class="here">(\w+)/g)].map(([, label]) => label);

describe("the navigation", () => {
  it("has a menu for each section with a page that it can name", () => {
    expect(sections.map(({ label }) => label)).toEqual(["Trade", "Chain"]);
  });

  it("marks the page itself, and the list that a record belongs to", () => {
    expect(show("/intents")).toContain('<a href="/explorer/intents" aria-current="page">Intents</a>');
    expect(show("/intents/5")).toContain('<a href="/explorer/intents" aria-current="true">Intents</a>');
    expect(show("/intentsx")).not.toContain("aria-current");
  });

  it("marks the section, also for a page that no menu names", () => {
    expect(here(show("/intents/5"))).toEqual(["Trade"]);
    expect(here(show("/solvers/0x12"))).toEqual(["Trade"]);
    expect(here(show("/events"))).toEqual(["Chain"]);
    expect(here(show(""))).toEqual([]);
  });

  it("keeps the block", () => {
    expect(show("", "7")).toContain('href="/explorer/events?block=7"');
  });

  it("leads to the other deployments of the server, and stays within its own", () => {
    const deployments = [
      { name: "first", base: "" },
      { name: "second", base: "/d/second" },
    ];
    const place = { path: "/events", block: "7", base: "/d/second" };
    const text = renderHtml(navigation({ nav: sections, deployments }, place));
    expect(text).toContain('<a href="/explorer">first</a>');
    expect(text).toContain('<a href="/d/second/explorer" aria-current="true">second</a>');
    expect(text).toContain('href="/d/second/explorer/intents?block=7"');
    expect(text).toContain('href="/d/second/docs"');
    expect(text).toMatch(/<summary class="deployment">.*<span class="name">second<\/span><\/summary>/);
    expect(show("/events")).not.toContain("deployment");
  });
});
