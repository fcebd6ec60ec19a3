// The page in a real browser: a wallet pays, the snapshot is shown, and nothing is ever paid for twice.
import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../src/lib/fault.ts";
import { parsePaymentIdentifier } from "../../src/payments/paywall/payment-envelope.ts";
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
import { findBarriers, findLayoutDefects } from "./page-checks.ts";
import { BIDI_TEXT, HOSTILE_TEXT, richSnapshot } from "./rich-snapshot.ts";

const WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const LOCAL_CHAIN = "0x7a69";
const snapshots = { read: async () => richSnapshot } as unknown as SnapshotReader;
const UNAVAILABLE: EndpointResponse = {
  status: 503,
  headers: { "retry-after": "1" },
  body: { error: "The payment is pending." },
};

let browser: Browser;
const open: TestPortfolioWeb[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await Promise.all(open.splice(0).map((web) => web.close()));
});

async function visit(options: TestPortfolioWebOptions = {}, wallet: WalletOptions | null = {}) {
  const web = await startTestPortfolioWeb({ snapshots, ...options });
  open.push(web);
  const { page, errors } = await openPage(browser);
  const testWallet = wallet === null ? null : await addWallet(page, wallet);
  await page.goto(`${web.url}/portfolio`);
  const submit = async () => {
    await page.fill("#address", WALLET);
    await page.click("#pay");
  };
  const status = page.locator("#status");
  return { ...web, page, errors, testWallet, submit, status };
}

function decodePayment(header: string | undefined) {
  return JSON.parse(Buffer.from(header ?? "", "base64").toString("utf8"));
}

describe("a visitor who knows a name", () => {
  const address = richSnapshot.address.toLowerCase();

  it("sees its address before the wallet is asked, and pays for that", async () => {
    const { page, paid, errors } = await visit();
    await page.fill("#address", "Vitalik.eth");
    await page.click("#pay");
    await page.waitForSelector("#result-title");
    expect(await page.inputValue("#address")).toBe(address);
    expect(new URL(page.url()).searchParams.get("address")).toBe(address);
    expect(paid.map(({ resource }) => resource.query.address)).toEqual([address]);
    expect(errors).toEqual([]);
  });

  it("leads from a name on the front page to the page by address", async () => {
    const { page, url, errors } = await visit();
    await page.goto(url);
    await page.fill("#address", "vitalik.eth");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/portfolio\?/);
    expect(new URL(page.url()).searchParams.get("address")).toBe(address);
    expect(errors).toEqual([]);
  });

  it("reads why a name leads nowhere, and is asked for nothing", async () => {
    const resolve = () => Promise.reject(new Fault("NOT_FOUND", "x.eth leads to no address."));
    const { page, status, paid, testWallet } = await visit({ names: { resolve } });
    await page.fill("#address", "x.eth");
    await page.click("#pay");
    await status.getByText("x.eth leads to no address.").waitFor();
    expect([paid, testWallet?.calls]).toEqual([[], []]);
  });
});

