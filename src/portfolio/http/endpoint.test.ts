// The paid route over HTTP: terms, pay page, and the resource that a payment is for.
import { afterEach, describe, expect, it } from "vitest";
import {
  startTestPortfolioWeb,
  TEST_OFFER,
  TEST_TRANSACTION,
  type TestPortfolioWeb,
  type TestPortfolioWebOptions,
} from "../../../tests/support/http/test-portfolio-web.ts";
import { testMppKey } from "../../../tests/support/payments/mpp-client.ts";
import { Fault } from "../../lib/fault.ts";
import { ChallengeIssuer } from "../../payments/mpp/challenges.ts";
import type { Sale } from "../../payments/paywall/gate.ts";
import {
  encodeX402Header,
  type PaidRequest,
  type PaymentOffer,
  paymentRequiredResponse,
} from "../../payments/paywall/offer.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { exampleSnapshot } from "../../schema/portfolio/examples.ts";
import type { StoredSnapshots } from "../diff/figures.ts";
import { FREE_READ_LIMITS } from "../free-reads.ts";
import { ReadLoad } from "../read-load.ts";
import { diffRoute } from "./routes/diff.ts";
import { portfolioRoute } from "./routes/portfolio.ts";

const WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const open: TestPortfolioWeb[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((web) => web.close()));
});

async function start(options: TestPortfolioWebOptions = {}) {
  const web = await startTestPortfolioWeb(options);
  open.push(web);
  const get = (query: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(`${web.url}/portfolio${query}`, { method, headers });
  return { ...web, get };
}

function decodeHeader(header: string | null): Record<string, unknown> {
  return JSON.parse(Buffer.from(header ?? "", "base64").toString("utf8"));
}

const PAID = { "payment-signature": encodeX402Header({ any: "payment" }) };

describe("a credential of the Machine Payments Protocol", () => {
  const offer = { ...TEST_OFFER, mpp: new ChallengeIssuer(testMppKey) };

  async function startSelling(sold: PaymentOffer = offer, devBypass = false) {
    const requests: PaidRequest[] = [];
    const sale: Sale = {
      offer: sold,
      challenge: (resource) => paymentRequiredResponse(sold, resource, "Payment required."),
      serve: async (request) => {
        requests.push(request);
        return { status: 200, body: exampleSnapshot };
      },
    };
    return { ...(await start({ sale, devBypass })), requests };
  }

  it.each(["authorization", "payment-authorization"])(
    "is taken from %s, also from a browser",
    async (name) => {
      const { get, requests } = await startSelling();
      const response = await get(`?address=${WALLET}`, { [name]: "Payment abc", accept: BROWSER });
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        expect.stringContaining("application/json"),
      ]);
      expect(requests).toMatchObject([{ signature: undefined, credential: "Payment abc" }]);
    },
  );

  it.each([true, false])(
    "is rejected next to another one, and nothing waits for its work; all is free: %s",
    async (free) => {
      const rejections: unknown[] = [];
      const onRejection = (reason: unknown) => rejections.push(reason);
      process.on("unhandledRejection", onRejection);
      const { get } = await startSelling(offer, free);
      const both = { authorization: "Payment abc", "payment-authorization": "Payment abc" };
      expect((await get(`?address=${WALLET}`, both)).status).toBe(400);
      await new Promise(setImmediate);
      process.off("unhandledRejection", onRejection);
      expect(rejections).toEqual([]);
    },
  );

  it("is left alone where only x402 pays", async () => {
    const { get, requests } = await startSelling(TEST_OFFER);
    expect((await get(`?address=${WALLET}`, { authorization: "Payment abc" })).status).toBe(402);
    await get(`?address=${WALLET}`, { ...PAID, authorization: "Payment abc" });
    expect(requests).toMatchObject([{ signature: PAID["payment-signature"], credential: undefined }]);
  });
});

