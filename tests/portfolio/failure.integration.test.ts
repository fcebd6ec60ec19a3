// Failures are never charged: more ways in which a node or the database fails, and many payers at once, over three chains.
// In main, tests/portfolio/failure.test.ts fails for the same rules: "responds with 500 without a charge if a node is dead,
// and the signature works afterwards" and "responds with 503 without a charge while the database is cut off, and recovers
// by itself". A read that requests share is in src/portfolio/coalesce-snapshots.test.ts, Multicall3 in
// src/portfolio/providers/rpc/provider.test.ts.

import type { Hex, PrivateKeyAccount } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { PortfolioSnapshot } from "../../src/schema/portfolio/snapshot.ts";
import type { NodeFaultInjection, NodeRpcCall } from "../support/nodes/node-faults.ts";
import { fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { TEST_PRICE } from "../support/payments/paid-stage.ts";
import { FailingService, type FaultPlan, hasMethod, isScan } from "./failing-service.ts";
import { openPayingClient } from "./service-stage.ts";

let failing: FailingService;

beforeAll(async () => {
  failing = await FailingService.open();
});
afterEach(() => failing.mend());
afterAll(() => failing?.close());

const NODE_FAILURES: readonly (readonly [string, FaultPlan])[] = [
  ["returns a gateway's error page", () => ({ kind: "page" })],
  ["dies once the block is pinned", (calls) => (hasMethod(calls, "eth_call") ? { kind: "reset" } : null)],
  [
    "returns an invalid balance",
    (calls) => (hasMethod(calls, "eth_getBalance") ? { kind: "garbage" } : null),
  ],
  ["truncates its responses", (calls) => (calls.some(isScan) ? { kind: "truncated" } : null)],
  [
    "does not have the block",
    (calls) => (hasMethod(calls, "eth_getBlockByNumber") ? { kind: "null-result" } : null),
  ],
];

describe("one chain that cannot be read", () => {
  it.each(NODE_FAILURES)(
    "responds with 500 without a charge if a node %s, and the signature works afterwards",
    (_, plan) => failing.expectNodeFailureFree(plan),
  );
});

describe("a node", () => {
  it("reads the same by Multicall3 on a node without state overrides", async () => {
    const rejectOverrides = (calls: readonly NodeRpcCall[]): NodeFaultInjection | null =>
      calls.some(isScan)
        ? { kind: "error", code: -32602, message: "too many arguments, want at most 2" }
        : null;
    const scanned = await failing.buySnapshot(failing.payerRequest("eth,base"));
    failing.stage.base.plan = rejectOverrides;
    failing.stage.ethereum.plan = rejectOverrides;
    const other = await failing.stage.serve();
    const { snapshot } = await openPayingClient(failing.stage);
    const { address } = failing.stage.paid.chain.accounts.payer;
    const multicall = await snapshot(other.url, `address=${address}&chains=eth,base`);
    expect(multicall.tokens).toEqual(scanned.tokens);
    expect(multicall.summary.totalValueUsd).toBe(scanned.summary.totalValueUsd);
    await other.close();
  });
});

describe("a database that is silent", () => {
  it("responds with 503 without a charge while the database is silent, and recovers by itself", () =>
    failing.expectDatabaseFailureFree("silence"));
});

describe("concurrent requests", () => {
  const countRequests = () =>
    [failing.stage.base, failing.stage.ethereum].map(({ node }) => node.requests.length);

  it("requests for the same wallet share one read, and each pays", async () => {
    await failing.buySnapshot(failing.newRequest());
    const before = countRequests();
    await failing.buySnapshot(failing.newRequest());
    const alone = countRequests().map((count, i) => count - (before[i] ?? 0));
    expect(Math.max(...alone)).toBeLessThanOrEqual(10);

    const url = failing.newRequest();
    const payers = [
      await failing.stage.paid.payer(),
      await failing.stage.paid.payer(),
      await failing.stage.paid.payer(),
    ];
    const signed = await Promise.all(
      payers.map((payer) => signPaymentFor(url, payer, failing.stage.paid.asset)),
    );
    const start = countRequests();
    const responses = await Promise.all(signed.map(({ header }) => fetchWithPayment(url, header)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(countRequests().map((count, i) => count - (start[i] ?? 0))).toEqual(alone);
    for (const payer of payers) await failing.expectChargedOnce(payer);
  });

  it("requests of many payers are all served, and each is charged once", {
    timeout: 60_000,
  }, async () => {
    const payers: PrivateKeyAccount[] = [];
    for (let i = 0; i < 20; i += 1) payers.push(await failing.stage.paid.payer());
    const before = await failing.stage.paid.balance(failing.stage.paid.payTo as Hex);
    const orders = payers.map((payer) => ({ payer, url: failing.newRequest() }));
    const signed = await Promise.all(
      orders.map(async ({ payer, url }) => ({
        url,
        ...(await signPaymentFor(url, payer, failing.stage.paid.asset)),
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
    expect(await failing.stage.paid.balance(failing.stage.paid.payTo as Hex)).toBe(
      before + BigInt(payers.length) * TEST_PRICE,
    );
    for (const payer of payers) await failing.expectChargedOnce(payer);
  });
});
