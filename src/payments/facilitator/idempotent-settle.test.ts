// One payload, one transfer: settled again it gets the same success, also after a restart, and never another's transfer.
import type { PaymentPayload } from "@x402/core/types";
import type { Hex, PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openResponseProxy, type ResponseFaults } from "../../../tests/support/nodes/response-proxy.ts";
import { signPaymentFor, waitFor } from "../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../../../tests/support/payments/paid-stage.ts";
import {
  ACCEPTING_ACCOUNT_CODE,
  openContractPayer,
  openTestFacilitator,
  paymentTermsOf,
} from "../../../tests/support/payments/test-facilitator.ts";
import { systemClock } from "../../lib/clock.ts";
import { requestSettle } from "./facilitator.ts";

let stage: PaidStage;
let paid: string;
beforeAll(async () => {
  stage = await openPaidStage("in process");
  paid = `${(await stage.serve()).url}/paid?q=x`;
});
afterAll(() => stage.close());

const key = () => stage.chain.accounts.attestor;
const sentBy = () => stage.node.getTransactionCount({ address: key().address });
const open = (options: Partial<Parameters<typeof openTestFacilitator>[1]> = {}) =>
  openTestFacilitator(stage, { privateKey: key().privateKey, ...options });
const signed = async (payer: PrivateKeyAccount) => (await signPaymentFor(paid, payer, stage.asset)).payload;
const settle = (facilitator: ReturnType<typeof open>, payload: PaymentPayload) =>
  requestSettle(facilitator, payload, paymentTermsOf(stage));

async function wire(faults: ResponseFaults) {
  const opened = await openResponseProxy(stage.chain.rpcUrl, faults);
  onTestFinished(() => opened.close());
  return [opened.url];
}

describe("the same payload settled again", () => {
  it("settles a repeated payload with the same transaction, also after a restart", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    const facilitator = open();
    const before = await sentBy();
    const [first, ...others] = await Promise.all(
      Array.from({ length: 5 }, () => settle(facilitator, payload)),
    );
    const [transfer] = await stage.transfersFrom(payer.address);
    expect(first).toEqual({ kind: "settled", transaction: transfer?.transactionHash });
    for (const other of others) expect(other).toEqual(first);
    expect(await settle(facilitator, payload)).toEqual(first);
    expect(await settle(open(), payload)).toEqual(first);
    expect(await sentBy()).toBe(before + 1);
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
  });

  it("finds a transfer on chain after a restart between broadcast and receipt", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    const before = await sentBy();
    const dying = open({ urls: await wire({ before: ["eth_getTransactionReceipt"] }) });
    const [transfer] = await settle(dying, payload).then(() => stage.transfersFrom(payer.address));
    expect(await settle(open(), payload)).toEqual({
      kind: "settled",
      transaction: transfer?.transactionHash,
    });
    expect(await sentBy()).toBe(before + 1);
  });

  it("carries a payload out again if a reorg has undone its transfer", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    const facilitator = open();
    expect(await settle(facilitator, payload)).toMatchObject({ kind: "settled" });
    await stage.chain.reorg(1, { replay: "none" });
    expect(await stage.transfersFrom(payer.address)).toEqual([]);
    const again = await settle(open(), payload);
    const [transfer, ...more] = await stage.transfersFrom(payer.address);
    expect(again).toEqual({ kind: "settled", transaction: transfer?.transactionHash });
    expect(more).toEqual([]);
  });

  it("does not call a payload unpaid on a node that lags behind the transfer", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    expect(await settle(open(), payload)).toMatchObject({ kind: "settled" });
    const instead = {
      eth_getTransactionReceipt: { result: null },
      eth_getTransactionByHash: { result: null },
    };
    const lagging = open({ urls: await wire({ instead }) });
    expect(await settle(lagging, payload)).toMatchObject({ kind: "unknown" });
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
  });
});

describe("a transaction that one node took without a response", () => {
  it.each([
    ["has it mined", {}],
    ["rejects it", { eth_sendRawTransaction: { error: { code: -32_000, message: "header not found" } } }],
  ])("waits for a transaction that one node took silently, also if the next %s", async (_, instead) => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    const before = await sentBy();
    const silent = await wire({ after: ["eth_sendRawTransaction"] });
    const outcome = await settle(open({ urls: [...silent, ...(await wire({ instead }))] }), payload);
    const [transfer] = await stage.transfersFrom(payer.address);
    expect(outcome).toEqual({ kind: "settled", transaction: transfer?.transactionHash });
    expect(await sentBy()).toBe(before + 1);
  });
});

describe("another payload", () => {
  it("sends no transaction for another payload with the same nonce, and never calls it settled", async () => {
    const account = await openContractPayer(stage, paid, ACCEPTING_ACCOUNT_CODE);
    const payload = await account.payload();
    const other = { ...payload, payload: { ...payload.payload, signature: `0x${"cd".repeat(400)}` } };
    const before = await sentBy();
    const facilitator = open();
    const outcomes = await Promise.all([settle(facilitator, payload), settle(facilitator, other)]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["settled", "unknown"]);
    expect(await settle(facilitator, other)).toMatchObject({ kind: "rejected" });
    expect(await settle(open(), other)).toMatchObject({ kind: "rejected" });
    expect(await sentBy()).toBe(before + 1);
  });

  it("settles another payload with the same signature by its own transfer", async () => {
    const account = await openContractPayer(stage, paid, ACCEPTING_ACCOUNT_CODE);
    const faults = { before: ["eth_getTransactionReceipt"] };
    const facilitator = open({ urls: await wire(faults), confirmationMs: 300 });
    expect(await settle(facilitator, await account.payload())).toMatchObject({ kind: "unknown" });
    faults.before.pop();
    expect(await settle(facilitator, await account.payload())).toMatchObject({ kind: "settled" });
    expect(await stage.transfersFrom(account.address)).toHaveLength(2);
  });
});

describe("a transaction whose account nonce was used again", () => {
  it("does not take another transaction mined under the nonce for its own", async () => {
    let nowMs = Date.now();
    const clock = { ...systemClock, nowMs: () => nowMs };
    const payer = await stage.payer();
    const [first, second] = [await signed(payer), await signed(payer)];
    const facilitator = open({ clock, confirmationMs: 1_500 });
    await stage.chain.request("evm_setAutomine", [false]);
    onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
    const waiting = () => stage.chain.request("eth_pendingTransactions") as Promise<{ hash: Hex }[]>;

    const losing = settle(facilitator, first);
    await waitFor(async () => (await waiting()).length === 1);
    // Long enough that the wait for the first one has seen it.
    await systemClock.sleep(300);
    const [dropped] = await waiting();
    await stage.chain.request("hardhat_dropTransaction", [dropped?.hash]);
    nowMs += 10_000;
    const winning = settle(facilitator, second);
    await waitFor(async () => (await waiting()).length === 1);
    await stage.chain.mine();

    expect(await winning).toMatchObject({ kind: "settled" });
    expect(await losing).toMatchObject({ kind: "unknown" });
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
  });
});
