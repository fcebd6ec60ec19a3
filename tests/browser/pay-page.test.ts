// The page in a real browser: a wallet pays, the answer is shown, and whatever goes wrong nothing is paid for twice.
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parsePaymentIdentifier } from "../../src/payments/paywall/payment.ts";
import type { SnapshotReader } from "../../src/portfolio/snapshot.ts";
import type { EndpointResponse } from "../../src/schema/endpoint.ts";
import {
  startTestPortfolioWeb,
  TEST_OFFER,
  TEST_TRANSACTION,
  type TestPortfolioWeb,
  type TestPortfolioWebOptions,
} from "../support/http/test-portfolio-web.ts";
import { addWallet, openBrowser, openPage, PAYER, type WalletOptions } from "./browser.ts";
import { buildRichSnapshot, HOSTILE_TEXT } from "./rich-snapshot.ts";

const WALLET = "0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const LOCAL_CHAIN = "0x7a69";
const rich = { read: async () => buildRichSnapshot } as unknown as SnapshotReader;
const LATER: EndpointResponse = {
  status: 503,
  headers: { "retry-after": "1" },
  body: { error: "The payment is on its way." },
};

let browser: Browser;
const open: TestPortfolioWeb[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await Promise.all(open.splice(0).map((faces) => faces.close()));
});

async function visit(options: TestPortfolioWebOptions = {}, wallet: WalletOptions | null = {}) {
  const faces = await startTestPortfolioWeb({ snapshots: rich, ...options });
  open.push(faces);
  const { page, complaints } = await openPage(browser);
  const held = wallet === null ? null : await addWallet(page, wallet);
  await page.goto(`${faces.url}/portfolio`);
  const ask = async () => {
    await page.fill("#address", WALLET);
    await page.click("#pay");
  };
  const status = page.locator("#status");
  return { ...faces, faces, page, complaints, held, ask, status };
}

function payloadOf(header: string | undefined) {
  return JSON.parse(Buffer.from(header ?? "", "base64").toString("utf8"));
}

describe("a visitor with a wallet", () => {
  it("pays once and sees the snapshot", async () => {
    const { page, ask, paid, held, complaints } = await visit();
    await ask();
    await page.locator("#total").waitFor();
    expect(await page.locator("#total").textContent()).toBe("$17,244.04");
    expect(held?.calls).toEqual([
      "eth_requestAccounts",
      "eth_chainId",
      "wallet_switchEthereumChain",
      "eth_signTypedData_v4",
    ]);
    const { x402Version, payload, accepted, resource, extensions } = payloadOf(paid[0]?.signature);
    expect(parsePaymentIdentifier(extensions)).toMatch(/^pay_[0-9a-f]{32}$/);
    expect([paid.length, x402Version, accepted.amount]).toEqual([1, 2, "10000"]);
    expect(resource.url).toContain("https://sextant.example/portfolio?address=0xd8da6bf2");
    expect(payload.authorization).toMatchObject({
      from: PAYER.address,
      to: TEST_OFFER.payTo,
      value: "10000",
    });
    expect(payload.signature).toMatch(/^0x[0-9a-f]{130}$/);
    const { validAfter, validBefore } = payload.authorization;
    expect(Number(validBefore) - Number(validAfter)).toBe(660);
    expect(held?.signed[0]?.domain).toEqual({
      name: "USD Coin",
      version: "2",
      chainId: 31_337,
      verifyingContract: TEST_OFFER.asset,
    });
    expect(await page.locator(`code[title="${TEST_TRANSACTION}"]`).count()).toBe(1);
    expect(await page.locator("svg[role=img]").getAttribute("aria-label")).toMatch(/ETH ethereum [\d.]+ %/);
    const link = page.locator("a[href^='https://base.explorer.example/tx/0x']").first();
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(complaints).toEqual([]);
  });

  it("is shown hostile names as text, and spam muted", async () => {
    const { page, ask, complaints } = await visit();
    await ask();
    await page.locator("tr.muted").waitFor();
    expect(await page.locator("tr.muted th").textContent()).toContain(HOSTILE_TEXT.slice(0, 40));
    expect(await page.locator("tr.muted th").getAttribute("title")).toContain(HOSTILE_TEXT);
    expect(await page.locator("#result img, #result script").count()).toBe(0);
    expect(await page.title()).toBe("Wallet snapshot · Sextant");
    expect(complaints).toEqual([]);
  });

  it("who is already on the right chain is not asked to switch", async () => {
    const { page, ask, held } = await visit({}, { chainId: LOCAL_CHAIN });
    await ask();
    await page.locator("#total").waitFor();
    expect(held?.calls).not.toContain("wallet_switchEthereumChain");
  });

  it("whose wallet only introduces itself pays all the same", async () => {
    const { page, ask, paid } = await visit({}, { announced: true });
    await ask();
    await page.locator("#total").waitFor();
    expect(paid.length).toBe(1);
  });

  it("who follows a link finds the form filled in", async () => {
    const { page, url } = await visit();
    await page.goto(`${url}/portfolio?address=${WALLET}&chains=eth,Polygon`);
    expect(await page.inputValue("#address")).toBe(WALLET);
    const chosen = "[...document.querySelectorAll('input:checked')].map(({ value }) => value)";
    expect(await page.evaluate(chosen)).toEqual(["ethereum", "polygon"]);
  });

  it("who reloads sees what was bought, without paying again", async () => {
    const { page, ask, paid, status } = await visit();
    await ask();
    await page.locator("#total").waitFor();
    await page.reload();
    await page.locator("#total").waitFor();
    expect(await status.textContent()).toContain("Bought earlier");
    expect(paid.length).toBe(1);
  });
});