describe("a visitor with a wallet", () => {
  it("pays once and sees the snapshot", async () => {
    const { page, submit, paid, testWallet, errors } = await visit();
    await submit();
    await page.locator("#total").waitFor();
    expect(await page.locator("#total").textContent()).toBe("$1,234,587,192.81");
    expect(testWallet?.calls).toEqual([
      "eth_requestAccounts",
      "eth_chainId",
      "wallet_switchEthereumChain",
      "eth_signTypedData_v4",
    ]);
    const { x402Version, payload, accepted, resource, extensions } = decodePayment(paid[0]?.signature);
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
    expect(testWallet?.signed[0]?.domain).toEqual({
      name: "USD Coin",
      version: "2",
      chainId: 31_337,
      verifyingContract: TEST_OFFER.asset,
    });
    expect(await page.locator(`code[title="${TEST_TRANSACTION}"]`).count()).toBe(1);
    expect(await page.locator("svg.ring").getAttribute("aria-label")).toMatch(
      /SHIB Ethereum 99.9 %, ETH Ethereum < 0.1 %/,
    );
    const link = page.locator("a[href^='https://base.explorer.example/tx/0x']").first();
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(errors).toEqual([]);
  });

  it("sees hostile names as text, and spam folded away", async () => {
    const { page, submit, errors } = await visit();
    await submit();
    const spam = page.locator("details.spam");
    await spam.waitFor();
    const [markup, turned, marked] = await spam.locator("tbody th").all();
    expect(await markup?.isVisible()).toBe(false);
    await spam.locator("summary").click();
    expect(await markup?.isVisible()).toBe(true);
    expect(await markup?.textContent()).toContain(HOSTILE_TEXT.slice(0, 40));
    expect(await markup?.getAttribute("title")).toContain(HOSTILE_TEXT);
    expect(await turned?.locator("strong > bdi").textContent()).toBe("⟨202E⟩CDSU⟨200B⟩");
    expect(await turned?.getAttribute("title")).not.toContain(BIDI_TEXT);
    expect(await marked?.locator("strong > bdi").textContent()).toBe("Z\u0300\u0300");
    expect(await page.locator("#result img, #result script").count()).toBe(0);
    expect(await page.title()).toBe("What is in this wallet? · Sextant");
    expect(errors).toEqual([]);
  });

  it("pays with the keyboard, and goes on reading at the snapshot", async () => {
    const { page, paid } = await visit();
    await page.focus("#address");
    await page.keyboard.type(WALLET);
    await page.keyboard.press("Enter");
    await page.locator("#total").waitFor();
    expect(paid.length).toBe(1);
    expect(await page.evaluate("document.activeElement.id")).toBe("result-title");
  });

  it("is asked for nothing for an address with a wrong checksum, and reads how to go on", async () => {
    const { page, url, paid, testWallet, errors } = await visit();
    const mistyped = WALLET.replace("0xd8", "0xD8");
    const readProblem = () => page.evaluate("document.querySelector('#address').validationMessage");
    await page.fill("#address", mistyped);
    await page.click("#pay");
    expect(await readProblem()).toMatch(/^This address has a wrong checksum .* in lower case\.$/);
    // Also in a link.
    await page.goto(`${url}/portfolio?address=${mistyped}`);
    await page.click("#pay");
    expect(await readProblem()).toMatch(/wrong checksum/);
    expect([paid, testWallet?.calls]).toEqual([[], []]);
    await page.fill("#address", mistyped.toLowerCase());
    await page.click("#pay");
    await page.locator("#total").waitFor();
    expect([paid.length, errors]).toEqual([1, []]);
  });

  it("asks for a chain when none is chosen", async () => {
    const { page, submit, paid } = await visit();
    for (const name of ["Base", "Ethereum"]) await page.getByLabel(name).uncheck();
    await submit();
    const message = "document.querySelector('input[type=checkbox]').validationMessage";
    expect(await page.evaluate(message)).toBe("Choose at least one chain.");
    expect(paid.length).toBe(0);
    await page.getByLabel("Polygon").check();
    await submit();
    await page.locator("#total").waitFor();
    expect(paid[0]?.resource.query.chains).toBe("polygon");
  });

  it("saves the snapshot as JSON, and prints it without the form", async () => {
    const { page, submit } = await visit();
    await submit();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Save as JSON" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`portfolio-${richSnapshot.address}.json`);
    expect(JSON.parse(readFileSync(await download.path(), "utf8"))).toEqual(richSnapshot);
    await page.emulateMedia({ media: "print" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    const isVisible = (selector: string) => page.locator(selector).first().isVisible();
    const seen = ["#total", ".receipt", ".activity tr:nth-child(8)", "details.more td"].map(isVisible);
    expect(await Promise.all(seen)).toEqual([true, true, true, true]);
    const unseen = ["form", "nav", ".tools", "details.spam"].map(isVisible);
    expect(await Promise.all(unseen)).toEqual([false, false, false, false]);
  });

  it("does not prompt to switch when the wallet is on the right chain", async () => {
    const { page, submit, testWallet } = await visit({}, { chainId: LOCAL_CHAIN });
    await submit();
    await page.locator("#total").waitFor();
    expect(testWallet?.calls).not.toContain("wallet_switchEthereumChain");
  });

  it.each([
    ["desktop", ["wallet_addEthereumChain", "eth_chainId"]],
    ["phone", ["wallet_addEthereumChain", "eth_chainId", "wallet_switchEthereumChain"]],
  ] as const)("adds the chain to a wallet on a %s that does not know it", async (unknownChain, adding) => {
    const rpcUrl = "http://127.0.0.1:8545";
    const { page, submit, testWallet, paid, errors } = await visit(
      { walletRpcUrl: rpcUrl },
      { unknownChain },
    );
    await submit();
    await page.locator("#total").waitFor();
    expect(testWallet?.added).toEqual([
      {
        chainId: LOCAL_CHAIN,
        chainName: "Local chain",
        nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
        rpcUrls: [rpcUrl],
      },
    ]);
    expect(testWallet?.calls.slice(2, -1)).toEqual(["wallet_switchEthereumChain", ...adding]);
    expect(testWallet?.signed.length).toBe(1);
    expect([paid.length, errors]).toEqual([1, []]);
  });

  it("pays with a wallet that announces itself by EIP-6963", async () => {
    const { page, submit, paid } = await visit({}, { announced: true });
    await submit();
    await page.locator("#total").waitFor();
    expect(paid.length).toBe(1);
  });

  it("finds the form filled in by the link", async () => {
    const { page, url } = await visit();
    await page.goto(`${url}/portfolio?address=${WALLET}&chains=eth,Polygon`);
    expect(await page.inputValue("#address")).toBe(WALLET);
    const chosen = "[...document.querySelectorAll('input:checked')].map(({ value }) => value)";
    expect(await page.evaluate(chosen)).toEqual(["ethereum", "polygon"]);
  });

  it.each([
    [
      "address=bogus",
      "address",
      "Write 0x followed by 40 hex digits, or a name such as vitalik.eth.",
      WALLET,
    ],
    ["address=0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045", "address", "wrong checksum", WALLET],
    [`address=${WALLET}&at=yesterday`, "at", "Write an age such as 7d, a date such as ", "1d"],
    [`address=${WALLET}&chains=solana`, "chains", "Choose at least one chain.", null],
  ])(
    "sees at once what is wrong with the link ?%s, and no price until it is corrected",
    async (query, name, problem, right) => {
      const { page, url, errors } = await visit();
      await page.goto(`${url}/portfolio?${query}`);
      const [message, button] = [page.locator(`#${name}-problem`), page.locator("#pay")];
      expect(await message.isVisible()).toBe(true);
      expect(await message.textContent()).toContain(problem);
      expect(await button.textContent()).toBe("Correct the form first");
      expect(await findBarriers(page)).toEqual([]);
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await findLayoutDefects(page)).toEqual([]);
      }
      if (right === null) await page.getByLabel("Base").check();
      else await page.fill(`#${name}`, right);
      expect([await message.isVisible(), await button.textContent()]).toEqual([false, "Pay $0.01"]);
      expect(errors).toEqual([]);
    },
  );

  it("reads what is wrong with a field when it is left, not while it is written", async () => {
    const { page } = await visit();
    await page.focus("#address");
    await page.keyboard.type("0x12");
    expect(await page.locator("#address-problem").isVisible()).toBe(false);
    await page.keyboard.press("Tab");
    expect(await page.locator("#address-problem").isVisible()).toBe(true);
  });

  it("pays for the block and the options of the link, and sees the block in the form", async () => {
    const { page, url, paid, errors } = await visit();
    await page.goto(`${url}/portfolio?address=${WALLET}&block=base:34&spam=exclude&other=1`);
    expect(await page.inputValue("#at")).toBe("base:34");
    await page.click("#pay");
    await page.locator("#total").waitFor();
    const asked = { address: WALLET.toLowerCase(), block: "base:34", spam: "exclude", chains: "base" };
    expect(paid.map(({ resource }) => resource.query)).toEqual([asked]);
    expect(errors).toEqual([]);
  });

  it.each([
    ["a date, sent as it is written", "2026-11-10T12:00Z", Date.UTC(2026, 10, 10, 12) / 1_000],
    ["an age", "7D", null],
  ])("asks for %s, sees the blocks that it leads to, and pays for those", async (_what, text, seconds) => {
    const asked: number[] = [];
    const blockAt = async (at: number) => ({ number: asked.push(at), timestamp: at });
    const { page, submit, paid, errors } = await visit({ blockAt });
    await page.fill("#at", text);
    await submit();
    await page.locator("#total").waitFor();
    const blocks = "base:1,ethereum:2";
    expect(paid.map(({ resource }) => resource.query.block)).toEqual([blocks]);
    expect([await page.inputValue("#at"), await page.textContent("#at-hint")]).toEqual([
      ...[blocks, `${text} leads to these blocks.`],
    ]);
    expect(new URL(page.url()).searchParams.get("block")).toBe(blocks);
    const ago = seconds ?? Math.floor(Date.now() / 1_000) - 7 * 86_400;
    for (const at of asked) expect(Math.abs(at - ago)).toBeLessThan(60);
    expect(errors).toEqual([]);
  });

  it("takes a block number for one chain, and says what is missing for several", async () => {
    const { page, submit, paid, testWallet } = await visit();
    await page.fill("#at", "34");
    await submit();
    const problem = await page.evaluate("document.querySelector('#at').validationMessage");
    expect(problem).toMatch(/^A block number belongs to one chain/);
    expect(testWallet?.calls).toEqual([]);
    await page.getByLabel("Ethereum").uncheck();
    await submit();
    await page.locator("#total").waitFor();
    expect(paid.map(({ resource }) => resource.query.block)).toEqual(["base:34"]);
  });

  it("is asked for nothing for blocks of other chains than the chosen ones", async () => {
    const { page, url, paid, testWallet, status } = await visit();
    await page.goto(`${url}/portfolio?address=${WALLET}&chains=base,ethereum`);
    await page.fill("#at", "base:34");
    await page.click("#pay");
    await expect.poll(() => status.textContent()).toContain("ethereum");
    expect([paid, testWallet?.calls]).toEqual([[], []]);
  });

  it("sees the paid snapshot after a reload, without paying again", async () => {
    const { page, submit, paid, status } = await visit();
    await submit();
    await page.locator("#total").waitFor();
    await page.reload();
    await page.locator("#total").waitFor();
    expect(await status.textContent()).toContain("Bought earlier");
    expect(paid.length).toBe(1);
  });
});

