// The page of an exposure over the real service: a browser wallet pays, sees what it approved on a real chain, and ends it.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import type { Browser } from "playwright-core";
import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PERMIT2 } from "../../src/portfolio/exposure/revocations.ts";
import {
  callNode,
  listedTokenOf,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "../portfolio/service-stage.ts";
import { addWallet, openBrowser, openPage, PAYER } from "./browser.ts";
import { findLayoutDefects } from "./page-checks.ts";

/** 1inch: the local market has the chain id of Base, so that its spenders are known. */
const ROUTER: Hex = "0x111111125421ca6dc452d289314280a0f8842a65";

let browser: Browser;
let stage: ServiceStage;
let service: PortfolioService;
let usdc: Hex;

beforeAll(async () => {
  [stage, browser] = await Promise.all([openServiceStage(), openBrowser()]);
  service = await stage.serve();
  usdc = listedTokenOf(stage.base, "USDC");
  await stage.paid.mint(PAYER.address, 1_000_000n);
});
afterAll(async () => {
  await browser?.close();
  await stage?.close();
});

function send(to: string, data: string): Promise<Hex> {
  return callNode<Hex>(stage.base, "eth_sendTransaction", [
    { from: PAYER.address, to, data, gas: "0x2dc6c0" },
  ]);
}

async function readAllowance(): Promise<bigint> {
  const call = { abi: usdCoinAbi, functionName: "allowance" } as const;
  const data = encodeFunctionData({ ...call, args: [PAYER.address, ROUTER] });
  const result = await callNode<Hex>(stage.base, "eth_call", [{ to: usdc, data }, "latest"]);
  return decodeFunctionResult({ ...call, data: result });
}

it("ends what the wallet approved, after which nothing can be taken", async () => {
  const args = [ROUTER, 2n ** 256n - 1n] as const;
  await send(usdc, encodeFunctionData({ abi: usdCoinAbi, functionName: "approve", args }));
  expect(await readAllowance()).toBe(2n ** 256n - 1n);
  const { page, errors } = await openPage(browser);
  const wallet = await addWallet(page, { send: ({ to, data }) => send(to, data) });
  await page.goto(`${service.url}/exposure?address=${PAYER.address}&chains=base`);
  await page.click("#pay");
  await page.locator("#total").waitFor();
  const row = page.locator(".permissions > li", { hasText: "1inch Aggregation Router v6" });
  expect(await row.locator(".labels").textContent()).toBe("Unlimited");
  // The searched range is a note, and a local chain causes no warning.
  expect(await page.locator(".warnings li").allTextContents()).toEqual([]);
  // A service that sells everything has the most links alongside the title.
  expect(await findLayoutDefects(page)).toEqual([]);
  // The others are what every local payer has given: two allowances, one in Permit2, and an operator of its loan.
  const rows = page.locator(".permissions > li");
  expect(await rows.count()).toBe(5);
  for (const each of await rows.all()) {
    await each.locator("summary").click();
    await each.getByRole("button", { name: "Revoke with wallet" }).click();
    await each.getByText(/^Sent: /).waitFor();
  }
  const weth = listedTokenOf(stage.base, "WETH");
  expect(wallet.sent.map(({ chainId, to }) => [chainId, to]).sort()).toEqual(
    [usdc, usdc, weth, PERMIT2, stage.base.lending.morpho].map((to) => ["0x2105", to]).sort(),
  );
  expect(await readAllowance()).toBe(0n);
  await page.click("#pay");
  await expect.poll(() => page.locator("#total").textContent(), { timeout: 20_000 }).toBe("Nothing");
  expect(errors).toEqual([]);
});
