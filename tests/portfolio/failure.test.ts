// Failures are never charged: a clear error, and the same signature works once the service recovers.

import { createHttpRpcRequest } from "@sextant/contracts/deploy/rpc-request";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { NodeRpcCall } from "../support/nodes/node-faults.ts";
import { readChallenge, signChallenge, TEST_MPP_KEY } from "../support/payments/mpp-client.ts";
import { fetchWithPayment, signPaymentFor, waitFor } from "../support/payments/paid-client.ts";
import { FailingService, type FaultPlan, hasMethod, isScan } from "./failing-service.ts";

let failing: FailingService;

beforeAll(async () => {
  failing = await FailingService.open();
});
afterEach(() => failing.mend());
afterAll(() => failing?.close());

/** Also inside a multicall. */
const includesCall = (calls: readonly NodeRpcCall[], selector: string) =>
  JSON.stringify(calls).includes(selector);

const NODE_FAILURES: readonly (readonly [string, FaultPlan])[] = [
  ["is dead", () => ({ kind: "reset" })],
  [
    "fails at the balances",
    (calls) => (hasMethod(calls, "eth_getBalance") ? { kind: "status", status: 503 } : null),
  ],
  ["returns an invalid scan", (calls) => (calls.some(isScan) ? { kind: "garbage" } : null)],
];

describe("one chain that cannot be read", () => {
  it.each(NODE_FAILURES)(
    "responds with 500 without a charge if a node %s, and the signature works afterwards",
    (_, plan) => failing.expectNodeFailureFree(plan),
  );

  it("a chain that cannot be read does not affect a request for another chain", async () => {
    failing.stage.ethereum.plan = () => ({ kind: "reset" });
    expect((await failing.buySnapshot(`${failing.newRequest()}&chains=base`)).chains).toEqual(["base"]);
  });

  it("responds with 500 without a charge if a node serves another chain", async () => {
    const { url: origin, close } = await failing.stage.serve({ nodesMixedUp: true });
    const payer = await failing.stage.paid.payer();
    const url = `${origin}/portfolio?address=${numberedAddress(0xc4a1)}&chains=ethereum`;
    const { header } = await signPaymentFor(url, payer, failing.stage.paid.asset);
    const failed = await fetchWithPayment(url, header);
    expect([failed.status, await failed.json()]).toEqual([
      500,
      { error: "The balances on Ethereum (local) could not be read in full." },
    ]);
    await failing.expectUncharged(payer);
    await close();
  });

  it("an error reveals nothing about the node", async () => {
    const payer = await failing.stage.paid.payer();
    const url = failing.newRequest();
    const { header } = await signPaymentFor(url, payer, failing.stage.paid.asset);
    failing.stage.base.plan = () => ({ kind: "status", status: 401, body: "bad key: hunter2" });
    const text = await (await fetchWithPayment(url, header)).text();
    expect(text).not.toMatch(/hunter2|127\.0\.0\.1|http:/);
  });
});

describe("missing data other than balances", () => {
  it("returns null for prices that cannot be read, with a warning", async () => {
    // No other wallet has asked at this block.
    await createHttpRpcRequest(failing.stage.base.rpcUrl)("evm_mine");
    // latestRoundData(), which is only called on feeds.
    failing.stage.base.plan = (calls) =>
      includesCall(calls, "feaf968c") ? { kind: "status", status: 500 } : null;
    const { tokens, summary, positions } = await failing.buySnapshot(failing.payerRequest("base"));
    expect(tokens.length).toBe(3);
    for (const { priceUsd, valueUsd, priceSource, spam } of tokens)
      expect([priceUsd, valueUsd, priceSource, spam]).toEqual([null, null, null, false]);
    expect(positions.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["supplied", "borrowed", "vault"]),
    );
    expect(positions.every(({ valueUsd }) => valueUsd === null)).toBe(true);
    expect(summary).toMatchObject({ totalValueUsd: null, stablecoinValueUsd: null, unpricedTokenCount: 3 });
    expect(summary.topHoldings).toEqual([]);
    expect(summary.warnings).toContain(
      "Prices from chainlink are missing on Base (local): the source failed or timed out.",
    );
  });

  it("lists shares as a token, with a warning, when positions cannot be read", async () => {
    // No other wallet has asked at this block.
    await createHttpRpcRequest(failing.stage.base.rpcUrl)("evm_mine");
    // asset(), which is only called on vaults.
    failing.stage.base.plan = (calls) =>
      includesCall(calls, "38d52e0f") ? { kind: "status", status: 500 } : null;
    const { tokens, positions, summary } = await failing.buySnapshot(failing.payerRequest("base,eth"));
    const vaults = positions.filter(({ kind }) => kind === "vault");
    expect(vaults.map(({ chain }) => chain)).toEqual(["ethereum"]);
    expect(tokens.filter(({ symbol }) => symbol === "vUSDC")).toMatchObject([
      { chain: "base", balance: "400", valueUsd: null, spam: false },
    ]);
    expect(summary.warnings).toContain(
      "Positions in erc-4626 are missing on Base (local): they could not be read.",
    );
  });

  it("returns no activity, with a warning, when logs cannot be read", async () => {
    failing.stage.ethereum.plan = (calls) =>
      hasMethod(calls, "eth_getLogs")
        ? { kind: "member-error", code: -32601, message: "no logs here" }
        : null;
    const { tokens, recentActivity, summary } = await failing.buySnapshot(failing.payerRequest("ethereum"));
    expect(tokens.length).toBe(3);
    expect(recentActivity).toEqual([]);
    expect(summary.warnings).toEqual(
      expect.arrayContaining([
        "Ethereum (local): outgoing token transfers could not be read; recent activity lacks them.",
        expect.stringMatching(/^Ethereum \(local\): incoming token transfers could not be read;/),
      ]),
    );
  });
});

describe("a database that is cut off", () => {
  it("responds with 503 without a charge while the database is cut off, and recovers by itself", () =>
    failing.expectDatabaseFailureFree("cut"));
});

describe("a snapshot that takes longer than the request timeout", () => {
  it.each(["PAYMENT-SIGNATURE", "Authorization"])(
    "charges once for a snapshot slower than the timeout, and returns it for the same %s",
    async (name) => {
      const { paid, serve } = failing.stage;
      // Clients find both processes at one address, the realm of their challenges.
      const environment = { PAYMENT_MPP_KEY: TEST_MPP_KEY, PORTFOLIO_PUBLIC_URL: "https://sold.example" };
      const patient = await serve({ environment });
      const impatient = await serve({ environment, requestMsMax: 25 });
      const payer = await paid.payer();
      const request = failing.newRequest().replace(failing.service.url, "");
      const url = patient.url + request;
      const sent =
        name === "Authorization"
          ? await signChallenge(await readChallenge(url), payer)
          : (await signPaymentFor(url, payer, paid.asset)).header;
      const send = (target: string) => fetch(target, { headers: { [name]: sent } });
      const early = await send(impatient.url + request);
      expect([early.status, early.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
      expect(early.headers.get("retry-after")).toBe("2");
      expect(((await early.json()) as { error: string }).error).toContain("the same signature again");
      await waitFor(async () => (await send(url)).status === 200);
      await failing.expectChargedOnce(payer);
      await impatient.close();
      await patient.close();
    },
  );
});
