// The facilitator's gas cost is bounded per gas and per payment, whatever a node suggests.
import { priceFeedAbi, priceFeedBytecode } from "@sextant/contracts/generated/price-feed";
import { createWalletClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { LOCAL_GAS } from "../../../../tests/support/chain/local-gas.ts";
import { openResponseProxy, type ResponseFaults } from "../../../../tests/support/nodes/response-proxy.ts";
import { signPaymentFor } from "../../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../../../../tests/support/payments/paid-stage.ts";
import { openTestFacilitator, paymentTermsOf } from "../../../../tests/support/payments/test-facilitator.ts";
import { requestSettle, requestVerify } from "../facilitator.ts";
import type { FacilitatorGasLimits } from "../local.ts";

let stage: PaidStage;
let paid: string;
beforeAll(async () => {
  stage = await openPaidStage("in process");
  paid = `${(await stage.serve()).url}/paid?q=x`;
});
afterAll(() => stage.close());

const GWEI = 10n ** 9n;
/** 90 ETH for a transfer of 90,000 gas. */
const ABSURD = { result: `0x${(10n ** 15n).toString(16)}` };
// A transfer takes about 90,000; the rest is headroom for a first transfer to a new account.
const TRANSFER_GAS = 150_000n;

async function settleBehind(
  faults: ResponseFaults | readonly ResponseFaults[],
  gas: Partial<FacilitatorGasLimits> = {},
) {
  const wires = await Promise.all([faults].flat().map((each) => openResponseProxy(stage.chain.rpcUrl, each)));
  onTestFinished(async () => void (await Promise.all(wires.map((wire) => wire.close()))));
  const facilitator = openTestFacilitator(stage, {
    privateKey: stage.chain.accounts.attestor.privateKey,
    urls: wires.map(({ url }) => url),
    gas,
  });
  const payer = await stage.payer();
  const { payload } = await signPaymentFor(paid, payer, stage.asset);
  const before = await facilitator.readGasBalance();
  const verdict = await requestVerify(facilitator, payload, paymentTermsOf(stage));
  const outcome = await requestSettle(facilitator, payload, paymentTermsOf(stage));
  const spent = before - (await facilitator.readGasBalance());
  return { verdict, outcome, spent, transfers: await stage.transfersFrom(payer.address) };
}

const baseFee = async () => (await stage.node.getBlock()).baseFeePerGas ?? 0n;

/** The local chain's own is zero. */
async function setBaseFee(wei: bigint) {
  await stage.chain.request("hardhat_setNextBlockBaseFeePerGas", [`0x${wei.toString(16)}`]);
  await stage.chain.mine();
  expect(await baseFee()).toBe(wei);
}

describe("a node that names an absurd priority fee", () => {
  it("pays no more than the cap if the only node names an absurd priority fee", async () => {
    const base = await baseFee();
    const { outcome, spent } = await settleBehind({ instead: { eth_maxPriorityFeePerGas: ABSURD } });
    expect(outcome).toMatchObject({ kind: "settled" });
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(TRANSFER_GAS * (base + LOCAL_GAS.priorityFeePerGasMax));
  });

  it.each([
    ["first", 0],
    ["second", 1],
  ])("pays the lower priority fee if the %s of two nodes names an absurd one", async (_, liar) => {
    const lie = { instead: { eth_maxPriorityFeePerGas: ABSURD } };
    const truth = { instead: { eth_maxPriorityFeePerGas: { result: "0x1" } } };
    const base = await baseFee();
    const { outcome, spent } = await settleBehind(liar === 0 ? [lie, truth] : [truth, lie]);
    expect(outcome).toMatchObject({ kind: "settled" });
    expect(spent).toBeLessThanOrEqual(TRANSFER_GAS * (base + 1n));
  });
});

describe("a base fee above the cap", () => {
  it("gives no verdict, and sends nothing, while the base fee is above the cap", async () => {
    await setBaseFee(20n * GWEI);
    const { verdict, outcome, spent, transfers } = await settleBehind({}, { feePerGasMax: 5n * GWEI });
    expect(verdict).toMatchObject({ kind: "unavailable" });
    expect(String((verdict as { cause: unknown }).cause)).toContain("fee");
    expect(outcome).toMatchObject({ kind: "unknown", transaction: null });
    expect(spent).toBe(0n);
    expect(transfers).toEqual([]);
  });

  it("settles if only one of two nodes names a base fee above the cap", async () => {
    const block = await stage.chain.request("eth_getBlockByNumber", ["latest", false]);
    const inflated = { ...(block as object), baseFeePerGas: ABSURD.result };
    const lie = { instead: { eth_getBlockByNumber: { result: inflated } } };
    const { outcome, transfers } = await settleBehind([lie, {}]);
    expect(outcome).toMatchObject({ kind: "settled" });
    expect(transfers).toHaveLength(1);
  });
});

describe("gas in proportion to the payment", () => {
  async function ofPayment(usd: bigint, percentMax: bigint): Promise<FacilitatorGasLimits["paymentPercent"]> {
    const wallet = createWalletClient({
      account: privateKeyToAccount(stage.chain.accounts.owner.privateKey),
      transport: http(stage.chain.rpcUrl),
    });
    const args = ["ETH / USD", 8, usd * 10n ** 8n] as const;
    const hash = await wallet.deployContract({
      ...{ abi: priceFeedAbi, bytecode: priceFeedBytecode, args, chain: null },
    });
    const { contractAddress } = await stage.node.waitForTransactionReceipt({ hash });
    const feed = { feed: contractAddress as Hex, heartbeatSeconds: 3_600 };
    return { percentMax, decimals: 6, feed };
  }

  it("defers a transfer that would cost more than it moves", async () => {
    // A cent is 3 * 10^12 wei: for 140,000 gas, 0.02 gwei each.
    const gas = { paymentPercent: await ofPayment(3_333n, 100n) };
    await setBaseFee(GWEI);
    const { verdict, outcome, spent, transfers } = await settleBehind({}, gas);
    expect(verdict).toMatchObject({ kind: "unavailable" });
    expect(outcome).toMatchObject({ kind: "unknown", transaction: null });
    expect(spent).toBe(0n);
    expect(transfers).toEqual([]);
  });

  it("sends a transfer that costs less, and never pays more than the share", async () => {
    // A cent is 10^15 wei at 10 dollars a coin.
    const gas = { paymentPercent: await ofPayment(10n, 50n) };
    await setBaseFee(GWEI);
    const { outcome, spent } = await settleBehind({ instead: { eth_maxPriorityFeePerGas: ABSURD } }, gas);
    expect(outcome).toMatchObject({ kind: "settled" });
    expect(spent).toBeLessThanOrEqual(5n * 10n ** 14n);
  });

  it("falls back to the cap if the coin's price is unavailable", async () => {
    const nowhere: Hex = `0x${"0f".repeat(20)}`;
    const ofNothing = { percentMax: 100n, decimals: 6, feed: { feed: nowhere, heartbeatSeconds: 3_600 } };
    const { outcome, spent } = await settleBehind({}, { paymentPercent: ofNothing });
    expect(outcome).toMatchObject({ kind: "settled" });
    expect(spent).toBeLessThanOrEqual(TRANSFER_GAS * 100n * GWEI);
  });
});
