// Failures are never charged: a clear error, and the same signature works once the service recovers.

import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import type { Hex, PrivateKeyAccount } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { PortfolioSnapshot } from "../../src/portfolio/snapshot-types.ts";
import { openBreakableConnection } from "../support/database/breakable-connection.ts";
import { createMigratedDatabase } from "../support/database/test-database.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import type { NodeFaultInjection, NodeRpcCall } from "../support/nodes/node-faults.ts";
import { fetchWithPayment, signPaymentFor, waitFor } from "../support/payments/paid-client.ts";
import { TEST_PRICE } from "../support/payments/paid-stage.ts";
import { runsOf } from "../support/test-depth.ts";
import {
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

let stage: ServiceStage;
let service: PortfolioService;
let wallets = 0xfa11;

beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
});

afterEach(() => {
  stage.base.plan = () => null;
  stage.ethereum.plan = () => null;
});

afterAll(async () => {
  await stage?.close();
});

/** A URL with a new wallet, so that no cached snapshot serves it. */
function newRequest(): string {
  wallets += 1;
  return `${service.url}/portfolio?address=${numberedAddress(wallets)}`;
}

/** A URL for a wallet with tokens and positions; each test uses another order of chains, so that none is cached. */
function payerRequest(chains: string): string {
  return `${service.url}/portfolio?address=${stage.paid.chain.accounts.payer.address}&chains=${chains}`;
}

async function expectUncharged({ address }: PrivateKeyAccount): Promise<void> {
  expect(await stage.paid.balance(address)).toBe(1_000_000n);
  expect(await stage.paid.transfersFrom(address)).toEqual([]);
}

async function expectChargedOnce({ address }: PrivateKeyAccount): Promise<void> {
  expect(await stage.paid.balance(address)).toBe(1_000_000n - TEST_PRICE);
  expect((await stage.paid.transfersFrom(address)).length).toBe(1);
}

async function buySnapshot(url: string): Promise<PortfolioSnapshot> {
  const { fetch } = await openPayingClient(stage);
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return (await response.json()) as PortfolioSnapshot;
}

const has = (calls: readonly NodeRpcCall[], ...methods: readonly string[]) =>
  calls.some(({ method }) => methods.includes(method));
/** Also inside a multicall. */
const includesCall = (calls: readonly NodeRpcCall[], selector: string) =>
  JSON.stringify(calls).includes(selector);
/** The balance scan; all earlier requests succeed. */
const isScan = ({ method, params }: NodeRpcCall) => method === "eth_call" && params.length > 2;

const NODE_FAILURES: readonly (readonly [
  string,
  (calls: readonly NodeRpcCall[]) => NodeFaultInjection | null,
])[] = [
  ["is dead", () => ({ kind: "reset" })],
  ["returns a gateway's error page", () => ({ kind: "page" })],
  ["dies once the block is pinned", (calls) => (has(calls, "eth_call") ? { kind: "reset" } : null)],
  [
    "fails at the balances",
    (calls) => (has(calls, "eth_getBalance") ? { kind: "status", status: 503 } : null),
  ],
  ["returns an invalid balance", (calls) => (has(calls, "eth_getBalance") ? { kind: "garbage" } : null)],
  ["returns an invalid scan", (calls) => (calls.some(isScan) ? { kind: "garbage" } : null)],
  ["truncates its responses", (calls) => (calls.some(isScan) ? { kind: "truncated" } : null)],
  [
    "does not have the block",
    (calls) => (has(calls, "eth_getBlockByNumber") ? { kind: "null-result" } : null),
  ],
];

