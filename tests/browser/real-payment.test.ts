// Page and paywall together: a browser wallet pays real tokens on a real chain, once.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";
import { waitFor } from "../support/payments/paid-client.ts";
import {
  openPaidStage,
  type PaidStage,
  type StagedPaidService,
  TEST_PRICE,
} from "../support/payments/paid-stage.ts";
import { addWallet, openBrowser, openPage, PAYER } from "./browser.ts";

const WALLET = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";
let stage: PaidStage;
let service: StagedPaidService;
let web: TestPortfolioWeb;
let browser: Browser;

beforeAll(async () => {
  [stage, browser] = await Promise.all([openPaidStage("in process"), openBrowser()]);
  service = await stage.serve();
  web = await startTestPortfolioWeb({ offer: service.offer, sale: service.sale });
  await stage.mint(PAYER.address, 1_000_000n);
});

afterAll(async () => {
  await browser?.close();
  await web?.close();
  await stage?.close();
});

it("shows the transaction that paid", async () => {
  const { page, errors } = await openPage(browser);
  await addWallet(page);
  await page.goto(`${web.url}/portfolio`);
  await page.fill("#address", WALLET);
  await page.click("#pay");
  await page.locator("#total").waitFor();
  const transfers = await stage.transfersFrom(PAYER.address);
  expect(transfers.map(({ args }) => args.value)).toEqual([TEST_PRICE]);
  expect(await page.locator(`code[title="${transfers[0]?.transactionHash}"]`).count()).toBe(1);
  expect(errors).toEqual([]);
});

it("charges once when the payment outlasts the wait", async () => {
  const before = await stage.balance(PAYER.address);
  // The transfer happens, but its response is lost: the outcome is unknown.
  let calls = 0;
  service.injected.settle = (real) => async (payload, requirements) => {
    calls += 1;
    const settled = await real(payload, requirements);
    if (calls === 1) throw new Error("the connection broke");
    return settled;
  };
  const { page } = await openPage(browser);
  const { signed } = await addWallet(page);
  await page.goto(`${web.url}/portfolio?address=${WALLET}&chains=base`);
  await page.click("#pay");
  await page.locator("#total").waitFor();
  delete service.injected.settle;
  expect(signed.length).toBe(1);
  await waitFor(async () => (await stage.balance(PAYER.address)) === before - TEST_PRICE);
  await page.reload();
  await page.locator("#total").waitFor();
  expect(await stage.balance(PAYER.address)).toBe(before - TEST_PRICE);
});

it("shows an error and charges nothing when the payer has too few tokens", async () => {
  const { page } = await openPage(browser);
  await addWallet(page);
  const before = await stage.balance(PAYER.address);
  const expensive = await stage.serve({ offer: { amount: 5_000_000n } });
  const expensiveWeb = await startTestPortfolioWeb({ offer: expensive.offer, sale: expensive.sale });
  await page.goto(`${expensiveWeb.url}/portfolio?address=${WALLET}`);
  await page.click("#pay");
  await page.locator("#status.bad").waitFor();
  expect(await page.locator("#status").textContent()).toMatch(/\w/);
  expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  expect(await stage.balance(PAYER.address)).toBe(before);
  await expensiveWeb.close();
});
