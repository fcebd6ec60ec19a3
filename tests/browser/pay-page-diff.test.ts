// The page of a difference in a real browser: before, after, and each change split into quantity and price.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { diffRoute } from "../../src/portfolio/http/routes/diff.ts";
import type { PaidRouteDeclaration } from "../../src/portfolio/http/routes/paid-route.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { exampleDiff } from "../../src/schema/portfolio/examples.ts";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";
import { addWallet, openBrowser, openPage } from "./browser.ts";
import { findBarriers, findLayoutDefects } from "./page-checks.ts";
import { HOSTILE_TEXT } from "./rich-snapshot.ts";

const [ether] = exampleDiff.tokens;
const gone = {
  symbol: HOSTILE_TEXT,
  decimals: 18,
  rawBalance: "1",
  priceUsd: "1",
  valueUsd: "40",
  spam: false,
};
const difference = {
  ...exampleDiff,
  tokens: [
    {
      ...{ chain: "base", contract: `0x${"c".repeat(40)}`, before: gone, after: null },
      ...{ changeUsd: "-40", quantityUsd: "-40", priceUsd: "0" },
    },
    ether,
    {
      ...{
        chain: "base",
        contract: `0x${"d".repeat(40)}`,
        before: { ...gone, symbol: "DEBT", valueUsd: "1500" },
      },
      ...{ after: null, changeUsd: "-1234567901.37", quantityUsd: "-1234567901.37", priceUsd: "-1500" },
    },
  ],
};

/** The route, with what the test decides instead of a read. */
const declaration: PaidRouteDeclaration = {
  ...diffRoute,
  createQuery(served) {
    const query = diffRoute.createQuery(served);
    return { ...query, parse: (values) => ({ ...query.parse(values), read: async () => difference }) };
  },
};

let browser: Browser;
let web: TestPortfolioWeb;

beforeAll(async () => {
  const blockAt = async (seconds: number) => ({ number: seconds, timestamp: seconds });
  const declarations = [portfolioRoute, declaration];
  [browser, web] = await Promise.all([openBrowser(), startTestPortfolioWeb({ declarations, blockAt })]);
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
});

it("takes the blocks, and shows the change with its parts", async () => {
  const { page, errors } = await openPage(browser);
  await addWallet(page);
  await page.goto(`${web.url}/portfolio/diff?address=${exampleDiff.address}`);
  await page.fill("#from", "base:30000000");
  await page.click("#pay");
  await page.locator("#total").waitFor();
  expect(web.paid[0]?.resource.query).toMatchObject({ from: "base:30000000" });
  expect(await page.locator("#total").textContent()).toBe("+$3,300.00");
  const rows = page.locator("table.changes tbody tr");
  expect(await rows.nth(1).locator("td").allTextContents()).toEqual([
    ...["$6,000.00", "$9,300.00", "+$3,000.00", "+$300.00", "+$3,300.00"],
  ]);
  expect(await rows.nth(2).locator("bdi").textContent()).toBe(`${HOSTILE_TEXT.slice(0, 40)}…`);
  expect(await rows.nth(2).locator("td").last().textContent()).toBe("−$40.00");
  expect(await findLayoutDefects(page)).toEqual([]);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await findBarriers(page)).toEqual([]);
  }
  expect(errors).toEqual([]);
});

it("takes an age and a date for the chosen chains", async () => {
  const { page, errors } = await openPage(browser);
  await addWallet(page);
  await page.goto(`${web.url}/portfolio/diff?address=${exampleDiff.address}`);
  await page.fill("#from", "2026-11-10T12:00Z");
  await page.fill("#to", "1m");
  await page.getByLabel("Ethereum").uncheck();
  await page.click("#pay");
  await page.locator("#total").waitFor();
  const second = Date.UTC(2026, 10, 10, 12) / 1_000;
  const { from, to, chains } = web.paid.at(-1)?.resource.query ?? {};
  expect([from, chains]).toEqual([`base:${second}`, "base"]);
  expect(to).toMatch(/^base:\d+$/);
  expect(errors).toEqual([]);
});
