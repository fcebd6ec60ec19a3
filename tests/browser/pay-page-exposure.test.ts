// The page of an exposure in a real browser: what can be taken is seen at a glance, and can be ended from the page.
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { exposureRoute } from "../../src/portfolio/http/routes/exposure.ts";
import type { PaidRouteDeclaration } from "../../src/portfolio/http/routes/paid-route.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";
import { addWallet, openBrowser, openPage, PAYER, type WalletOptions } from "./browser.ts";
import { findBarriers, findLayoutDefects } from "./page-checks.ts";
import {
  approveNothing,
  EXPOSED_WALLET,
  emptyExposure,
  richExposure,
  USDC_SPENDER,
} from "./rich-exposure.ts";
import { HOSTILE_TEXT } from "./rich-snapshot.ts";

/** The route, with what the test decides instead of a read. */
function declareExposure(body: unknown): PaidRouteDeclaration {
  return {
    ...exposureRoute,
    createQuery(served) {
      const query = exposureRoute.createQuery(served);
      return { ...query, parse: (values) => ({ ...query.parse(values), read: async () => body }) };
    },
  };
}

let browser: Browser;
let web: TestPortfolioWeb;
let emptyWeb: TestPortfolioWeb;

beforeAll(async () => {
  const serve = (body: unknown) =>
    startTestPortfolioWeb({ declarations: [portfolioRoute, declareExposure(body)] });
  [browser, web, emptyWeb] = await Promise.all([openBrowser(), serve(richExposure), serve(emptyExposure)]);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([web, emptyWeb].map((service) => service?.close()));
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

async function buy(
  options: BrowserContextOptions = {},
  { url } = web,
  wallet: WalletOptions = {},
  address = EXPOSED_WALLET,
) {
  const { page, errors } = await openPage(browser, options);
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', ({ blockedURI }) => console.error('blocked ' + blockedURI))",
  );
  const testWallet = await addWallet(page, wallet);
  await page.goto(`${url}/exposure?address=${address}`);
  await page.click("#pay");
  await page.locator("#total").waitFor();
  /** The command that ends the permission of the first row with these texts. */
  const unfold = async (...texts: readonly string[]) => {
    const row = page.locator(".permissions > li", { hasText: new RegExp(texts.join(".*")) }).first();
    await row.locator("summary").click();
    return row.locator(".revoke");
  };
  return { page, errors, testWallet, unfold };
}

describe("an exposure on the page", () => {
  it("says at a glance what can be taken, and by what most", async () => {
    const { page, errors } = await buy();
    expect(await page.title()).toBe("What can be taken from this wallet? · Sextant");
    expect(await page.locator("#total").textContent()).toBe("$8,250.25");
    expect(await page.locator(".glance").textContent()).toMatch(
      /At least: something of it has no known value\.14 permissions for 11 holders: 4 without a limit and 5 for a spender that is not on our list\.The largest: An unknown spender, 0xbbbbbb…bbb3 can take all 2 WETH, worth \$5,000\.00\.$/,
    );
    expect(await page.locator("#result h3").allTextContents()).toEqual([
      ...["Paid $0.01", "Can be taken by others", "By chain", "1 warning", "Who controls the account"],
      ...[
        "Positions that others can take",
        "Tokens that others can take",
        "Collections that others can take",
      ],
      ...["More permissions", "How it was read", "What the labels mean"],
    ]);
    expect(await page.evaluate("document.activeElement.id")).toBe("result-title");
    expect(await page.locator("[style]").count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it("names the protocol whose positions can be taken, and says where a value is a minimum", async () => {
    const { page } = await buy();
    const assets = page.locator(".card", { hasText: "Positions that others can take" }).locator(".asset");
    expect(await assets.locator("h4 > bdi").allTextContents()).toEqual(["compound-v3"]);
    expect(await assets.locator(".labels").allTextContents()).toEqual(["All of itUnknown spender"]);
    expect(await assets.locator(".risk").allTextContents()).toEqual(["$2,000.00at risk, at least"]);
  });

  it("groups permissions by what can be taken, with reasons in words", async () => {
    const { page } = await buy();
    const assets = page.locator(".card", { hasText: "Tokens that others can take" }).locator(".asset");
    expect(await assets.locator("h4 > bdi").allTextContents()).toEqual(["WETH", "USDC", "⟨202E⟩CDSU⟨200B⟩"]);
    const usdc = assets.nth(1).locator("li");
    expect(await usdc.locator(".who > strong").allTextContents()).toEqual([
      "Universal Router",
      "A router whose name does not end where n…",
      "Unknown",
    ]);
    expect(await usdc.locator(".labels").allTextContents()).toEqual([
      "Unlimited",
      "Up to 500 USDC",
      "Up to 0.000001 USDC",
    ]);
    expect(await usdc.locator(".risk").allTextContents()).toEqual([
      "$1,250.25at risk",
      "$500.00at risk",
      "< $0.01at risk",
    ]);
    expect(await usdc.nth(1).locator(".who > small").textContent()).toMatch(
      /· Aggregator · through Permit2 · until 3 Jan 2027/,
    );
  });

  it("shows hostile names as text, and folds spam and idle permissions away", async () => {
    const { page, errors } = await buy();
    const spam = page.locator("details.spam");
    expect(await spam.locator(".asset").isVisible()).toBe(false);
    await spam.locator("> summary").click();
    expect(await spam.locator("h4 > bdi").textContent()).toBe(`${HOSTILE_TEXT.slice(0, 40)}…`);
    expect(await page.locator("details.more:not(.spam) h4").textContent()).toContain("OLD");
    expect(await page.locator("#result img, #result script").count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it("says of a wallet without permissions that nothing can be taken, and what was searched", async () => {
    const { page, errors } = await buy({}, emptyWeb);
    expect(await page.locator("#total").textContent()).toBe("Nothing");
    const text = await page.locator("#result").textContent();
    expect(text).toContain("No permission over this wallet was found on Base and Ethereum.");
    expect(text).toContain("blocks 38704001 to 40000000");
    expect(text).toContain("List of known spenders1 (2026-11-16)");
    expect(errors).toEqual([]);
  });

  it("leads to the snapshot of the same wallet", async () => {
    const { page } = await buy();
    await page.getByRole("link", { name: "What is in this wallet?" }).click();
    await page.waitForURL(/\/portfolio\?/);
    expect(await page.inputValue("#address")).toBe(EXPOSED_WALLET);
  });
});

describe("what ends a permission", () => {
  it("copies a revocation as calldata and as a command", async () => {
    const { page, unfold } = await buy({ permissions: ["clipboard-read", "clipboard-write"] });
    const box = await unfold("Universal Router");
    const copied = () => page.evaluate("navigator.clipboard.readText()");
    await box.getByRole("button", { name: "Copy calldata" }).click();
    await box.getByText("Copied.").waitFor();
    expect(await copied()).toBe(approveNothing(USDC_SPENDER));
    await box.getByRole("button", { name: "Copy as cast send" }).click();
    await expect
      .poll(copied)
      .toBe(
        `cast send 0x833589fcd6edb6e08f4c7c32d4f71b54bda02913 ${approveNothing(USDC_SPENDER)} --from ${EXPOSED_WALLET} --chain 8453 --rpc-url "$RPC_URL"`,
      );
  });

  it("sends a revocation from the wallet, on the chain of the permission", async () => {
    const { testWallet, unfold, errors } = await buy();
    const box = await unfold("Universal Router");
    await box.getByRole("button", { name: "Revoke with wallet" }).click();
    await box.getByText(/^Sent: /).waitFor();
    expect(testWallet.sent).toEqual([
      {
        ...{ chainId: "0x2105", from: EXPOSED_WALLET, to: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913" },
        ...{ data: approveNothing(USDC_SPENDER), value: "0x0" },
      },
    ]);
    expect(await box.locator("a").getAttribute("href")).toMatch(/^https:\/\/base\.explorer\.example\/tx\/0x/);
    expect(errors).toEqual([]);
  });

  it("sends no revocation from another account, nor after the visitor declines", async () => {
    const other = await buy({}, web, { account: `0x${"9".repeat(40)}` });
    const first = await other.unfold("Universal Router");
    await first.getByRole("button", { name: "Revoke with wallet" }).click();
    await first.getByText(/^Only 0x.* can end this permission/).waitFor();
    expect(other.testWallet.sent).toEqual([]);
    const declined = await buy({}, web, {
      onCall: ({ method }) => {
        if (method === "eth_sendTransaction") throw new Error("4001 User rejected the request.");
      },
    });
    const second = await declined.unfold("Universal Router");
    await second.getByRole("button", { name: "Revoke with wallet" }).click();
    await second.getByText("You declined in your wallet.").waitFor();
  });

  it("offers a command for a delegate, and calldata for a module", async () => {
    const { page, unfold } = await buy();
    const delegate = await unfold("Delegate");
    expect(await delegate.getByRole("button").allTextContents()).toEqual(["Copy as cast send"]);
    const module = await unfold("Module");
    expect(await module.getByRole("button").allTextContents()).toEqual([
      "Revoke with wallet",
      "Copy calldata",
    ]);
    const owner = page.locator(".permissions > li", { hasText: "Signs for the account, alone" });
    expect(await owner.locator("summary").count()).toBe(0);
  });
});

it("an exposure fits every width, and has no barrier in light and dark", async () => {
  const { page } = await buy();
  expect(await findLayoutDefects(page)).toEqual([]);
  await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
  expect(await findLayoutDefects(page)).toEqual([]);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, await findBarriers(page)]).toEqual([width, []]);
  }
});

it("offers an exposure on the front page, without JavaScript", async () => {
  const { page } = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(`${web.url}/`);
  expect(await page.locator("form .price").allTextContents()).toEqual(["$0.01", "$0.01"]);
  await page.getByLabel("Wallet address").fill(PAYER.address);
  await page.getByRole("button", { name: "See what can be taken" }).click();
  await page.waitForURL(`${web.url}/exposure?address=${PAYER.address}`);
});
