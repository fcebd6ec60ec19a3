// Several paid routes behind one gate: each with its own terms, one ledger, and no payment that buys another route.
import { decodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { Secret } from "../../src/lib/secret.ts";
import { ChallengeIssuer } from "../../src/payments/mpp/challenges.ts";
import { paymentRequiredResponse, withSignIn } from "../../src/payments/paywall/offer.ts";
import { SignInChallenges } from "../../src/payments/sign-in/challenges.ts";
import { describeOffer } from "../../src/portfolio/http/offering.ts";
import type { PaidRouteDeclaration } from "../../src/portfolio/http/routes/paid-route.ts";
import { WALLET_ROUTES } from "../../src/portfolio/http/routes/paid-routes.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { createPortfolioParameters } from "../../src/portfolio/query.ts";
import { createChannelClient } from "../support/payments/channel-client.ts";
import { testMppKey } from "../support/payments/mpp-client.ts";
import { decodeBase64Header, fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { TEST_CHANNEL_TERMS } from "../support/payments/paid-stage.ts";
import { createTestKeys } from "../support/signing/test-keys.ts";
import {
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

/** A second route over the same query: it counts the chains of a wallet. */
const chainCountRoute: PaidRouteDeclaration = {
  ...portfolioRoute,
  path: "/chain-count",
  operationId: "getChainCount",
  summary: "How many chains were read",
  description: "Counts the chains of a wallet.",
  createQuery(served) {
    const { parameters, parse } = createPortfolioParameters(served);
    return {
      parameters,
      parse: (values) => {
        const { wallet, slugs } = parse(values);
        return {
          query: { address: wallet, chains: slugs.join(",") },
          countChains: async () => 1,
          readCount: slugs.length,
          check: async () => undefined,
          read: async () => ({ address: wallet, count: slugs.length }),
        };
      },
    };
  },
  response: { title: "ChainCount", type: "object", properties: { count: { type: "integer" } } },
  responseExample: { address: portfolioRoute.exampleQuery.address, count: 2 },
  responseExcerpt: { count: 2 },
  notes: ["`count` is the number of chains."],
  tool: { name: "chain_count", title: "Count chains", purpose: "Use it to count chains." },
};

let stage: ServiceStage;
let service: PortfolioService;
const WALLET = `0x${"ab".repeat(20)}`;
const QUERY = `address=${WALLET}&chains=base`;

beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve({ routes: [portfolioRoute, chainCountRoute] });
});
afterAll(() => stage.close());

async function paidRows(payer: string) {
  const { rows } = await stage.paid.database.query<{ state: string; payload: string }>({
    text: "select state, payload::text as payload from payments where payer = $1",
    values: [payer.toLowerCase()],
  });
  return rows;
}

describe("two paid routes", () => {
  it("sells both paid routes, and a payment names the one it is for", async () => {
    const { account, fetch } = await openPayingClient(stage);
    const counted = await fetch(`${service.url}/chain-count?${QUERY}`);
    expect([counted.status, await counted.json()]).toEqual([200, { address: WALLET, count: 1 }]);
    const snapshot = await fetch(`${service.url}/portfolio?${QUERY}`);
    expect([snapshot.status, ((await snapshot.json()) as { address: string }).address]).toEqual([
      200,
      WALLET,
    ]);
    const rows = await paidRows(account.address);
    expect(rows.map(({ state }) => state)).toEqual(["settled", "settled"]);
    const urls = rows.map(
      ({ payload }) => (JSON.parse(payload) as { resource: { url: string } }).resource.url,
    );
    expect(urls.sort()).toEqual([`${service.url}/chain-count`, `${service.url}/portfolio`]);
    expect(await stage.paid.transfersFrom(account.address)).toHaveLength(2);
  });

  it("each paid route has terms of its own", async () => {
    for (const { path, description } of [portfolioRoute, chainCountRoute]) {
      const required = decodeBase64Header<{ resource: { url: string; description: string } }>(
        await fetch(`${service.url}${path}?${QUERY}`),
        "payment-required",
      );
      expect(required.resource.url).toMatch(new RegExp(`${path}\\?`));
      expect(required.resource.description).toBe(description);
    }
  });

  it.each([
    ["another route", `/portfolio?${QUERY}`],
    ["another query", `/chain-count?address=${WALLET}&chains=ethereum`],
  ])("rejects a payment that was signed for %s", async (_, other) => {
    const account = await stage.paid.payer();
    const url = `${service.url}/chain-count?${QUERY}`;
    const { header } = await signPaymentFor(url, account, stage.paid.asset);
    expect((await fetchWithPayment(url, header)).status).toBe(200);
    const stolen = await fetchWithPayment(service.url + other, header);
    expect([stolen.status, stolen.headers.get("x-error-code")]).toEqual([409, "PAYMENT_CONFLICT"]);
    expect(await stage.paid.transfersFrom(account.address)).toHaveLength(1);
  });

  it("every document, the tools and the pages name both paid routes", async () => {
    const text = async (path: string, accept = "*/*") =>
      (await fetch(service.url + path, { headers: { accept } })).text();
    const documents = [
      "/openapi.json",
      "/.well-known/x402.json",
      "/.well-known/x402",
      "/discovery/resources",
      "/llms.txt",
      "/llms-full.txt",
      "/",
    ];
    for (const path of documents) {
      expect(await text(path), path).toContain("/portfolio");
      expect(await text(path), path).toContain("/chain-count");
    }
    expect(await text("/portfolio", "text/html")).toContain("/chain-count");
    const tools = await fetch(`${service.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect(await tools.text()).toContain("chain_count");
  });
});

describe("a price for summaries", () => {
  const PRICES = { PRICE_USD_SUMMARY: "0.0005", PRICE_USD_PER_CHAIN: "0.00025", EXPOSURE_PRICE_USD: "0.02" };
  const CHANNELS = { PAYMENT_CHANNELS: "true", PAYMENT_CHANNEL_KEY: `0x${"7a".repeat(32)}` };
  const FULL = { "/portfolio": 10_000n, "/exposure": 20_000n, "/portfolio/diff": 10_000n };
  let sold: PortfolioService;
  beforeAll(async () => {
    sold = await stage.serve({ environment: { ...PRICES, ...CHANNELS } });
  });
  const urlOf = (path: string, rest: string) =>
    `${sold.url}${path}?address=${WALLET}${path === "/portfolio/diff" ? "&from=base:1" : "&chains=base"}${rest}`;
  const amountsOf = async (url: string) => {
    const required = decodeBase64Header<PaymentRequired>(await fetch(url), "payment-required");
    return { error: required.error, amounts: required.accepts.map(({ amount }) => amount) };
  };

  it.each(Object.entries(FULL))("%s names and charges both prices in both schemes", async (path, price) => {
    const full = await amountsOf(urlOf(path, ""));
    expect(full.amounts).toEqual([`${price}`, `${price}`]);
    expect(full.error).toContain("With detail=summary one chain costs $0.0005.");
    expect((await amountsOf(urlOf(path, "&detail=summary"))).amounts).toEqual(["500", "500"]);
    const { account, fetch: pay } = await openPayingClient(stage);
    const channel = createChannelClient(await stage.paid.payer(1n), stage.paid);
    const charged = [];
    for (const rest of ["&detail=summary", ""]) {
      expect((await pay(urlOf(path, rest))).status).toBe(200);
      const response = await channel.pay(urlOf(path, rest));
      expect(response.status).toBe(200);
      const { extra } = decodeBase64Header<SettleResponse>(response, "payment-response");
      charged.push(extra?.chargedAmount);
    }
    const transfers = await stage.paid.transfersFrom(account.address);
    expect(transfers.map(({ args }) => args.value)).toEqual([500n, price]);
    expect(charged).toEqual(["500", `${price}`]);
  });

  it("sells nothing but the summary for its price, and chains add to it", async () => {
    const { amounts } = await amountsOf(`${sold.url}/portfolio?address=${WALLET}&detail=summary`);
    expect(amounts).toEqual(["750", "750"]);
    const account = await stage.paid.payer();
    const { header } = await signPaymentFor(
      urlOf("/portfolio", "&detail=summary"),
      account,
      stage.paid.asset,
    );
    for (const rest of ["", "&detail=tokens"]) {
      const refused = await fetchWithPayment(urlOf("/portfolio", rest), header);
      expect([
        refused.status,
        decodeBase64Header<PaymentRequired>(refused, "payment-required").error,
      ]).toEqual([402, "The payment is of 500 units, the price is 10000."]);
    }
    expect(await stage.paid.transfersFrom(account.address)).toEqual([]);
  });

  it("every description names it", async () => {
    const text = async (path: string) => (await fetch(sold.url + path)).text();
    const price = "$0.01 ($0.0005 with detail=summary), and $0.00025 for each chain after the first";
    for (const path of ["/.well-known/x402.json", "/llms.txt", "/llms-full.txt"]) {
      expect(await text(path), path).toContain(price);
    }
    const { paths } = JSON.parse(await text("/openapi.json")) as {
      paths: Record<string, { get: Record<string, unknown> }>;
    };
    expect(paths["/exposure"]?.get["x-payment-info"]).toMatchObject({
      price: { mode: "dynamic", min: "0.0005", max: "0.021", currency: "USD" },
    });
  });

  it("does not start if a summary costs more than a full response", async () => {
    const environment = { ...PRICES, DIFF_PRICE_USD: "0.0004" };
    await expect(stage.serve({ environment })).rejects.toThrow(
      "PRICE_USD_SUMMARY must be at most DIFF_PRICE_USD.",
    );
  });
});

describe("every paid route", () => {
  it.each(WALLET_ROUTES)(
    "$path has terms that fit into a header, and an example that its tool and page can use",
    async (route) => {
      const all = await stage.serve();
      // The blocks of the example are of mainnets.
      const blocks = "from" in route.exampleQuery ? { from: "base:1", to: "base:2" } : {};
      const query = new URLSearchParams({ ...route.exampleQuery, ...blocks });
      const response = await fetch(`${all.url}${route.path}?${query}`);
      expect(response.status).toBe(402);
      // nginx accepts by default 4 KB for all headers; ours without this one take less than 1 KB.
      expect(response.headers.get("payment-required")?.length).toBeLessThan(3_400);
      await all.close();
    },
  );

  it.each(WALLET_ROUTES)(
    "$path names all ways to pay for its longest request, and sign-in, in 7,000 characters",
    (route) => {
      const blocks = "ethereum:22000000,base:30000000,arbitrum:300000000,optimism:130000000,polygon:70000000";
      const query = {
        address: `0x${"d8".repeat(20)}`,
        chains: "ethereum,base,arbitrum,optimism,polygon",
        ...{ from: blocks, to: blocks, spam: "exclude", detail: "summary", proof: "1", min_usd: "1" },
      };
      const offer = withSignIn(
        {
          ...{
            network: "eip155:8453",
            asset: `0x${"aa".repeat(20)}`,
            assetName: "USD Coin",
            assetVersion: "2",
          },
          ...{ decimals: 6, payTo: `0x${"bb".repeat(20)}`, amount: 10_000n, maxTimeoutSeconds: 60 },
          ...describeOffer(route),
          resourceOrigin: "https://portfolio.of-a-long-name.example",
          channels: { ...TEST_CHANNEL_TERMS, freeCallsPerHour: 10 },
          mpp: new ChallengeIssuer(testMppKey),
          signingKeys: createTestKeys(),
        },
        new SignInChallenges(new Secret(Buffer.alloc(32, 1)), systemClock),
      );
      const extensionsFor = (asked: Readonly<Record<string, string>>, reason: string) => {
        const resource = { method: "GET", path: route.path, query: asked };
        const { headers = {} } = paymentRequiredResponse(offer, resource, reason);
        const { "payment-required": header = "", "www-authenticate": challenge = "" } = headers;
        expect(header.length + challenge.length).toBeLessThanOrEqual(7_000);
        return Object.keys(decodePaymentRequiredHeader(header).extensions ?? {}).sort();
      };
      const all = ["bazaar", "offer-receipt", "payment-identifier", "sign-in-with-x"];
      expect(extensionsFor(route.exampleQuery, "Payment required.")).toEqual(all);
      // Directories read the route without parameters.
      expect(extensionsFor(query, "A sentence about the price. ".repeat(8))).toEqual(all.slice(1));
    },
  );
});
