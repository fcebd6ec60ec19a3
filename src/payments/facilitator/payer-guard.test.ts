// Payers whose transfers revert when they are mined: how often they can make the facilitator pay for that.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import type { PaymentPayload } from "@x402/core/types";
import { concatHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type NodeWire, openNodeWire } from "../../../tests/support/node-wire.ts";
import { signedFor } from "../../../tests/support/paid-client.ts";
import { openPaidStage, type PaidStage } from "../../../tests/support/paid-stage.ts";
import {
  AGREEING_ACCOUNT,
  openContractPayer,
  openTestFacilitator,
  TWO_FACED_ACCOUNT,
  TWO_FACED_TIP,
  termsOf,
} from "../../../tests/support/test-facilitator.ts";
import { systemClock } from "../../kit/clock.ts";
import { settlePayment, verifyPayment } from "./facilitator.ts";
import type { LocalFacilitator } from "./local-facilitator.ts";

let stage: PaidStage;
let paid: string;
let wire: NodeWire;
beforeAll(async () => {
  stage = await openPaidStage("in process");
  const tip = { result: `0x${TWO_FACED_TIP.toString(16)}` };
  wire = await openNodeWire(stage.chain.rpcUrl, { instead: { eth_maxPriorityFeePerGas: tip } });
  paid = `${(await stage.serve()).url}/paid?q=x`;
});
afterAll(async () => {
  await wire.close();
  await stage.close();
});

const key = () => stage.chain.accounts.attestor;
const open = (options: Partial<Parameters<typeof openTestFacilitator>[1]> = {}) =>
  openTestFacilitator(stage, { privateKey: key().privateKey, urls: [wire.url], ...options });

const verify = (facilitator: LocalFacilitator, payload: PaymentPayload) =>
  verifyPayment(facilitator, payload, termsOf(stage));
const settle = (facilitator: LocalFacilitator, payload: PaymentPayload) =>
  settlePayment(facilitator, payload, termsOf(stage));