describe("without payment", () => {
  it.each(["", "?"])("a request with %o gets the terms", async (query) => {
    const { get } = await start();
    const response = await get(query);
    expect(response.status).toBe(402);
    const required = decodeHeader(response.headers.get("payment-required"));
    expect(required.resource).toMatchObject({ url: "https://sextant.example/portfolio" });
    const body = (await response.json()) as Record<string, unknown>;
    expect(Object.keys(body)).toEqual(["x402Version", "error", "accepts"]);
    expect(body.accepts).toEqual(required.accepts);
    expect(response.headers.get("vary")).toBe("accept");
  });

  it.each(["", "?address=0x70997970c51812dc3a010c7d01b50e0d17dc79c8"])(
    "a payment of version 1 with %o gets the terms and what to do",
    async (query) => {
      const { get } = await start();
      const response = await get(query, { "x-payment": "eyJ4NDAyVmVyc2lvbiI6MX0=" });
      expect(response.status).toBe(402);
      const required = decodeHeader(response.headers.get("payment-required"));
      const sentence = /^X-PAYMENT is .*version 1.*version 2: .*PAYMENT-REQUIRED.*PAYMENT-SIGNATURE\.$/;
      expect(required.error).toMatch(sentence);
      expect(await response.json()).toMatchObject({ x402Version: 2, error: expect.stringMatching(sentence) });
    },
  );

  it("HEAD gets the same terms", async () => {
    const { get } = await start();
    const response = await get("", {}, "HEAD");
    expect([response.status, await response.text()]).toEqual([402, ""]);
    expect(response.headers.get("payment-required")).not.toBeNull();
    expect((await get(`?address=${WALLET}`, {}, "HEAD")).status).toBe(402);
  });

  it.each([
    ["?address=0x12", /address/],
    ["?chains=base", /address is required/],
    [`?address=${WALLET}&chains=moon`, /base, ethereum/],
    [`?address=${WALLET}&address=${WALLET}`, /twice/],
  ])("an invalid request costs nothing: %s", async (query, message) => {
    const { get, paid } = await start();
    for (const headers of [{}, PAID]) {
      const response = await get(query, headers);
      expect(response.status).toBe(400);
      expect(((await response.json()) as { error: string }).error).toMatch(message);
    }
    expect(paid).toEqual([]);
  });

  it("a mistyped digit in an address with a checksum is named in the terms and in the response", async () => {
    const { get, paid } = await start();
    const mistyped = WALLET.replace(/5$/, "6");
    const sentence = new RegExp(`${mistyped} has a wrong checksum \\(EIP-55\\)`);
    const unpaid = await get(`?address=${mistyped}`);
    expect(unpaid.status).toBe(402);
    expect(decodeHeader(unpaid.headers.get("payment-required")).error).toMatch(sentence);
    expect(((await unpaid.json()) as { error: string }).error).toMatch(sentence);
    const response = await get(`?address=${mistyped}`, PAID);
    const { summary } = (await response.json()) as typeof exampleSnapshot;
    expect(summary.warnings).toEqual([expect.stringMatching(sentence), ...exampleSnapshot.summary.warnings]);
    // Still what the specification accepts: the payment is for the address in lower case.
    expect(paid[0]?.resource.query.address).toBe(mistyped.toLowerCase());
  });

  it.each([WALLET, WALLET.toLowerCase(), `0x${WALLET.slice(2).toUpperCase()}`])(
    "names no wrong checksum of %s",
    async (address) => {
      const { get } = await start();
      const unpaid = (await (await get(`?address=${address}`)).json()) as { error: string };
      expect(unpaid.error).toBe("Payment required.");
      const paid = (await (await get(`?address=${address}`, PAID)).json()) as typeof exampleSnapshot;
      expect(paid.summary.warnings).toEqual(exampleSnapshot.summary.warnings);
    },
  );

  it("a valid request gets its price", async () => {
    const { get } = await start();
    const response = await get(`?chains=eth,base,base&address=${WALLET}&other=1`);
    expect(response.status).toBe(402);
    expect(decodeHeader(response.headers.get("payment-required")).resource).toMatchObject({
      url: `https://sextant.example/portfolio?address=${WALLET.toLowerCase()}&chains=ethereum%2Cbase`,
    });
  });
});

