// The reference page in a real browser: readable, searchable, complete without JavaScript, and its forms send requests.
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { buildServiceDocuments } from "../../scripts/openapi-lint/documents.ts";
import recorded from "../../src/api/recorded-examples.json" with { type: "json" };
import { renderDocsPage } from "../../src/http/openapi/docs-page.ts";
import { buildOpenApiDocument, type OpenApiDocument } from "../../src/http/openapi/document.ts";
import { describeEndpoint } from "../../src/http/openapi/route-description.ts";
import type { Endpoint } from "../../src/schema/endpoint.ts";
import { startLoopbackServer } from "../support/http/loopback-server.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";
import { openBrowser, openPage } from "./browser.ts";
import { findBarriers, findLayoutDefects } from "./page-checks.ts";

const recordedIntent = recorded.operations.getIntent.parameters.id;

let browser: Browser;
let web: TestPortfolioWeb;
let index: EmptyIndex;
let api: TestApi;

beforeAll(async () => {
  [browser, web, index] = await Promise.all([openBrowser(), startTestPortfolioWeb(), openEmptyIndex()]);
  api = await startTestApi(index.database);
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
  await api?.close();
  await index?.drop();
});

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };
// A busy machine takes its time to run what the page does on an event.
const SOON = { timeout: 20_000 };

type Visit = { readonly page: Page; close(): Promise<void> };

/** A page that must not report an error, break its policy, or ask another origin for anything. */
async function visit(url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const { page, errors } = await openPage(browser, options);
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) foreign.push(request.url());
  });
  await page.addInitScript(
    "window.violations = []; addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective))",
  );
  await page.goto(url);
  return {
    page,
    async close() {
      if (options.javaScriptEnabled !== false) expect(await page.evaluate("window.violations")).toEqual([]);
      await page.context().close();
      expect({ errors, foreign }).toEqual({ errors: [], foreign: [] });
    },
  };
}

function card(page: Page, id: string) {
  return page.locator(`details:has(> #${id})`);
}

/** The page of a document, whose operations all respond with this. */
async function servePage(document: OpenApiDocument, body: string, header: string) {
  const { html, contentSecurityPolicy } = renderDocsPage(document);
  const server = await startLoopbackServer(({ url }, response) => {
    const isPage = url === "/docs";
    response.setHeader("content-type", isPage ? "text/html; charset=utf-8" : "application/json");
    response.setHeader("x-header", header);
    if (isPage) response.setHeader("content-security-policy", contentSecurityPolicy);
    response.end(isPage ? html : body);
  });
  onTestFinished(server.stop);
  return server;
}

/** Opens a record inside a tree. */
async function expand(tree: Locator, name: string): Promise<void> {
  await tree.locator("summary", { hasText: new RegExp(`^${name}$`) }).click();
}

