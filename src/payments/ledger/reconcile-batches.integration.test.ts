// Reconciliation of many payments: by block instead of by row, all unfinished ones in one run, and only those of our network.
// Fast tests of the same rules, with single payments: reconcile.test.ts.

import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FaultyNode, startFaultyNode } from "../../../tests/support/nodes/faulty-node.ts";
import { openPaidBackend, type PaidBackend } from "../../../tests/support/payments/paid-backend.ts";
import { fetchWithPayment, signPaymentFor } from "../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../../../tests/support/payments/paid-stage.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { createRpc } from "../../chain/rpc/client.ts";
import { Secret } from "../../lib/secret.ts";
import { FacilitatorUnavailableError } from "../facilitator/facilitator.ts";
import type { GateLimits } from "../paywall/limits.ts";
import { createSettlementLookup } from "../settlement/onchain.ts";

let backend: PaidBackend;
let stage: PaidStage;
/** An honest node that counts requests. */
let counting: FaultyNode;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  backend = await openPaidBackend();
});
afterAll(() => backend.close());
beforeEach(async () => {
  stage = await openPaidStage("in process", backend);
  counting = await startFaultyNode({ upstream: stage.chain.rpcUrl, plan: () => null });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await counting.stop();
  await stage.close();
});

function chainAt(url: string) {
  const rpc = createRpc({ urls: [new Secret(url)], log: silentLog, onCall: null });
  closing.push(() => rpc.close());
  return createSettlementLookup(rpc, { finalityDepth: 32, finalityDepthMin: 0 });
}

const serve = (limits: Partial<GateLimits> = {}) => stage.serve({ chain: chainAt(counting.url), limits });

/** Sells so many times, each to a payer of its own; sends a signature again while its payment is pending, as clients do. */
async function sell(url: string, payments: number, status = 200): Promise<void> {
  const payers = [];
  for (let i = 0; i < payments; i += 1) payers.push(await stage.payer());
  const all = payers.map(async (payer, i) => {
    const target = `${url}/paid?q=${i}`;
    const { header } = await signPaymentFor(target, payer, stage.asset);
    let response = await fetchWithPayment(target, header);
    for (let tries = 1; response.status === 503 && status !== 503 && tries < 10; tries += 1) {
      response = await fetchWithPayment(target, header);
    }
    return response.status;
  });
  expect(await Promise.all(all)).toEqual(Array(payments).fill(status));
}

const requestsOf = async (work: () => Promise<unknown>) => {
  const before = counting.requests.length;
  await work();
  return counting.requests.length - before;
};

async function states(): Promise<Record<string, number>> {
  const { rows } = await stage.database.query<{ state: string; final: boolean; n: string }>(
    "select state, final, count(*)::text as n from payments group by 1, 2",
  );
  return Object.fromEntries(
    rows.map(({ state, final, n }) => [final ? `${state}, final` : state, Number(n)]),
  );
}

// Each signs, sells and settles many payments, on a machine that may be busy with other tests.
const TIMEOUT_MS = 120_000;