describe("with a price for each chain after the first", () => {
  const offer = { ...TEST_OFFER, amountPerChain: 5_000n };
  const termsOf = async (response: Response) => {
    const { error, accepts } = decodeHeader(response.headers.get("payment-required"));
    return [error, (accepts as readonly { amount: string }[]).map(({ amount }) => amount)];
  };

  it.each([
    ["", "one chain", "10000"],
    [`?address=${WALLET}&chains=base`, "one chain", "10000"],
    // The default chains.
    [`?address=${WALLET}`, "2 chains", "15000"],
    [`?address=${WALLET}&chains=eth,ethereum,base`, "2 chains", "15000"],
    [`?address=${WALLET}&block=base:1,ethereum:2,polygon:3`, "3 chains", "20000"],
  ])("the terms of %o are those of %s: %s", async (query, chains, amount) => {
    const { get } = await start({ offer });
    const rule = `This is the price of ${chains}: each one after the first adds $0.005.`;
    expect(await termsOf(await get(query))).toEqual([`Payment required. ${rule}`, [amount]]);
  });

  const storedWith = (load: StoredSnapshots["load"], known?: number) =>
    ({ load, knownChainCount: () => known }) as unknown as StoredSnapshots;
  const chains = ["base", "ethereum", "polygon"].map((chain) => ({ chain }));
  const stored = { figures: { chains }, blocks: [], asOf: true } as unknown as Awaited<
    ReturnType<StoredSnapshots["load"]>
  >;
  const declarations = [portfolioRoute, diffRoute];
  const differenceOf = (id: string) => `/portfolio/diff?address=${WALLET}&from=${id}`;

  it("reads from a stored snapshot how many chains a difference has, and once only", async () => {
    const web = await start({ offer, storedSnapshots: storedWith(async () => stored), declarations });
    const first = await fetch(web.url + differenceOf("ab".repeat(32)));
    expect((await termsOf(first))[1]).toEqual(["20000"]);
    // It is checked like every difference, which loads it; the number of its chains needs nothing.
    let loads = 0;
    const load = async () => {
      loads += 1;
      return stored;
    };
    const known = await start({ offer, storedSnapshots: storedWith(load, 3), declarations });
    expect((await termsOf(await fetch(known.url + differenceOf("ab".repeat(32)))))[1]).toEqual(["20000"]);
    expect(loads).toBe(1);
  });

  it("loads snapshots to know a price no more often than one client may read freely", async () => {
    let loads = 0;
    const load = async () => {
      loads += 1;
      return stored;
    };
    const web = await start({ offer, storedSnapshots: storedWith(load), declarations });
    const statuses = new Set<number>();
    for (let each = 0; each < 40; each += 1) {
      const id = each.toString(16).padStart(64, "0");
      statuses.add((await fetch(web.url + differenceOf(id))).status);
    }
    expect(statuses).toContain(429);
    expect(loads).toBeLessThanOrEqual(FREE_READ_LIMITS.perClientPerMinute);
  });

  it("every description names both parts of the price", async () => {
    const { get, url } = await start({ offer });
    const price = "$0.01, and $0.005 for each chain after the first";
    const read = async (path: string) => (await fetch(`${url}${path}`)).text();
    for (const path of ["/llms.txt", "/llms-full.txt", "/.well-known/x402.json"]) {
      expect(await read(path)).toContain(price);
    }
    expect(await read("/")).toMatch(
      /\$0\.01<\/strong> per snapshot and \$0\.005 for each chain after the first/,
    );
    const page = await (await get("", { accept: BROWSER })).text();
    expect(page).toContain(`the price: ${price}`);
    expect(page).toContain(
      '"prices":[{"amount":"10000","priceUsd":"0.01"},{"amount":"15000","priceUsd":"0.015"},',
    );
    const { paths } = JSON.parse(await read("/openapi.json"));
    expect(paths["/portfolio"].get["x-payment-info"].price).toEqual({
      ...{ mode: "dynamic", min: "0.01", max: "0.03", currency: "USD" },
    });
    expect(await read("/docs")).toContain("Costs $0.01 to $0.03 per request.");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const listed = await (await fetch(`${url}/mcp`, { method: "POST", headers, body })).text();
    expect(listed).toContain(`A call costs ${price}, by x402.`);
  });
});

describe("under too much load", () => {
  it("still names the price, and leaves a request with a payment to the sale, which may have its response", async () => {
    const load = new ReadLoad(new Map(), { runningMax: 10, waitingMax: 10 });
    const never = new Promise<void>(() => {});
    const { signal } = new AbortController();
    for (let each = 0; each < 2; each += 1) load.run(["base"], signal, () => never).catch(() => undefined);
    const { get, paid } = await start({ load });
    expect((await get(`?address=${WALLET}`)).status).toBe(402);
    expect((await get(`?address=${WALLET}`, PAID)).status).toBe(200);
    expect(paid).toHaveLength(1);
  });
});

describe("a browser", () => {
  it.each(["", `?address=${WALLET}`, "?address=nonsense&address=twice"])(
    "sends a browser without payment the page with 402 and the terms: %o",
    async (query) => {
      const { get } = await start();
      const response = await get(query, { accept: BROWSER });
      expect(response.status).toBe(402);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("payment-required")).not.toBeNull();
      expect(response.headers.get("vary")).toBe("accept");
      expect(response.headers.get("cache-control")).toBe("no-store");
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/script-src 'sha256-[^']+'/);
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const html = await response.text();
      expect(html).toMatch(/^<!doctype html>/);
      expect(html).not.toContain("nonsense");
    },
  );

  it("sends JSON to a browser that pays", async () => {
    const { get } = await start();
    const response = await get(`?address=${WALLET}`, { accept: BROWSER, ...PAID });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "application/json; charset=utf-8",
    ]);
  });

  it("lets a page of another origin send a payment and read the terms", async () => {
    const { url } = await start();
    const preflight = await fetch(`${url}/portfolio`, {
      method: "OPTIONS",
      headers: { origin: "https://elsewhere.example", "access-control-request-method": "GET" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("PAYMENT-SIGNATURE");
    const exposed = (await fetch(`${url}/portfolio`)).headers.get("access-control-expose-headers");
    expect(exposed).toContain("PAYMENT-REQUIRED, PAYMENT-RESPONSE");
  });
});

describe("a service with the development bypass", () => {
  it("responds without payment if the development bypass is on", async () => {
    const { get } = await start({ devBypass: true });
    const free = await get(`?address=${WALLET}`);
    expect([free.status, await free.json()]).toEqual([200, exampleSnapshot]);
    const invalid = await get("");
    expect([invalid.status, await invalid.json()]).toEqual([400, { error: "address is required." }]);
  });

  it("serves the page to a browser, without terms", async () => {
    const { get } = await start({ devBypass: true });
    const page = await get(`?address=${WALLET}`, { accept: BROWSER });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers.get("payment-required")).toBeNull();
  });
});