describe("a request", () => {
  it("sends a request as the form has it, and shows its response", async () => {
    const { page, close } = await visit(`${api.url}/docs#listIntents`);
    const operation = page.locator("#listIntents");
    expect(await operation.getByLabel("limit").getAttribute("placeholder")).toBe("2");
    await operation.getByLabel("limit").fill("3");
    await operation.getByRole("button", { name: "Send" }).click();
    await expect
      .poll(() => operation.locator(".status").textContent(), SOON)
      .toMatch(/^200 OK · \d+ ms · \d+ bytes$/);
    expect(await operation.locator(".response pre").textContent()).toContain(
      '{\n  "intents": [],\n  "pagination": {\n    "limit": 3,',
    );
    await operation.locator(".response summary").click();
    expect(await operation.locator(".response dl").innerText()).toContain("x-indexed-block");
    await close();
  });

  it("sends a body if the operation takes one", async () => {
    const { page, close } = await visit(`${api.url}/docs#publishCatalog`);
    const operation = page.locator("#publishCatalog");
    await operation.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => operation.locator(".status").textContent(), SOON).toMatch(/^201 Created/);
    expect(await operation.locator(".response pre").textContent()).toMatch(
      /"catalog_hash": "0x[0-9a-f]{64}"/,
    );
    await close();
  });

  it("shows the request as curl and as a client call while you type", async () => {
    const { page, close } = await visit(`${api.url}/docs#listIntents`);
    const operation = page.locator("#listIntents");
    await operation.getByLabel("status").selectOption("filled");
    await operation.getByLabel("block", { exact: true }).fill("327");
    expect(await operation.locator("[data-sample=curl]").innerText()).toBe(
      `curl '${api.url}/intents?status=filled&block=327'`,
    );
    await operation.getByText("TypeScript", { exact: true }).click();
    expect(await operation.locator("[data-sample=curl]").isVisible()).toBe(false);
    expect(await operation.locator("[data-sample=client]").innerText()).toContain(
      'sextant.at(327n).listIntents({ status: "filled" })',
    );
    // The choice holds for every operation.
    await card(page, "getIntent").locator("> summary").click();
    expect(await page.locator("#getIntent [data-sample=client]").innerText()).toContain(
      `sextant.getIntent({ id: "${recordedIntent}" })`,
    );
    await close();
  });

  it("copies the request as curl", async () => {
    const { page, close } = await visit(`${api.url}/docs#getHealth`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.locator("#getHealth").getByRole("button", { name: "Copy" }).click();
    await expect.poll(() => page.locator("#getHealth .copy").textContent(), SOON).toBe("Copied");
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`curl '${api.url}/health'`);
    await close();
  });

  it("an operation that costs money says so, and its request gets the terms", async () => {
    const { page, close } = await visit(`${web.url}/docs#getPortfolio`);
    const operation = page.locator("#getPortfolio");
    expect(await operation.locator(".needs").innerText()).toMatch(
      /^Costs \$0\.01 per request\. A payment by x402/,
    );
    expect(await operation.getByRole("button", { name: "Send" }).count()).toBe(0);
    const spam = operation.getByLabel("spam");
    expect(await spam.locator("option").allTextContents()).toEqual([
      "not set: include",
      "include",
      "exclude",
    ]);
    await spam.selectOption("exclude");
    expect(await operation.locator("[data-sample=curl]").innerText()).toMatch(
      /^curl 'http:\/\/127\.0\.0\.1:\d+\/portfolio\?address=0x\w{40}&spam=exclude'$/,
    );
    await operation.getByRole("button", { name: "Get the terms" }).click();
    await expect
      .poll(() => operation.locator(".status").textContent(), SOON)
      .toMatch(/^402 Payment Required/);
    await operation.getByLabel("PAYMENT-SIGNATURE").fill("abc");
    expect(await operation.getByRole("button", { name: "Send with this payment" }).count()).toBe(1);
    await operation.getByRole("link", { name: "open it in a browser" }).click();
    await page.waitForURL(`${web.url}/portfolio`);
    await close();
  });
});

describe("finding", () => {
  it("narrows the page to what contains every word, by keyboard alone", async () => {
    const { page, close } = await visit(`${api.url}/docs`, { viewport: DESK });
    const shown = () => page.locator("details.card:visible").count();
    const all = await shown();
    await page.keyboard.press("/");
    await page.keyboard.type("capability_hash");
    const cards = page.locator("details.card:visible > summary");
    // The list that filters by it, the record, and the record of its table's rows.
    await expect.poll(() => cards.count(), SOON).toBe(3);
    expect(await cards.first().innerText()).toMatch(/\/services.*contains capability_hash/s);
    expect(await page.locator("nav .entries a:visible").count()).toBe(3);
    // Groups without a match go, too.
    expect(await page.locator("h2:visible").allTextContents()).toEqual(["Commerce", "Records"]);
    expect(await page.locator("#search-status").textContent()).toBe("3 matches; Enter opens the first.");
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash, SOON).toBe("#listServices");
    expect(await page.locator("#listServices").isVisible()).toBe(true);
    await page.keyboard.press("/");
    await page.keyboard.type("nothing has zyx");
    const status = page.locator("#search-status");
    await expect.poll(() => status.textContent(), SOON).toBe("Nothing contains all of these words.");
    await page.keyboard.press("Escape");
    await expect.poll(shown, SOON).toBe(all);
    await close();
  });

  it("finds records by their fields, and opens records inside records", async () => {
    const { page, close } = await visit(`${web.url}/docs`);
    await page.getByLabel("Search").fill("lookalike");
    const cards = page.locator("details.record:visible");
    await expect.poll(() => cards.count(), SOON).toBe(1);
    await page.getByLabel("Search").fill("");
    await page.goto(`${web.url}/docs#getPortfolio`);
    const tree = page.locator("#getPortfolio .statuses");
    for (const name of ["PortfolioSnapshot", "PortfolioPosition", "PositionAsset"]) await expand(tree, name);
    await expect.poll(() => tree.getByText("rawBalance", { exact: true }).isVisible(), SOON).toBe(true);
    await close();
  });

  it("opens the operation that the address names, also if a search has hidden it", async () => {
    const { page, close } = await visit(`${api.url}/docs#getIntent`);
    await expect.poll(() => page.locator("#getIntent").isVisible(), SOON).toBe(true);
    await page.getByLabel("Search").fill("webhook");
    expect(await page.locator("#getIntent").isVisible()).toBe(false);
    await page.evaluate("location.hash = 'record-Agent'");
    await expect.poll(() => page.locator("#record-Agent").isVisible(), SOON).toBe(true);
    await card(page, "listAgents").locator("> summary").click();
    await expect.poll(() => new URL(page.url()).hash, SOON).toBe("#listAgents");
    await close();
  });
});