describe("reconciliation of many payments", { timeout: TIMEOUT_MS }, () => {
  it("follows payments by block: requests do not grow with the rows, and one run finishes all", async () => {
    const each = runsOf(10, { min: 8 });
    const all = 2 * each;
    const service = await serve({ reconcileBatchRows: 7 });
    await stage.chain.request("evm_setAutomine", [false]);
    await stage.chain.request("evm_setIntervalMining", [150]);
    await sell(service.url, 2 * each);
    await stage.chain.request("evm_setIntervalMining", [0]);
    await stage.chain.request("evm_setAutomine", [true]);
    const waiting = await requestsOf(() => service.gate.reconcile());
    const again = await requestsOf(() => service.gate.reconcile());
    expect(await states()).toEqual({ settled: all });
    await stage.chain.mine(40);
    const counts = { found: 0, final: all, resent: 0 };
    const finishing = await requestsOf(async () => expect(await service.gate.reconcile()).toEqual(counts));
    expect(await states()).toEqual({ "settled, final": all });
    // Four a row before, in runs of 100 rows at most; even one a row would be 16 and more.
    expect(waiting).toBeLessThan(15);
    expect(again).toBeLessThan(10);
    expect(finishing).toBeLessThan(30);
  });

  it("reads payments of unknown outcome in one request as long as they can only wait", async () => {
    const service = await serve();
    service.injected.settle = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
    await sell(service.url, 8, 503);
    expect(await requestsOf(() => service.gate.reconcile())).toBeLessThan(5);
    expect(await states()).toEqual({ settling: 8 });
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect(await states()).toEqual({ expired: 8 });
  });

  it("sends all payments again that a reorg undid, in one run, before they expire", async () => {
    const each = runsOf(10, { min: 3 });
    const all = 2 * each;
    const service = await serve();
    await sell(service.url, 2 * each);
    await stage.chain.reorg(all);
    expect(await stage.balance(stage.payTo)).toBe(0n);
    // After this the facilitator takes its nonces for dropped.
    await new Promise((resolve) => setTimeout(resolve, 400));
    // One run sends all of them; a second one finds those whose block was late on a busy machine.
    const runs = [await service.gate.reconcile(), await service.gate.reconcile()];
    expect(runs.reduce((sum, { resent }) => sum + resent, 0)).toBe(all);
    expect(await stage.balance(stage.payTo)).toBe(BigInt(all) * TEST_PRICE);
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect(await states()).toEqual({ "settled, final": all });
  });

  it("finishes rows that an earlier version stored without the hash of a block", async () => {
    const service = await serve();
    await sell(service.url, 5);
    await stage.database.query("update payments set block_hash = null");
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect(await service.gate.reconcile()).toEqual({ found: 0, final: 5, resent: 0 });
  });

  it("finishes payments by their receipts if the logs of a block do not prove them", async () => {
    const real = chainAt(stage.chain.rpcUrl);
    const service = await stage.serve({
      chain: {
        ...real,
        findTransfersInBlocks: async (blocks) =>
          blocks.map(({ transfers: wanted }) => wanted.map(() => null)),
      },
    });
    await sell(service.url, 3);
    await stage.chain.mine(40);
    expect(await service.gate.reconcile()).toEqual({ found: 0, final: 3, resent: 0 });
  });
});

describe("a ledger that services on two networks share", () => {
  it("reconciles a shared ledger for the service's own network and asset only", async () => {
    const other = await startLocalChain({ chainId: 4_242, code: LOCAL_GENESIS_CODE });
    closing.push(() => other.stop());
    const { local } = await deploy({ request: other.request, owner: other.accounts.owner });
    expect(local.UsdCoin.toLowerCase()).toBe(stage.asset);
    const chain = chainAt(other.rpcUrl);
    const foreign = await stage.serve({ chain, offer: { network: "eip155:4242" } });
    const token = await stage.serve({ chain, offer: { asset: `0x${"ab".repeat(20)}` as Hex } });
    const service = await serve();
    await sell(service.url, 3);
    service.injected.settle = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
    await sell(service.url, 2, 503);
    await stage.database.query("update payments set settled_at = settled_at - interval '25 hours'");
    // On the other chain everything has expired long ago.
    await other.increaseTime(100_000n);
    await other.mine(40);
    const untouched = { found: 0, final: 0, resent: 0 };
    expect(await foreign.gate.reconcile()).toEqual(untouched);
    expect(await token.gate.reconcile()).toEqual(untouched);
    expect(await states()).toEqual({ settled: 3, settling: 2 });
    const { rows } = await stage.database.query("select 1 from payments where answer_body is not null");
    expect(rows).toHaveLength(5);
    await stage.chain.mine(40);
    expect(await service.gate.reconcile()).toEqual({ found: 0, final: 3, resent: 0 });
  });
});