describe("a payment", () => {
  it("buys the snapshot for exactly this request", async () => {
    const { get, paid } = await start();
    const response = await get(`?address=${WALLET}`, PAID);
    expect([response.status, await response.json()]).toEqual([200, exampleSnapshot]);
    expect(decodeHeader(response.headers.get("payment-response")).transaction).toBe(TEST_TRANSACTION);
    await get(`?chains=ethereum,base&address=${WALLET.toLowerCase()}&spam=exclude`, PAID);
    const address = WALLET.toLowerCase();
    expect(paid.map(({ resource }) => resource)).toEqual([
      { method: "GET", path: "/portfolio", query: { address, chains: "base,ethereum" } },
      { method: "GET", path: "/portfolio", query: { address, chains: "ethereum,base", spam: "exclude" } },
    ]);
  });

  it("a paid snapshot excludes spam on request", async () => {
    const { get } = await start();
    const response = await get(`?address=${WALLET}&spam=exclude`, PAID);
    const { tokens, summary } = (await response.json()) as typeof exampleSnapshot;
    expect(tokens.map(({ symbol }) => symbol)).toEqual(["ETH", "USDC"]);
    expect(summary).toMatchObject({ tokenCount: 2, pricedTokenCount: 2, unpricedTokenCount: 0 });
    expect(summary.totalValueUsd).toBe(exampleSnapshot.summary.totalValueUsd);
  });

  it("responds with an error to a payment for a wallet that cannot be read", async () => {
    const read = async () => {
      throw new Fault("PROVIDER_FAILED", "The balances on Base could not be read in full.");
    };
    const { get } = await start({ snapshots: { read } });
    const response = await get(`?address=${WALLET}`, PAID);
    expect([response.status, response.headers.get("x-error-code")]).toEqual([500, "PROVIDER_FAILED"]);
    expect(await response.json()).toEqual({ error: "The balances on Base could not be read in full." });
  });
});

describe("a stored snapshot", () => {
  const ID = "ab".repeat(32);

  /** The sale reads the snapshot and then ends as given. */
  async function startSelling(end: (body: Buffer) => EndpointResponse) {
    const calls: string[] = [];
    const storedSnapshots: StoredSnapshots = {
      store: async (_, asOf) => {
        calls.push(`stored ${asOf}`);
        return ID;
      },
      markSold: async (wallet, id) => {
        calls.push(`sold ${wallet} ${id}`);
      },
      knownChainCount: () => undefined,
      load: () => Promise.reject(new Error("no difference here")),
    };
    const sale: Sale = {
      offer: TEST_OFFER,
      challenge: (resource) => paymentRequiredResponse(TEST_OFFER, resource, "Payment required."),
      serve: async (_, work) => {
        const { body } = await work(new AbortController().signal);
        return end(Buffer.from(JSON.stringify(body)));
      },
    };
    return { ...(await start({ storedSnapshots, sale })), calls };
  }

  it("records a snapshot as sold when it is delivered, also repeatedly", async () => {
    const { get, calls } = await startSelling((body) => ({ status: 200, body }));
    await get(`?address=${WALLET}`, PAID);
    await get(`?address=${WALLET}&block=base:1&fields=snapshotId`, PAID);
    // Without its id the buyer cannot name it.
    await get(`?address=${WALLET}&fields=address`, PAID);
    const sold = `sold ${WALLET.toLowerCase()} ${ID}`;
    expect(calls).toEqual(["stored false", sold, "stored true", sold, "stored false"]);
  });

  it.each([402, 503])("does not record a snapshot as sold if the payment ends with %i", async (status) => {
    const { get, calls } = await startSelling(() => ({ status, body: { error: "not settled" } }));
    expect((await get(`?address=${WALLET}`, PAID)).status).toBe(status);
    expect(calls).toEqual(["stored false"]);
  });
});