/** Transactions of the facilitator that were mined and reverted while something ran. */
async function revertsDuring(run: () => Promise<unknown>): Promise<number> {
  const from = await stage.node.getBlockNumber();
  await run();
  const to = await stage.node.getBlockNumber();
  let reverts = 0;
  for (let number = from + 1n; number <= to; number += 1n) {
    const { transactions } = await stage.node.getBlock({ blockNumber: number, includeTransactions: true });
    for (const { hash, from: sender } of transactions) {
      if (sender.toLowerCase() !== key().address.toLowerCase()) continue;
      if ((await stage.node.getTransactionReceipt({ hash })).status === "reverted") reverts += 1;
    }
  }
  return reverts;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe("a contract account that agrees in simulation and reverts in a block", () => {
  it("costs one revert in 30 requests, then its payer is refused, also after a restart, for a day", async () => {
    let nowMs = Date.now();
    const clock = { ...systemClock, nowMs: () => nowMs };
    const account = await openContractPayer(stage, paid, TWO_FACED_ACCOUNT);
    const facilitator = open({ clock });
    const reverts = await revertsDuring(async () => {
      for (let request = 0; request < 30; request += 1) await settle(facilitator, await account.payload());
    });
    expect(reverts).toBe(1);
    const restarted = open({ clock });
    const refusal = { kind: "refused", reason: "payer_refused_after_revert" };
    expect(await verify(restarted, await account.payload())).toEqual(refusal);
    expect(await settle(restarted, await account.payload())).toEqual(refusal);

    nowMs += DAY_MS + 1_000;
    expect(await verify(restarted, await account.payload())).toEqual({ kind: "valid" });
  });

  it("costs one revert in 30 requests at once", async () => {
    const account = await openContractPayer(stage, paid, TWO_FACED_ACCOUNT);
    const facilitator = open();
    const payloads = await Promise.all(Array.from({ length: 30 }, () => account.payload()));
    const reverts = await revertsDuring(() =>
      Promise.all(payloads.map((payload) => settle(facilitator, payload))),
    );
    expect(reverts).toBe(1);
  });

  it("is one to the rules as a key with delegated code (EIP-7702), too", async () => {
    const code = await openContractPayer(stage, paid, TWO_FACED_ACCOUNT);
    const account = await openContractPayer(stage, paid, concatHex(["0xef0100", code.address as Hex]));
    const facilitator = open({ gas: { revertedGasMax: 0n } });
    const outcome = await settle(facilitator, await account.payload());
    expect(outcome).toEqual({ kind: "refused", reason: "contract_payers_paused" });
  });
});

describe("many such accounts", () => {
  it("cost no more gas than the hour's budget; then contract accounts wait, and keys pay on", async () => {
    const clock = { ...systemClock, nowMs: () => Date.now() + 3 * DAY_MS };
    const revertedGasMax = 600_000n;
    const facilitator = open({ clock, gas: { revertedGasMax } });
    const payloads: PaymentPayload[] = [];
    for (let each = 0; each < 30; each += 1) {
      payloads.push(await (await openContractPayer(stage, paid, TWO_FACED_ACCOUNT)).payload());
    }
    const before = await stage.node.getBalance({ address: key().address });
    const reverts = await revertsDuring(async () => {
      for (let first = 0; first < payloads.length; first += 10) {
        await Promise.all(payloads.slice(first, first + 10).map((payload) => settle(facilitator, payload)));
      }
    });
    expect(reverts).toBeGreaterThan(0);
    expect(reverts).toBeLessThan(20);
    const spent = before - (await stage.node.getBalance({ address: key().address }));
    // The local chain's base fee is zero and the tip two gwei at most.
    expect(spent).toBeLessThanOrEqual(revertedGasMax * 2_000_000_000n);

    const honest = await openContractPayer(stage, paid, AGREEING_ACCOUNT);
    const payload = await honest.payload();
    const paused = { kind: "refused", reason: "contract_payers_paused" };
    expect(await verify(facilitator, payload)).toEqual(paused);
    expect(await settle(open({ clock, gas: { revertedGasMax } }), payload)).toEqual(paused);
    const plain = await stage.payer();
    const signed = await signedFor(paid, plain, stage.asset);
    expect(await settle(facilitator, signed.payload)).toMatchObject({ kind: "settled" });

    const later = { ...systemClock, nowMs: () => clock.nowMs() + HOUR_MS + 1_000 };
    expect(await settle(open({ clock: later, gas: { revertedGasMax } }), payload)).toMatchObject({
      kind: "settled",
    });
  });
});

describe("a payer whose authorization a stranger carried out first", () => {
  it("is not refused afterwards: the money moved as signed", async () => {
    const payer = await stage.payer();
    const { payload } = await signedFor(paid, payer, stage.asset);
    const { authorization, signature } = payload.payload as { authorization: Authorization; signature: Hex };
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature];
    let carriedOut = 0;
    const carryOutFirst = async () => {
      if (carriedOut++ > 0) return null;
      const call = { address: stage.asset, abi: usdCoinAbi, functionName: "transferWithAuthorization", args };
      await stage.send(stage.chain.accounts.solver.privateKey, call);
      return null;
    };
    const watched = await openNodeWire(stage.chain.rpcUrl, {
      instead: { eth_sendRawTransaction: carryOutFirst },
    });
    onTestFinished(() => watched.close());
    const facilitator = open({ urls: [watched.url] });
    const reverts = await revertsDuring(async () => {
      expect(await settle(facilitator, payload)).toMatchObject({ kind: "refused" });
    });
    expect(reverts).toBe(1);
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
    const next = await signedFor(paid, payer, stage.asset);
    expect(await settle(facilitator, next.payload)).toMatchObject({ kind: "settled" });
  });
});

type Authorization = Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", Hex>;