/** Opens everything, as the longest and narrowest that the page can be. */
const OPEN_ALL = "for (const part of document.querySelectorAll('details')) part.open = true";

describe("on a phone", () => {
  it("fits a phone's width, stays short, and has no narrow column", async () => {
    for (const { url } of [api, web]) {
      const { page, close } = await visit(`${url}/docs`, { viewport: PHONE });
      expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThan(14_500);
      await page.evaluate(OPEN_ALL);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
      // The narrowest of all texts, also of those in nested trees.
      const narrow =
        await page.evaluate(`[...document.querySelectorAll("p, dd, .parameter input, textarea, pre")]
        .filter((each) => each.offsetParent && (each.textContent || each.value))
        .map((each) => [each.clientWidth, each.textContent.slice(0, 40)])
        .filter(([width]) => width < 200)`);
      expect(narrow).toEqual([]);
      await close();
    }
  });
});

describe("at every width", () => {
  const documents = buildServiceDocuments();
  // The open mode of the API is the one with fewer parameters.
  const services = Object.keys(documents).filter((name) => name !== "indexing API");

  /** The longest operation, the longest with a body and the longest record: with all of them a check costs a minute. */
  const OPEN_LONGEST = `for (const kind of [".operation", ".operation:has(textarea)", ".record"]) {
    const cards = [...document.querySelectorAll("details" + kind)];
    const [longest] = cards.sort((a, b) => b.textContent.length - a.textContent.length);
    for (const part of longest ? [longest, ...longest.querySelectorAll("details")].slice(0, 6) : []) part.open = true;
  }`;

  it.each(services)(
    "the page of the %s fits the window, with nothing cut or covered",
    async (name) => {
      const words = "0123456789abcdef".repeat(40);
      const document = documents[name] as OpenApiDocument;
      const { url } = await servePage(document, JSON.stringify({ [words]: words }), words);
      const { page, close } = await visit(`${url}/docs`);
      await page.evaluate(OPEN_LONGEST);
      await page.evaluate("for (const part of document.querySelectorAll('.headers')) part.open = true");
      await page.locator("form .panel div > button:visible").first().click();
      await expect.poll(() => page.locator(".response .headers:visible").innerText(), SOON).toContain(words);
      expect(await findLayoutDefects(page)).toEqual([]);
      await close();
    },
    360_000,
  );
});