describe("one chain that cannot be read", () => {
  it.each(NODE_FAILURES)(
    "because its node %s: 500, no charge, and the same signature works afterwards",
    async (_, plan) => {
      const payer = await stage.paid.payer();
      const url = newRequest();
      const { header } = await signPaymentFor(url, payer, stage.paid.asset);
      stage.ethereum.plan = plan;
      const failed = await fetchWithPayment(url, header);
      expect([failed.status, failed.headers.get("x-error-code")]).toEqual([500, "PROVIDER_FAILED"]);
      expect(await failed.json()).toEqual({
        error: "The balances on Ethereum (local) could not be read in full.",
      });
      expect(failed.headers.get("payment-response")).toBeNull();
      await expectUncharged(payer);

      stage.ethereum.plan = () => null;
      const responses = [await fetchWithPayment(url, header), await fetchWithPayment(url, header)];
      expect(responses.map(({ status }) => status)).toEqual([200, 200]);
      const [first, again] = await Promise.all(responses.map((response) => response.text()));
      expect(again).toBe(first);
      await expectChargedOnce(payer);
    },
  );

  it("does not affect a request for the other one", async () => {
    stage.ethereum.plan = () => ({ kind: "reset" });
    expect((await buySnapshot(`${newRequest()}&chains=base`)).chains).toEqual(["base"]);
  });

  it("because its node serves another chain: 500, no charge", async () => {
    const { url: origin, close } = await stage.serve({ nodesMixedUp: true });
    const payer = await stage.paid.payer();
    const url = `${origin}/portfolio?address=${numberedAddress(0xc4a1)}&chains=ethereum`;
    const { header } = await signPaymentFor(url, payer, stage.paid.asset);
    const failed = await fetchWithPayment(url, header);
    expect([failed.status, await failed.json()]).toEqual([
      500,
      { error: "The balances on Ethereum (local) could not be read in full." },
    ]);
    await expectUncharged(payer);
    await close();
  });

  it("reveals nothing about the node", async () => {
    const payer = await stage.paid.payer();
    const url = newRequest();
    const { header } = await signPaymentFor(url, payer, stage.paid.asset);
    stage.base.plan = () => ({ kind: "status", status: 401, body: "bad key: hunter2" });
    const text = await (await fetchWithPayment(url, header)).text();
    expect(text).not.toMatch(/hunter2|127\.0\.0\.1|http:/);
  });
});

describe("missing data other than balances", () => {
  it("prices: null, with a warning", async () => {
    // latestRoundData(), which is only called on feeds.
    stage.base.plan = (calls) => (includesCall(calls, "feaf968c") ? { kind: "status", status: 500 } : null);
    const { tokens, summary, positions } = await buySnapshot(payerRequest("base"));
    expect(tokens.length).toBe(3);
    for (const { priceUsd, valueUsd, priceSource, spam } of tokens)
      expect([priceUsd, valueUsd, priceSource, spam]).toEqual([null, null, null, false]);
    expect(positions.map(({ valueUsd }) => valueUsd)).toEqual([null]);
    expect(summary).toMatchObject({ totalValueUsd: null, stablecoinValueUsd: null, unpricedTokenCount: 3 });
    expect(summary.topHoldings).toEqual([]);
    expect(summary.warnings).toContain(
      "Prices from chainlink are missing on Base (local): the source failed or timed out.",
    );
  });

  it("positions: shares are listed as a token, with a warning", async () => {
    // asset(), which is only called on vaults.
    stage.base.plan = (calls) => (includesCall(calls, "38d52e0f") ? { kind: "status", status: 500 } : null);
    const { tokens, positions, summary } = await buySnapshot(payerRequest("base,eth"));
    expect(positions.map(({ chain }) => chain)).toEqual(["ethereum"]);
    expect(tokens.filter(({ symbol }) => symbol === "vUSDC")).toMatchObject([
      { chain: "base", balance: "400", valueUsd: null, spam: false },
    ]);
    expect(summary.warnings).toContain(
      "Positions in erc-4626 are missing on Base (local): they could not be read.",
    );
  });

  it("activity: none, with a warning", async () => {
    stage.ethereum.plan = (calls) =>
      has(calls, "eth_getLogs") ? { kind: "member-error", code: -32601, message: "no logs here" } : null;
    const { tokens, recentActivity, summary } = await buySnapshot(payerRequest("ethereum"));
    expect(tokens.length).toBe(3);
    expect(recentActivity).toEqual([]);
    expect(summary.warnings).toEqual(
      expect.arrayContaining([
        "Ethereum (local): outgoing token transfers could not be read; recent activity lacks them.",
        expect.stringMatching(/^Ethereum \(local\): incoming token transfers could not be read;/),
      ]),
    );
  });

  it("state overrides: Multicall3 reads the same", async () => {
    const rejectOverrides = (calls: readonly NodeRpcCall[]): NodeFaultInjection | null =>
      calls.some(isScan)
        ? { kind: "error", code: -32602, message: "too many arguments, want at most 2" }
        : null;
    const scanned = await buySnapshot(payerRequest("eth,base"));
    stage.base.plan = rejectOverrides;
    stage.ethereum.plan = rejectOverrides;
    const other = await stage.serve();
    const { snapshot } = await openPayingClient(stage);
    const { address } = stage.paid.chain.accounts.payer;
    const multicall = await snapshot(other.url, `address=${address}&chains=eth,base`);
    expect(multicall.tokens).toEqual(scanned.tokens);
    expect(multicall.summary.totalValueUsd).toBe(scanned.summary.totalValueUsd);
    await other.close();
  });
});

