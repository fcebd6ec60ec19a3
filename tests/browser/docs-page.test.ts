// The reference page in a real browser: its forms begin with examples that work, and words are chosen from lists.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";
import { openBrowser, openPage } from "./browser.ts";

let browser: Browser;
let web: TestPortfolioWeb;

beforeAll(async () => {
  [browser, web] = await Promise.all([openBrowser(), startTestPortfolioWeb()]);
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
});

it("sends the form as it is, with what was chosen", async () => {
  const { page, errors } = await openPage(browser);
  await page.goto(`${web.url}/docs#getPortfolio`);
  const operation = page.locator("#getPortfolio");
  const output = operation.locator("output");
  await operation.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => output.textContent()).toMatch(/^GET \/portfolio\?address=0x[0-9a-f]{40}\n402 /);
  const spam = operation.getByLabel("spam");
  expect(await spam.locator("option").allTextContents()).toEqual(["", "include", "exclude"]);
  await spam.selectOption("exclude");
  await operation.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => output.textContent()).toMatch(/^GET \/portfolio\?address=0x\w+&spam=exclude\n402 /);
  await page.close();
  expect(errors).toEqual([]);
});

it("shows the example of what need not be given", async () => {
  const { page, errors } = await openPage(browser);
  await page.goto(`${web.url}/docs#getDiscoveryResources`);
  const operation = page.locator("#getDiscoveryResources");
  expect(await operation.getByLabel("type").getAttribute("placeholder")).toBe("http");
  await operation.getByRole("button", { name: "Send" }).click();
  await expect
    .poll(() => operation.locator("output").textContent())
    .toMatch(/^GET \/discovery\/resources\n200 /);
  await page.close();
  expect(errors).toEqual([]);
});
