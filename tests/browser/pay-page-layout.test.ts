// How the pages look in a real browser: everything fits at every width, in both schemes, for eyes and for screen readers.
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PAID_ROUTES } from "../../src/portfolio/http/routes/paid-routes.ts";
import type { SnapshotReader } from "../../src/portfolio/snapshot.ts";
import {
  startTestPortfolioWeb,
  type TestPortfolioWeb,
  type TestPortfolioWebOptions,
} from "../support/http/test-portfolio-web.ts";
import { addWallet, openBrowser, openPage } from "./browser.ts";
import { findBarriers, findLayoutDefects, LAYOUT_WIDTHS } from "./page-checks.ts";
import { RICH_WARNINGS, ROUTINE_NOTES, richSnapshot } from "./rich-snapshot.ts";

const BARRIER_WIDTHS = [390, 1280];

let browser: Browser;
let web: TestPortfolioWeb;
const open: TestPortfolioWeb[] = [];

function serve(snapshot: unknown, options: TestPortfolioWebOptions = {}): Promise<TestPortfolioWeb> {
  const snapshots = { read: async () => snapshot } as unknown as SnapshotReader;
  return startTestPortfolioWeb({ snapshots, ...options });
}

beforeAll(async () => {
  [browser, web] = await Promise.all([openBrowser(), serve(richSnapshot)]);
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await Promise.all(open.splice(0).map((service) => service.close()));
});

async function buy(options: BrowserContextOptions = {}, { url } = web) {
  const { page, errors } = await openPage(browser, options);
  await addWallet(page);
  await page.goto(`${url}/portfolio?address=${richSnapshot.address}`);
  await page.click("#pay");
  await page.locator("#total").waitFor();
  return { page, errors };
}

function resize(page: Page, width: number): Promise<void> {
  return page.setViewportSize({ width, height: 900 });
}

/** Names of chains that are spread over two lines. */
const FIND_BROKEN_CHAINS = `(() => {
  const texts = document.createTreeWalker(document.getElementById("result"), NodeFilter.SHOW_TEXT);
  const broken = [];
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    for (const { 0: name, index } of node.data.matchAll(/ethereum|arbitrum|optimism|polygon/gi)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + name.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(name);
    }
  }
  return broken;
})()`;

it("has the menu in one row on a phone", async () => {
  const sold = await serve(richSnapshot, { declarations: PAID_ROUTES });
  open.push(sold);
  const { page } = await openPage(browser, { viewport: { width: 360, height: 800 } });
  for (const path of ["/", `/portfolio?address=${richSnapshot.address}`, "/nothing"]) {
    await page.goto(`${sold.url}${path}`);
    const boxes = await page
      .locator(".top nav a")
      .evaluateAll((links) => links.map((link) => (link as unknown as { offsetTop: number }).offsetTop));
    expect(boxes.length).toBeGreaterThan(3);
    expect([path, new Set(boxes).size]).toEqual([path, 1]);
    expect(await findLayoutDefects(page)).toEqual([]);
  }
});