describe("the database", () => {
  it.each(["cut", "silence"] as const)(
    "%s: 503 and no charge, and the service recovers by itself",
    async (damage) => {
      const testDatabase = await createMigratedDatabase();
      const connection = await openBreakableConnection(testDatabase.connection);
      const database = await openTestConnection(connection.connection);
      const { url: origin, close } = await stage.serve({ database, requestMsMax: 1_500 });
      const payer = await stage.paid.payer();
      const url = `${origin}/portfolio?address=${numberedAddress(0xdb)}`;
      const { header } = await signPaymentFor(url, payer, stage.paid.asset);

      connection[damage]();
      const failed = await fetchWithPayment(url, header);
      expect(failed.status).toBe(503);
      expect(failed.headers.get("x-error-code")).toMatch(/^DATABASE_|^PAYMENT_PENDING$/);
      const body = (await failed.json()) as { error: string };
      expect(Object.keys(body)).toEqual(["error"]);
      expect(body.error).not.toMatch(/127\.0\.0\.1|postgres:|DATABASE_URL/);
      expect((await fetch(`${origin}/health`)).status).toBe(200);
      expect((await fetch(url)).status).toBe(402);
      await expectUncharged(payer);

      connection.mend();
      await waitFor(async () => (await fetchWithPayment(url, header)).status === 200);
      await expectChargedOnce(payer);
      await close();
      await database.close();
      await connection.close();
      await testDatabase.drop();
    },
  );
});

describe("a snapshot that takes longer than the request timeout", () => {
  it("is paid once and returned for the same signature", async () => {
    const impatient = await stage.serve({ requestMsMax: 25 });
    const payer = await stage.paid.payer();
    const url = newRequest();
    const { header } = await signPaymentFor(url, payer, stage.paid.asset);
    const early = await fetchWithPayment(url.replace(service.url, impatient.url), header);
    expect([early.status, early.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
    expect(early.headers.get("retry-after")).toBe("2");
    expect(((await early.json()) as { error: string }).error).toContain("the same signature again");
    await waitFor(async () => (await fetchWithPayment(url, header)).status === 200);
    await expectChargedOnce(payer);
    await impatient.close();
  });
});

describe("concurrent requests", () => {
  const countRequests = () => [stage.base, stage.ethereum].map(({ node }) => node.requests.length);

  it("for the same wallet share one read, and each pays", async () => {
    await buySnapshot(newRequest());
    const before = countRequests();
    await buySnapshot(newRequest());
    const alone = countRequests().map((count, i) => count - (before[i] ?? 0));
    expect(Math.max(...alone)).toBeLessThanOrEqual(10);

    const url = newRequest();
    const payers = [await stage.paid.payer(), await stage.paid.payer(), await stage.paid.payer()];
    const signed = await Promise.all(payers.map((payer) => signPaymentFor(url, payer, stage.paid.asset)));
    const start = countRequests();
    const responses = await Promise.all(signed.map(({ header }) => fetchWithPayment(url, header)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(countRequests().map((count, i) => count - (start[i] ?? 0))).toEqual(alone);
    for (const payer of payers) await expectChargedOnce(payer);
  });

  it("of many payers are all served, and each is charged once", {
    timeout: 60_000,
  }, async () => {
    const payers: PrivateKeyAccount[] = [];
    for (let i = 0; i < runsOf(20); i += 1) payers.push(await stage.paid.payer());
    const before = await stage.paid.balance(stage.paid.payTo as Hex);
    const orders = payers.map((payer) => ({ payer, url: newRequest() }));
    const signed = await Promise.all(
      orders.map(async ({ payer, url }) => ({
        url,
        ...(await signPaymentFor(url, payer, stage.paid.asset)),
      })),
    );
    const responses = await Promise.all(signed.map(({ url, header }) => fetchWithPayment(url, header)));
    expect(responses.map(({ status }) => status)).toEqual(payers.map(() => 200));
    const snapshots = (await Promise.all(
      responses.map((response) => response.json()),
    )) as PortfolioSnapshot[];
    expect(snapshots.map(({ address }) => address)).toEqual(
      orders.map(({ url }) => new URL(url).searchParams.get("address")),
    );
    expect(await stage.paid.balance(stage.paid.payTo as Hex)).toBe(
      before + BigInt(payers.length) * TEST_PRICE,
    );
    for (const payer of payers) await expectChargedOnce(payer);
  });
});