describe("a visitor of a free service", () => {
  it("sees the snapshot without a wallet", async () => {
    const { page, submit } = await visit({ devBypass: true }, null);
    await submit();
    await page.locator("#total").waitFor();
    expect(await page.getByRole("heading", { name: /^Paid/ }).count()).toBe(0);
  });
});

describe("a pending payment", () => {
  it("retries a payment with the same signature after 503", async () => {
    const { page, submit, paid, testWallet } = await visit({
      onPayment: (_paid, count) => (count < 3 ? UNAVAILABLE : null),
    });
    await submit();
    await page.locator("#total").waitFor();
    expect(testWallet?.signed.length).toBe(1);
    expect(new Set(paid.map(({ signature }) => signature)).size).toBe(1);
    expect(paid.length).toBe(3);
  });

  it("continues with the same signature after a reload", async () => {
    let late = true;
    const { page, submit, paid, testWallet, status } = await visit({
      onPayment: () => (late ? UNAVAILABLE : null),
    });
    await submit();
    await status.getByText("Retrying with the same payment").waitFor();
    expect(await page.locator("#steps [aria-current=step]").textContent()).toBe("Snapshot");
    expect(await page.locator("#result[aria-busy=true] .placeholder").count()).toBe(3);
    // The button waits, and keeps the focus.
    expect(await page.evaluate("document.activeElement.id")).toBe("pay");
    await page.keyboard.press("Enter");
    expect(testWallet?.signed.length).toBe(1);
    late = false;
    await page.reload();
    await page.locator("#total").waitFor();
    expect(testWallet?.signed.length).toBe(1);
    expect(new Set(paid.map(({ signature }) => signature)).size).toBe(1);
    expect(
      await page.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('payment'))"),
    ).toEqual([]);
  });

  it("keeps a payment when the service stays unavailable, to be retried without paying", async () => {
    let late = true;
    const { page, submit, paid, testWallet, status } = await visit({
      onPayment: () => (late ? UNAVAILABLE : null),
    });
    await submit();
    await page.locator("#status.bad").waitFor();
    expect(await status.textContent()).toMatch(/^The payment is pending\. .*you pay at most once\. $/);
    expect(await page.locator(".placeholder").count()).toBe(0);
    expect(await page.locator("#pay").textContent()).toBe("Retry, already paid");
    late = false;
    await page.click("#pay");
    await page.locator("#total").waitFor();
    expect(testWallet?.signed.length).toBe(1);
    expect(new Set(paid.map(({ signature }) => signature)).size).toBe(1);
  });

  it("retries a payment when the connection breaks", async () => {
    const { page, submit, paid, testWallet, status } = await visit();
    let broken = 0;
    await page.route("**/portfolio?*", async (route) => {
      if (route.request().headers()["payment-signature"] === undefined || broken > 0) return route.continue();
      broken += 1;
      return route.abort("connectionreset");
    });
    await submit();
    await status.getByText("could not be reached").waitFor();
    await page.locator("#total").waitFor();
    expect([broken, paid.length, testWallet?.signed.length]).toEqual([1, 1, 1]);
  });
});