describe("a visitor of a service that asks for nothing", () => {
  it("sees the snapshot without a wallet", async () => {
    const { page, ask } = await visit({ devBypass: true }, null);
    await ask();
    await page.locator("#total").waitFor();
    expect(await page.getByRole("heading", { name: "Paid", exact: true }).count()).toBe(0);
  });
});

describe("when the answer does not come at once", () => {
  it("the same signature is sent again after 503", async () => {
    const { page, ask, paid, held } = await visit({
      onPayment: (_paid, count) => (count < 3 ? LATER : null),
    });
    await ask();
    await page.locator("#total").waitFor();
    expect(held?.signed.length).toBe(1);
    expect(new Set(paid.map(({ signature }) => signature)).size).toBe(1);
    expect(paid.length).toBe(3);
  });

  it("a reload in between goes on with the same signature", async () => {
    let late = true;
    const { page, ask, paid, held, status } = await visit({ onPayment: () => (late ? LATER : null) });
    await ask();
    await status.getByText("Asking again with the same payment").waitFor();
    late = false;
    await page.reload();
    await page.locator("#total").waitFor();
    expect(held?.signed.length).toBe(1);
    expect(new Set(paid.map(({ signature }) => signature)).size).toBe(1);
    expect(
      await page.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('payment'))"),
    ).toEqual([]);
  });

  it("a service that went away is asked again", async () => {
    const { page, ask, paid, held, status } = await visit();
    let broken = 0;
    await page.route("**/portfolio?*", async (route) => {
      if (route.request().headers()["payment-signature"] === undefined || broken > 0) return route.continue();
      broken += 1;
      return route.abort("connectionreset");
    });
    await ask();
    await status.getByText("could not be reached").waitFor();
    await page.locator("#total").waitFor();
    expect([broken, paid.length, held?.signed.length]).toEqual([1, 1, 1]);
  });
});

describe("what can not be paid", () => {
  it.each<[string, TestPortfolioWebOptions, WalletOptions | null, RegExp, number]>([
    ["without a wallet", {}, null, /no wallet in this browser/, 0],
    [
      "when the visitor declines",
      {},
      {
        onCall: ({ method }) => {
          if (method === "eth_signTypedData_v4") throw new Error("4001 User rejected");
        },
      },
      /You declined in your wallet/,
      0,
    ],
    [
      "on a chain the wallet does not know",
      {},
      {
        onCall: ({ method }) => {
          if (method === "wallet_switchEthereumChain") throw new Error("4902 Unrecognized chain");
        },
      },
      /does not know Local chain \(chain id 31337\)/,
      0,
    ],
    [
      "with a payment that is refused",
      { onPayment: () => ({ status: 402, body: { error: "The payer has too little of the token." } }) },
      {},
      /The payer has too little of the token/,
      1,
    ],
  ])("%s is told in a sentence", async (_name, options, wallet, sentence, payments) => {
    const { page, ask, paid, status } = await visit(options, wallet);
    await ask();
    await page.locator("#status.bad").waitFor();
    expect(await status.textContent()).toMatch(sentence);
    expect(paid.length).toBe(payments);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });

  it("a price other than the one shown is not signed", async () => {
    const { page, ask, held, status } = await visit();
    await page.route("**/portfolio?*", async (route) => {
      const answer = await route.fetch();
      const required = payloadOf(answer.headers()["payment-required"]);
      required.accepts[0].amount = "9999999";
      const header = Buffer.from(JSON.stringify(required)).toString("base64");
      return route.fulfill({
        response: answer,
        headers: { ...answer.headers(), "payment-required": header },
      });
    });
    await ask();
    await page.locator("#status.bad").waitFor();
    expect(await status.textContent()).toContain("The price has changed");
    expect(held?.calls).toEqual([]);
  });
});
