// The paid route from outside: who is told the terms, who is shown a page, and what a payment is for.
import { afterEach, describe, expect, it } from "vitest";
import {
  startTestPortfolioWeb,
  TEST_TRANSACTION,
  type TestPortfolioWeb,
  type TestPortfolioWebOptions,
} from "../../../tests/support/http/test-portfolio-web.ts";
import { Fault } from "../../lib/fault.ts";
import { encodeX402Header } from "../../payments/paywall/offer.ts";
import { exampleSnapshot } from "../../web/example-snapshot.ts";

const WALLET = "0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const open: TestPortfolioWeb[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((faces) => faces.close()));
});

async function start(options: TestPortfolioWebOptions = {}) {
  const faces = await startTestPortfolioWeb(options);
  open.push(faces);
  const get = (query: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(`${faces.url}/portfolio${query}`, { method, headers });
  return { ...faces, get };
}

function decoded(header: string | null): Record<string, unknown> {
  return JSON.parse(Buffer.from(header ?? "", "base64").toString("utf8"));
}

const PAID = { "payment-signature": encodeX402Header({ any: "payment" }) };

describe("without payment", () => {
  it.each(["", "?"])("a probe with nothing in %o is told the terms", async (query) => {
    const { get } = await start();
    const answer = await get(query);
    expect(answer.status).toBe(402);
    const required = decoded(answer.headers.get("payment-required"));
    expect(required.resource).toMatchObject({ url: "https://sextant.example/portfolio" });
    const body = (await answer.json()) as Record<string, unknown>;
    expect(Object.keys(body)).toEqual(["error", "accepts"]);
    expect(body.accepts).toEqual(required.accepts);
    expect(answer.headers.get("vary")).toBe("accept");
  });

  it("HEAD is told the same", async () => {
    const { get } = await start();
    const answer = await get("", {}, "HEAD");
    expect([answer.status, await answer.text()]).toEqual([402, ""]);
    expect(answer.headers.get("payment-required")).not.toBeNull();
    expect((await get(`?address=${WALLET}`, {}, "HEAD")).status).toBe(402);
  });

  it.each([
    ["?address=0x12", /address/],
    ["?chains=base", /address is required/],
    [`?address=${WALLET}&chains=moon`, /base, ethereum/],
    [`?address=${WALLET}&address=${WALLET}`, /twice/],
  ])("a mistake costs nothing: %s", async (query, sentence) => {
    const { get, paid } = await start();
    for (const headers of [{}, PAID]) {
      const answer = await get(query, headers);
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as { error: string }).error).toMatch(sentence);
    }
    expect(paid).toEqual([]);
  });

  it("a good question is told what its answer costs", async () => {
    const { get } = await start();
    const answer = await get(`?chains=eth,base,base&address=${WALLET}&other=1`);
    expect(answer.status).toBe(402);
    expect(decoded(answer.headers.get("payment-required")).resource).toMatchObject({
      url: `https://sextant.example/portfolio?address=${WALLET.toLowerCase()}&chains=ethereum%2Cbase`,
    });
  });
});

describe("a browser", () => {
  it.each(["", `?address=${WALLET}`, "?address=nonsense&address=twice"])(
    "that has not paid gets the page with 402 and the terms: %o",
    async (query) => {
      const { get } = await start();
      const answer = await get(query, { accept: BROWSER });
      expect(answer.status).toBe(402);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("payment-required")).not.toBeNull();
      expect(answer.headers.get("vary")).toBe("accept");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/script-src 'sha256-[^']+'/);
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const html = await answer.text();
      expect(html).toMatch(/^<!doctype html>/);
      expect(html).not.toContain("nonsense");
    },
  );

  it("that pays gets JSON, as everyone who pays", async () => {
    const { get } = await start();
    const answer = await get(`?address=${WALLET}`, { accept: BROWSER, ...PAID });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "application/json; charset=utf-8",
    ]);
  });

  it("on another page may send a payment and read the terms", async () => {
    const { url } = await start();
    const asked = await fetch(`${url}/portfolio`, {
      method: "OPTIONS",
      headers: { origin: "https://elsewhere.example", "access-control-request-method": "GET" },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-headers")).toContain("PAYMENT-SIGNATURE");
    const exposed = (await fetch(`${url}/portfolio`)).headers.get("access-control-expose-headers");
    expect(exposed).toContain("PAYMENT-REQUIRED, PAYMENT-RESPONSE");
  });
});

describe("a service that gives its answers away", () => {
  it("asks no program for payment", async () => {
    const { get } = await start({ devBypass: true });
    const given = await get(`?address=${WALLET}`);
    expect([given.status, await given.json()]).toEqual([200, exampleSnapshot]);
    const mistaken = await get("");
    expect([mistaken.status, await mistaken.json()]).toEqual([400, { error: "address is required." }]);
  });

  it("shows a browser the page all the same, without terms", async () => {
    const { get } = await start({ devBypass: true });
    const page = await get(`?address=${WALLET}`, { accept: BROWSER });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers.get("payment-required")).toBeNull();
  });
});

describe("a payment", () => {
  it("buys the snapshot, and is for exactly this question", async () => {
    const { get, paid } = await start();
    const answer = await get(`?address=${WALLET}`, PAID);
    expect([answer.status, await answer.json()]).toEqual([200, exampleSnapshot]);
    expect(decoded(answer.headers.get("payment-response")).transaction).toBe(TEST_TRANSACTION);
    await get(`?chains=ethereum,base&address=${WALLET.toLowerCase()}&spam=exclude`, PAID);
    const address = WALLET.toLowerCase();
    expect(paid.map(({ resource }) => resource)).toEqual([
      { method: "GET", path: "/portfolio", query: { address, chains: "base,ethereum" } },
      { method: "GET", path: "/portfolio", query: { address, chains: "ethereum,base", spam: "exclude" } },
    ]);
  });

  it("leaves spam out where that was asked for", async () => {
    const { get } = await start();
    const answer = await get(`?address=${WALLET}&spam=exclude`, PAID);
    const { tokens, summary } = (await answer.json()) as typeof exampleSnapshot;
    expect(tokens.map(({ symbol }) => symbol)).toEqual(["ETH", "USDC"]);
    expect(summary).toEqual(exampleSnapshot.summary);
  });

  it("for a wallet that can not be read gets a sentence", async () => {
    const take = async () => {
      throw new Fault("PROVIDER_FAILED", "The balances on Base could not be read in full.");
    };
    const { get } = await start({ snapshots: { read: take } });
    const answer = await get(`?address=${WALLET}`, PAID);
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([500, "PROVIDER_FAILED"]);
    expect(await answer.json()).toEqual({ error: "The balances on Base could not be read in full." });
  });
});