describe("a payment that cannot be made", () => {
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
      { unknownChain: "desktop" },
      /does not know Local chain \(chain id 31337\)/,
      0,
    ],
    [
      "when the visitor declines to add the chain",
      { walletRpcUrl: "http://127.0.0.1:8545" },
      {
        unknownChain: "desktop",
        onCall: ({ method }) => {
          if (method === "wallet_addEthereumChain") throw new Error("4001 User rejected the request.");
        },
      },
      /You declined in your wallet/,
      0,
    ],
    [
      "when the payment is rejected",
      { onPayment: () => ({ status: 402, body: { error: "The payer has too little of the token." } }) },
      {},
      /The payer has too little of the token\. Check that the paying account holds enough/,
      1,
    ],
  ])("shows an error %s", async (_name, options, wallet, sentence, payments) => {
    const { page, submit, paid, status } = await visit(options, wallet);
    await submit();
    await page.locator("#status.bad").waitFor();
    expect(await status.textContent()).toMatch(sentence);
    expect(await status.locator(".money").textContent()).toBe("Nothing was paid.");
    expect(paid.length).toBe(payments);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });

  it("does not call a payment unpaid that was used for something else", async () => {
    const { page, submit, status } = await visit({
      onPayment: () => ({ status: 409, body: { error: "The payment belongs to another request." } }),
    });
    await submit();
    await page.locator("#status.bad").waitFor();
    expect(await status.locator(".money").textContent()).toMatch(/not certain whether you paid/);
  });

  it("leaves the snapshot that is shown where it is", async () => {
    let declines = false;
    const { page, submit, status } = await visit(
      {},
      {
        onCall: ({ method }) => {
          if (declines && method === "eth_signTypedData_v4") throw new Error("4001 User rejected");
        },
      },
    );
    await submit();
    await page.locator("#total").waitFor();
    declines = true;
    await page.click("#pay");
    await page.locator("#status.bad").waitFor();
    expect(await status.textContent()).toContain("You declined in your wallet.");
    expect(await page.locator("#total").isVisible()).toBe(true);
  });

  it("does not sign when the price differs from the one shown", async () => {
    const { page, submit, testWallet, status } = await visit();
    await page.route("**/portfolio?*", async (route) => {
      const response = await route.fetch();
      const required = decodePayment(response.headers()["payment-required"]);
      required.accepts[0].amount = "9999999";
      const header = Buffer.from(JSON.stringify(required)).toString("base64");
      return route.fulfill({
        response,
        headers: { ...response.headers(), "payment-required": header },
      });
    });
    await submit();
    await page.locator("#status.bad").waitFor();
    expect(await status.textContent()).toContain("The price has changed");
    expect(testWallet?.calls).toEqual([]);
  });
});
