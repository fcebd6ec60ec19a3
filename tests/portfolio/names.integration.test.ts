// Names in place of addresses, at the whole service: redirected before the price, paid by stock clients, bounded in cost.
// In main, src/portfolio/names/*.test.ts fail for the same broken rules of names.
import { encodeAbiParameters, type Hex, numberToHex, pad } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FREE_READ_LIMITS } from "../../src/portfolio/free-reads.ts";
import { WALLET_ROUTES } from "../../src/portfolio/http/routes/paid-routes.ts";
import { fixedReturnCode } from "../support/chain/fixed-return-contract.ts";
import {
  fetchWithCredential,
  readChallenge,
  signChallenge,
  TEST_MPP_KEY,
} from "../support/payments/mpp-client.ts";
import { decodeBase64Header, fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import {
  callNode,
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
  type StagedMarket,
} from "./service-stage.ts";

const WALLET: Hex = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const OTHER: Hex = "0x00000000000000000000000000000000000000bb";
const ENS: Hex = "0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e";
const BASENAMES: Hex = "0xb94704422c2a1e396835a571837aa5ae53285a95";
const RESOLVER: Hex = numberToHex(0x4e5, { size: 20 });
const word = (value: Hex) => pad(value, { size: 32 });
/** Reverts with OffchainLookup of EIP-3668, without its arguments. */
const OFFCHAIN: Hex = "0x63556f18306000526004601cfd";

let stage: ServiceStage;
let service: PortfolioService;
beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
});
afterAll(() => stage?.close());

async function place(market: StagedMarket, registry: Hex, resolver: Hex | null) {
  const found = fixedReturnCode({ "resolver(bytes32)": word(resolver === null ? "0x0" : RESOLVER) });
  await callNode(market, "hardhat_setCode", [registry, found]);
  await callNode(market, "hardhat_setCode", [RESOLVER, resolver ?? "0x"]);
}
const leadsTo = (wallet: Hex) => fixedReturnCode({ "addr(bytes32)": word(wallet) });
const nameOnEthereum = (wallet: Hex) => place(stage.ethereum, ENS, leadsTo(wallet));

const request = (path: string, init: RequestInit = {}) =>
  fetch(service.url + path, { redirect: "manual", ...init });

async function readError(response: Response) {
  return [response.status, ((await response.json()) as { error: string }).error];
}

describe("a name in place of an address", () => {
  it.each(WALLET_ROUTES.map(({ path }) => path))(
    "redirects a name to its address before it names the price: %s",
    async (path) => {
      await nameOnEthereum(WALLET);
      const from = "from=base%3A1&chains=base";
      const response = await request(`${path}?address=alice.eth&${from}`);
      const location = `${path}?address=${WALLET}&${from}`;
      expect([response.status, response.headers.get("location")]).toEqual([307, location]);
      expect(await response.json()).toEqual({ name: "alice.eth", address: WALLET, location });
      expect(response.headers.get("cache-control")).toBe("no-store");
      const priced = await request(location);
      expect(priced.status).toBe(402);
      const { resource } = decodeBase64Header<{ resource: { url: string } }>(priced, "payment-required");
      expect(resource.url).toContain(`address=${WALLET}`);
    },
  );

  it("reads a name under base.eth on Base", async () => {
    await nameOnEthereum(OTHER);
    await place(stage.base, BASENAMES, leadsTo(WALLET));
    const response = await request("/portfolio?chains=base&address=Alice.Base.ETH");
    expect(response.headers.get("location")).toBe(`/portfolio?chains=base&address=${WALLET}`);
  });

  it("leads a browser to the page by address, and to the page itself if the name leads nowhere", async () => {
    await nameOnEthereum(WALLET);
    const headers = { accept: "text/html" };
    const named = await request("/exposure?address=bob.eth", { headers });
    expect([named.status, named.headers.get("location")]).toEqual([307, `/exposure?address=${WALLET}`]);
    await place(stage.ethereum, ENS, null);
    const page = await request("/exposure?address=unregistered.eth", { headers });
    expect([page.status, page.headers.get("content-type")]).toEqual([402, "text/html; charset=utf-8"]);
  });

  it("the stock client pays once for a name, and gets the response of its address", async () => {
    await nameOnEthereum(WALLET);
    const { account, fetch: pay } = await openPayingClient(stage);
    const response = await pay(`${service.url}/portfolio?address=carol.eth&chains=base`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ address: WALLET });
    expect(await stage.paid.transfersFrom(account.address)).toHaveLength(1);
  });

  it("responds with 409 without a charge if a name has changed since the payment was signed", async () => {
    await nameOnEthereum(WALLET);
    const account = await stage.paid.payer();
    const path = "/portfolio?address=dave.eth&chains=base";
    const { header } = await signPaymentFor(service.url + path, account, stage.paid.asset);
    await nameOnEthereum(OTHER);
    // This process still has the old address; one that starts now reads the new one.
    const environment = { PAYMENT_MPP_KEY: TEST_MPP_KEY, PORTFOLIO_PUBLIC_URL: "https://sold.example" };
    const later = await stage.serve({ environment });
    const byAddress = `${later.url}/portfolio?address=${WALLET}&chains=base`;
    const credential = await signChallenge(await readChallenge(byAddress), account);
    for (const response of [
      await fetchWithPayment(later.url + path, header),
      await fetchWithCredential(later.url + path, credential),
    ]) {
      expect(response.headers.get("x-error-code")).toBe("PAYMENT_CONFLICT");
      expect(await readError(response)).toEqual([
        409,
        expect.stringContaining(`signed for ${WALLET}, and dave.eth now leads to ${OTHER}`),
      ]);
    }
    expect(await stage.paid.transfersFrom(account.address)).toEqual([]);
    expect((await fetchWithPayment(byAddress, header)).status).toBe(200);
  });
});