describe("a snapshot on the page", () => {
  it("fits its container at every width, with names of chains in one piece", async () => {
    const { page, errors } = await buy();
    expect(await findLayoutDefects(page)).toEqual([]);
    for (const width of LAYOUT_WIDTHS) {
      await resize(page, width);
      expect([width, await page.evaluate(FIND_BROKEN_CHAINS)]).toEqual([width, []]);
      const value = page.locator("tbody tr", { hasText: "AERO" }).locator("td").last();
      expect(await value.isVisible()).toBe(true);
    }
    // Folded parts count too.
    await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
    expect(await findLayoutDefects(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  it("shows a total of any length inside its card", async () => {
    const totalValueUsd = "123456789012345678901234567890.12";
    const service = await serve({
      ...richSnapshot,
      summary: { ...richSnapshot.summary, totalValueUsd },
    });
    open.push(service);
    const { page } = await buy({}, service);
    expect(await findLayoutDefects(page)).toEqual([]);
    expect(await page.locator("#total").textContent()).toBe("$123,456,789,012,345,678,901,234,567,890.12");
  });

  it("says of an empty wallet that nothing was found, and what to do", async () => {
    const { summary } = richSnapshot;
    const none = { tokenCount: 0, pricedTokenCount: 0, unpricedTokenCount: 0, totalValueUsd: "0" };
    const chains = summary.chains.map(({ chain }) => ({ chain, ...none }));
    const service = await serve({
      ...richSnapshot,
      summary: { ...summary, ...none, stablecoinValueUsd: "0", chains, warnings: ROUTINE_NOTES },
      ...{ tokens: [], positions: [], recentActivity: [], health: [] },
    });
    open.push(service);
    const { page } = await buy({}, service);
    expect(await page.locator("#total").textContent()).toBe("$0.00");
    const titles = await page.locator("#result h3").allTextContents();
    expect(titles).toEqual([
      "Paid $0.01",
      "Total value",
      "Nothing found",
      "Recent activity",
      "How it was read",
    ]);
  });

  it("does not add up a total that is unknown", async () => {
    const { summary } = richSnapshot;
    const service = await serve({ ...richSnapshot, summary: { ...summary, totalValueUsd: null } });
    open.push(service);
    const { page } = await buy({}, service);
    expect(await page.locator("#total").textContent()).toBe("Unknown");
    expect(await page.locator("#total ~ .facts").count()).toBe(0);
    expect(await page.locator("#total + p").textContent()).toContain("see the warnings");
  });

  it("has the receipt above the tokens", async () => {
    const { page } = await buy();
    const topOf = async (title: RegExp) =>
      (await page.locator("#result").getByRole("heading", { name: title }).boundingBox())?.y ?? Number.NaN;
    expect(await topOf(/^Paid/)).toBeLessThan(await topOf(/^Tokens$/));
    expect(await topOf(/^Paid/)).toBeLessThan(await topOf(/^Total value$/));
  });

  it("sets warnings apart from the notes that every snapshot has", async () => {
    const { page } = await buy();
    const shorten = (text: string) => text.replace(/(0x[0-9a-f]{6})[0-9a-f]+([0-9a-f]{4})/g, "$1…$2");
    expect(await page.locator(".warnings li").allTextContents()).toEqual(RICH_WARNINGS.map(shorten));
    expect(await page.locator("[role=note] li").allTextContents()).toEqual(ROUTINE_NOTES.map(shorten));
    expect(await page.locator("[role=note]").evaluate((note) => note.closest(".warnings"))).toBeNull();
  });

  it("says of each transfer which way it went, with whom, and how much", async () => {
    const { page } = await buy();
    const table = page.getByRole("table", { name: /transfers/ }).first();
    const amounts = table.locator("tbody td:last-child > span");
    expect((await amounts.allTextContents()).slice(0, 6)).toEqual([
      ...["+1,250.5 USDC", "−0.000001 USDC", "some 0xaaaaaa…aa48"],
      ...["−1,250.5 USDC", "+0.000001 USDC", "unknown"],
    ]);
    const rows = table.locator("tbody th");
    const [received, sent, , relayed, lookalike] = await rows.allTextContents();
    expect(received).toMatch(/^Received from 0x111111…1111/);
    expect(sent).toMatch(/^Sent to 0x111111…1111/);
    expect(relayed).toMatch(/Sent by 0x222222…2222 with the wallet's permission$/);
    expect(lookalike).toMatch(/do not copy it$/);
  });

  it("says of each loan how far it is from liquidation, and never more than is known", async () => {
    const { page } = await buy();
    const loans = page.locator(".loans > li");
    expect(await loans.locator(".verdict").allTextContents()).toEqual([
      ...["Far from liquidation", "Close to liquidation", "Can be liquidated now"],
      "Its health is unknown: see the warnings",
    ]);
    expect(await loans.nth(0).locator("dd").allTextContents()).toEqual([
      "1.54",
      "35.3 %",
      "$800.00",
      "$1,500.00",
    ]);
    expect(await loans.nth(1).locator("dd").first().textContent()).toBe("1.04");
    expect(await loans.nth(3).locator("dd").allTextContents()).toEqual([
      "unknown",
      "unknown",
      "unknown",
      "unknown",
    ]);
    expect(
      await loans.locator("svg").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label"))),
    ).toEqual([
      "Owes 53.3 % of its collateral; liquidation begins at 82.5 %",
      "Owes 81.9 % of its collateral; liquidation begins at 86 %",
      "Owes 120 % of its collateral; liquidation begins at 90 %",
    ]);
  });

  it("says what the wallet is, and where it has gas", async () => {
    const gas = [
      { chain: "base", symbol: "ETH", transfers: "41", ready: true },
      { chain: "ethereum", symbol: "ETH", transfers: "0", ready: false },
      { chain: "arbitrum", symbol: "ETH", transfers: "123456", ready: true },
      { chain: "optimism", symbol: "ETH", transfers: null, ready: null },
    ];
    const service = await serve({ ...richSnapshot, name: "example.eth", gas });
    open.push(service);
    const { page } = await buy({}, service);
    expect(await page.locator(".title .labels > *").allTextContents()).toEqual([
      "example.eth",
      "Account with a key (EOA) on Base",
      "EOA that runs 0x111111…1111 (EIP-7702) on Ethereum",
    ]);
    expect(await page.locator(".shares .gas").allTextContents()).toEqual([
      "Gas for 41 transfers",
      "No gas: too little ETH to send",
      "Gas for thousands of transfers",
    ]);
    expect(await findLayoutDefects(page)).toEqual([]);
  });

  it("groups positions by protocol, with what is owed", async () => {
    const { page } = await buy();
    const groups = page.locator("table.positions tr.group");
    expect(await groups.locator("th > strong").allTextContents()).toEqual([
      "Aave v3",
      "Uniswap v3",
      "ERC-4626 vaults",
      "Lido",
      "Velodrome",
    ]);
    expect(await groups.first().textContent()).toMatch(/Owes 53.3 % of what it holds there\$700\.00$/);
  });
});

describe("in the light and the dark scheme", () => {
  it("neither a snapshot nor the front page has a barrier on a phone or a desk", async () => {
    const { page } = await buy();
    await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
    for (const width of BARRIER_WIDTHS) {
      await resize(page, width);
      expect([width, await findBarriers(page)]).toEqual([width, []]);
    }
    await page.goto(`${web.url}/`);
    for (const width of BARRIER_WIDTHS) {
      await resize(page, width);
      expect([width, await findBarriers(page)]).toEqual([width, []]);
    }
  });
});

describe("at every width", () => {
  it.each(["/", "/portfolio", "/portfolio/diff", "/exposure", "/nothing"])(
    "fits the window, with nothing cut or covered: %s",
    async (path) => {
      const { page } = await openPage(browser);
      await page.goto(web.url + path, { waitUntil: "load" });
      await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
      expect(await findLayoutDefects(page)).toEqual([]);
    },
  );

  it("keeps the names of chains next to their bars, however long they are", async () => {
    const { page } = await buy();
    await page.evaluate(`for (const name of document.querySelectorAll(".shares .chain")) {
      name.textContent = "Ethereum (local)";
    }`);
    expect(await page.locator(".shares .chain").count()).toBeGreaterThan(1);
    expect(await findLayoutDefects(page)).toEqual([]);
  });
});

describe("a page", () => {
  it.each(["/", "/portfolio"])("loads nothing foreign and keeps its policy: %s", async (path) => {
    const { page, errors } = await openPage(browser);
    const requested: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', ({ blockedURI }) => console.error('blocked ' + blockedURI))",
    );
    await addWallet(page);
    const response = await page.goto(web.url + path);
    expect(response?.headers()["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[^;]+'; /,
    );
    if (path === "/portfolio") {
      await page.fill("#address", richSnapshot.address);
      await page.click("#pay");
      await page.locator("#total").waitFor();
    }
    expect(requested.filter((url) => !url.startsWith(web.url))).toEqual([]);
    expect(await page.locator("[style]").count()).toBe(0);
    expect(errors).toEqual([]);
  });
});

describe("the front page", () => {
  it.each([true, false])(
    "leads from an address to the pay page, with JavaScript: %s",
    async (javaScriptEnabled) => {
      const { page } = await openPage(browser, { javaScriptEnabled });
      await page.goto(`${web.url}/`);
      expect(await page.locator("form .price").textContent()).toBe("$0.01");
      await page.getByLabel("Wallet address").fill(richSnapshot.address);
      await page.keyboard.press("Enter");
      await page.waitForURL(`${web.url}/portfolio?address=${richSnapshot.address}`);
      if (javaScriptEnabled) expect(await page.inputValue("#address")).toBe(richSnapshot.address);
      else expect(await page.locator("noscript").textContent()).toContain("Nothing was paid");
    },
  );

  it("shows an example by the view of the pay page, without JavaScript", async () => {
    const { page } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${web.url}/`);
    const example = page.locator(".example");
    expect(await example.locator("#total").textContent()).toBe("$7,750.25");
    expect(await example.locator("table.tokens").first().locator("tbody tr").count()).toBe(2);
    expect(await example.locator(".warnings").count()).toBe(0);
    expect(await example.locator("[role=note] li").count()).toBe(4);
    expect(await example.locator("time").first().textContent()).toBe("31 Dec 2025, 23:59");
  });

  it("does not send a malformed address", async () => {
    const { page } = await openPage(browser);
    await page.goto(`${web.url}/`);
    await page.getByLabel("Wallet address").fill("0x123");
    await page.keyboard.press("Enter");
    expect(await page.locator("input:invalid").count()).toBe(1);
    expect(page.url()).toBe(`${web.url}/`);
  });
});