describe("without JavaScript", () => {
  it("shows every operation, parameter, example and sample, and follows links", async () => {
    const document = (await (await fetch(`${api.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string; parameters: { name: string }[] }>>;
    };
    const { page, close } = await visit(`${api.url}/docs#getIntent`, { javaScriptEnabled: false });
    const operation = page.locator("#getIntent");
    expect(await operation.isVisible()).toBe(true);
    expect(await page.getByLabel("Search").isVisible()).toBe(false);
    expect(await operation.getByRole("button").count()).toBe(0);
    expect(await operation.locator(".parameter .example").first().innerText()).toBe(
      `Example: ${recordedIntent}`,
    );
    expect(await operation.innerText()).toContain("Sending from this page needs JavaScript");
    expect(await operation.locator("[data-sample=curl]").innerText()).toBe(
      `curl "$SEXTANT_API_URL/intents/${recordedIntent}"`,
    );
    await operation.getByText("TypeScript", { exact: true }).click();
    expect(await operation.locator("[data-sample=client]").isVisible()).toBe(true);
    const texts = new Map(
      await page
        .locator(".operation")
        .evaluateAll((cards) =>
          cards.map((each) => [each.lastElementChild?.id, each.textContent ?? ""] as const),
        ),
    );
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const { operationId, parameters } of Object.values(methods)) {
        for (const { name } of [{ name: path }, ...parameters])
          expect(texts.get(operationId)).toContain(name);
      }
    }
    await expand(operation, "IntentWithMetadata");
    await operation.getByRole("link", { name: "IntentWithMetadata" }).click();
    expect(await page.locator("#record-IntentWithMetadata").isVisible()).toBe(true);
    await close();
  });
});

describe("accessibility", () => {
  it.each([
    ["the API", () => api, "publishCatalog"],
    ["the portfolio service", () => web, "getPortfolio"],
  ] as const)(
    "the page of %s has no serious problem in light and dark on a phone and a desk",
    async (_service, server, operation) => {
      const { page } = await openPage(browser, { bypassCSP: true });
      onTestFinished(() => page.context().close());
      await page.goto(`${server().url}/docs#${operation}`);
      const button = page.locator(`#${operation} .panel div > button`);
      await button.click();
      await expect.poll(() => page.locator(`#${operation} .status`).textContent(), SOON).toMatch(/^[24]0/);
      await page.locator("nav + main .record > summary").first().click();
      for (const viewport of [PHONE, DESK]) {
        await page.setViewportSize(viewport);
        expect([viewport, await findBarriers(page)]).toEqual([viewport, []]);
      }
    },
    360_000,
  );
});

describe("hostile text", () => {
  const evil = `"><img src=x onerror="window.taken=1"></script></textarea><script>window.taken=1</script>'\${window.taken=1}`;
  const endpoint: Endpoint = {
    method: "POST",
    path: "/things/:id",
    operationId: "makeThing",
    summary: evil,
    description: evil,
    tag: "Things",
    parameters: [
      {
        ...{ name: "id", in: "path", required: true, description: evil, example: evil },
        kind: { json: { type: "string", pattern: evil, default: evil }, parse: (text) => text },
      },
      {
        ...{ name: "word", in: "query", required: false, description: evil, example: evil },
        kind: { json: { type: "string", enum: [evil] }, parse: (text) => text },
      },
    ],
    body: {
      title: "Evil",
      type: "object",
      properties: { [evil]: { type: "string", description: evil, examples: [evil] } },
    },
    bodyExample: { [evil]: evil },
    responses: { 200: { type: "object", properties: { [evil]: { enum: [evil] } } } },
    security: { name: "x402", scheme: { type: "apiKey", in: "header", name: "X", description: evil } },
    extensions: { "x-payment-info": { price: { amount: evil, currency: evil } } },
    handle: async () => ({ status: 200, body: {} }),
  };

  /** The page of an API that means harm, whose only operation responds with this. */
  function serveHostilePage(body: string) {
    const document = buildOpenApiDocument({
      info: { title: evil, version: evil, description: evil },
      routes: [describeEndpoint(endpoint)],
      tags: { Things: evil },
      samples: { variable: "URL", fallback: evil, client: { option: "api" } },
    });
    return servePage(document, body, evil);
  }

  it("shows hostile text of a document or a response as text", async () => {
    const server = await serveHostilePage(JSON.stringify({ [evil]: evil }));
    const { page, close } = await visit(`${server.url}/docs#makeThing`);
    await page.evaluate(OPEN_ALL);
    await page.locator("#makeThing .panel div > button").click();
    await expect.poll(() => page.locator("#makeThing .status").textContent(), SOON).toMatch(/^200/);
    expect(JSON.parse((await page.locator("#makeThing .response pre").textContent()) ?? "")).toEqual({
      [evil]: evil,
    });
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.evaluate("window.taken")).toBeUndefined();
    await close();
  });

  it("cuts a response without end", async () => {
    const server = await serveHostilePage("x".repeat(20_000_000));
    const { page, close } = await visit(`${server.url}/docs#makeThing`);
    await page.locator("#makeThing .panel div > button").click();
    // It stops after the piece with which the limit is passed; how large a piece is, the browser decides.
    await expect
      .poll(() => page.locator("#makeThing .status").textContent(), SOON)
      .toMatch(/^200 .* · more than \d+\.\d kB$/);
    const shown = (await page.locator("#makeThing .response pre").textContent()) ?? "";
    expect(shown.replace(/^x*/, "")).toContain("cut after 200000 characters");
    expect(shown.length).toBeLessThan(201_000);
    await close();
  });
});