describe("a payment by name that does not say what it was signed for", () => {
  it.each([
    ["no resource", undefined],
    ["a resource without an address", { url: "/portfolio" }],
    ["a resource that is not a URL", { url: 5 }],
  ])("is never redirected: %s", async (_, resource) => {
    await nameOnEthereum(WALLET);
    const account = await stage.paid.payer();
    const path = "/portfolio?address=erin.eth&chains=base";
    const { header } = await signPaymentFor(service.url + path, account, stage.paid.asset);
    const payment = JSON.parse(Buffer.from(header, "base64").toString()) as Record<string, unknown>;
    const stripped = Buffer.from(JSON.stringify({ ...payment, resource })).toString("base64");
    await nameOnEthereum(OTHER);
    const later = await stage.serve();
    for (const { url } of [service, later]) {
      const response = await fetchWithPayment(url + path, stripped);
      expect([response.status, response.headers.get("x-error-code")]).toEqual([409, "PAYMENT_CONFLICT"]);
      expect(await response.text()).toMatch(/does not say which address it was signed for/);
    }
    expect(await stage.paid.transfersFrom(account.address)).toEqual([]);
    const byAddress = `${later.url}/portfolio?address=${WALLET}&chains=base`;
    expect((await fetchWithPayment(byAddress, stripped)).status).toBe(200);
    await later.close();
  });
});

describe("a name without an address", () => {
  const extended = encodeAbiParameters([{ type: "bool" }], [true]);
  it.each([
    ["no-resolver.eth", null, 404, /no-resolver\.eth leads to no address: it has no resolver in ENS/],
    ["no-record.eth", fixedReturnCode({}), 404, /its resolver in ENS on Ethereum gives none/],
    ["zero.eth", leadsTo("0x0"), 404, /gives none/],
    ["burner.eth", "0x5b600056", 404, /gives none/],
    [
      "wildcard.cb.id",
      fixedReturnCode({ "supportsInterface(bytes4)": extended }),
      400,
      /server \(CCIP-Read\) or a wildcard/,
    ],
    ["server.eth", OFFCHAIN, 404, /\(CCIP-Read\) is not followed/],
  ] as const)(
    "rejects the name %s with an error that says what was tried",
    async (name, resolver, status, message) => {
      await place(stage.ethereum, ENS, resolver);
      const response = await request(`/portfolio?address=${name}`);
      expect(await readError(response)).toEqual([status, expect.stringMatching(message)]);
    },
  );

  it.each([
    ["hidden characters", "ali%E2%80%8Dce.eth"],
    ["mixed scripts", "%D0%B0lice.eth"],
    ["an empty label", "a..eth"],
    ["more bytes than DNS allows", `${"a".repeat(260)}.eth`],
    ["more labels than any name has", `${"a.".repeat(60)}eth`],
    ["a space", "a%20b.eth"],
    ["an encoded label", "xn--a.eth"],
  ])("sends no call to a node for a name that has %s", async (_, name) => {
    const before = stage.ethereum.node.requests.length;
    expect((await request(`/portfolio?address=${name}`)).status).toBe(400);
    expect(stage.ethereum.node.requests.length).toBe(before);
  });
});

it("a client costs a bounded number of calls, however many names it sends", async () => {
  await nameOnEthereum(WALLET);
  const flooded = await stage.serve();
  const before = stage.ethereum.node.requests.length;
  const statuses = new Map<number, number>();
  const send = async (index: number) => {
    const response = await fetch(`${flooded.url}/portfolio?address=n${index}.eth`, { redirect: "manual" });
    await response.arrayBuffer();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  };
  for (let start = 0; start < 5 * FREE_READ_LIMITS.perClientPerMinute; start += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => send(start + index)));
  }
  expect([...statuses.keys()].sort()).toEqual([307, 429, 503]);
  // A minute's worth, and what is refilled while the test runs.
  const resolved = statuses.get(307) ?? 0;
  expect(resolved).toBeGreaterThan(5);
  expect(resolved).toBeLessThan(FREE_READ_LIMITS.perClientPerMinute * 2);
  // The first asks the node for its chain.
  expect(stage.ethereum.node.requests.length - before).toBeLessThanOrEqual(1 + resolved * 3);
  // Addresses are not limited by it.
  expect((await fetch(`${flooded.url}/portfolio?address=${WALLET}`)).status).toBe(402);
}, 30_000);

it("a name is read once for requests that come together, and not again for those after", async () => {
  await nameOnEthereum(WALLET);
  const before = stage.ethereum.node.requests.length;
  const get = () => request("/portfolio?address=shared.eth");
  const responses = await Promise.all(Array.from({ length: 20 }, get));
  expect(new Set([...responses, await get()].map(({ status }) => status))).toEqual(new Set([307]));
  expect(stage.ethereum.node.requests.length - before).toBe(3);
});
