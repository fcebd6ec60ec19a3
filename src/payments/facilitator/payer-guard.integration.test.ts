// Payers whose transfers revert when they are mined: how often they can make the facilitator pay for that.
// A fast test of the same rule, without a chain: payer-guard-races.test.ts.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import type { PaymentPayload } from "@x402/core/types";
import { concatHex, type Hex, type PrivateKeyAccount, toFunctionSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  openResponseProxy,
  type ResponseFaults,
  type ResponseProxy,
} from "../../../tests/support/nodes/response-proxy.ts";
import { signPaymentFor } from "../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../../../tests/support/payments/paid-stage.ts";
import {
  ACCEPTING_ACCOUNT_CODE,
  INCONSISTENT_ACCOUNT_CODE,
  INCONSISTENT_ACCOUNT_TIP,
  openContractPayer,
  openTestFacilitator,
  paymentTermsOf,
} from "../../../tests/support/payments/test-facilitator.ts";
import { systemClock } from "../../lib/clock.ts";
import { requestSettle, requestVerify } from "./facilitator.ts";
import type { LocalFacilitator } from "./local.ts";
import { TRANSFER_GAS_LIMIT_MAX } from "./transfer-scheme.ts";

let stage: PaidStage;
let paid: string;
let wire: ResponseProxy;
beforeAll(async () => {
  stage = await openPaidStage("in process");
  const tip = { result: `0x${INCONSISTENT_ACCOUNT_TIP.toString(16)}` };
  wire = await openResponseProxy(stage.chain.rpcUrl, { instead: { eth_maxPriorityFeePerGas: tip } });
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
  requestVerify(facilitator, payload, paymentTermsOf(stage));
const settle = (facilitator: LocalFacilitator, payload: PaymentPayload) =>
  requestSettle(facilitator, payload, paymentTermsOf(stage));

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

const AUTHORIZATION_STATE = toFunctionSelector("authorizationState(address,bytes32)");
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe("a contract account that agrees in simulation and reverts in a block", () => {
  it("rejects a reverting contract account for a day after one revert, also after a restart", async () => {
    let nowMs = Date.now();
    const clock = { ...systemClock, nowMs: () => nowMs };
    const account = await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE);
    const facilitator = open({ clock });
    const reverts = await revertsDuring(async () => {
      for (let request = 0; request < 8; request += 1) await settle(facilitator, await account.payload());
    });
    expect(reverts).toBe(1);
    const restarted = open({ clock });
    const rejection = { kind: "rejected", reason: "payer_refused_after_revert" };
    expect(await verify(restarted, await account.payload())).toEqual(rejection);
    expect(await settle(restarted, await account.payload())).toEqual({ ...rejection, transaction: null });

    nowMs += DAY_MS + 1_000;
    expect(await verify(restarted, await account.payload())).toEqual({ kind: "valid" });
  });

  it("spends one revert on twelve requests at once of a reverting contract account", async () => {
    const account = await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE);
    const facilitator = open();
    const payloads = await Promise.all(Array.from({ length: 12 }, () => account.payload()));
    const reverts = await revertsDuring(() =>
      Promise.all(payloads.map((payload) => settle(facilitator, payload))),
    );
    expect(reverts).toBe(1);
  });

  it("spends one revert if it is mined after the wait and the payload is repeated", async () => {
    const account = await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE);
    const payload = await account.payload();
    const facilitator = open({ confirmationMs: 300 });
    const reverts = await revertsDuring(async () => {
      await stage.chain.request("evm_setAutomine", [false]);
      onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
      expect(await settle(facilitator, payload)).toMatchObject({ kind: "unknown" });
      await stage.chain.mine();
      await stage.chain.request("evm_setAutomine", [true]);
      for (let request = 0; request < 3; request += 1) {
        const outcome = await settle(facilitator, payload);
        expect.soft(outcome).toMatchObject({ kind: "rejected", reason: "payer_refused_after_revert" });
      }
    });
    expect(reverts).toBe(1);
  });

  it("treats a key with delegated code (EIP-7702) as a contract account", async () => {
    const code = await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE);
    const account = await openContractPayer(stage, paid, concatHex(["0xef0100", code.address as Hex]));
    const facilitator = open({ gas: { revertedGasMax: 0n } });
    const outcome = await settle(facilitator, await account.payload());
    expect(outcome).toEqual({ kind: "rejected", reason: "contract_payers_paused", transaction: null });
  });
});

describe("many such accounts", () => {
  it("keeps many reverting accounts within the hour's gas budget, while keys pay on", async () => {
    const clock = { ...systemClock, nowMs: () => Date.now() + 3 * DAY_MS };
    // Enough for a few reverts before the next transfer might exceed it.
    const revertedGasMax = TRANSFER_GAS_LIMIT_MAX + 150_000n;
    const facilitator = open({ clock, gas: { revertedGasMax } });
    const payloads: PaymentPayload[] = [];
    for (let each = 0; each < 12; each += 1) {
      payloads.push(await (await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE)).payload());
    }
    const before = await stage.node.getBalance({ address: key().address });
    const reverts = await revertsDuring(async () => {
      for (let first = 0; first < payloads.length; first += 4) {
        await Promise.all(payloads.slice(first, first + 4).map((payload) => settle(facilitator, payload)));
      }
    });
    expect(reverts).toBeGreaterThan(0);
    expect(reverts).toBeLessThan(8);
    const spent = before - (await stage.node.getBalance({ address: key().address }));
    // The local chain's base fee is zero and the tip two gwei at most.
    expect(spent).toBeLessThanOrEqual(revertedGasMax * 2_000_000_000n);

    // Not of a code that has settled: a byte behind the end makes it another.
    const honest = await openContractPayer(stage, paid, concatHex([ACCEPTING_ACCOUNT_CODE, "0x01"]));
    const payload = await honest.payload();
    const paused = { kind: "rejected", reason: "contract_payers_paused" };
    expect(await verify(facilitator, payload)).toEqual(paused);
    expect(await settle(open({ clock, gas: { revertedGasMax } }), payload)).toEqual({
      ...paused,
      transaction: null,
    });
    const plain = await stage.payer();
    const signed = await signPaymentFor(paid, plain, stage.asset);
    expect(await settle(facilitator, signed.payload)).toMatchObject({ kind: "settled" });

    const later = { ...systemClock, nowMs: () => clock.nowMs() + HOUR_MS + 1_000 };
    expect(await settle(open({ clock: later, gas: { revertedGasMax } }), payload)).toMatchObject({
      kind: "settled",
    });
  });
});

describe("contract accounts among many that revert", () => {
  it("serves those that have paid, and others of their kind, while unknown ones are paused", async () => {
    const clock = { ...systemClock, nowMs: () => Date.now() + 6 * DAY_MS };
    const facilitator = open({ clock, gas: { revertedGasMax: TRANSFER_GAS_LIMIT_MAX + 150_000n } });
    const kindOf = (byte: Hex) => concatHex([ACCEPTING_ACCOUNT_CODE, byte]);
    const payer = await openContractPayer(stage, paid, kindOf("0x02"));
    expect(await settle(facilitator, await payer.payload())).toMatchObject({ kind: "settled" });
    for (let each = 0; each < 8; each += 1) {
      const reverting = await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE);
      await settle(facilitator, await reverting.payload());
    }
    const paused = { kind: "rejected", reason: "contract_payers_paused" };
    const unknown = await openContractPayer(stage, paid, kindOf("0x03"));
    expect(await verify(facilitator, await unknown.payload())).toEqual(paused);
    expect(await settle(facilitator, await unknown.payload())).toEqual({ ...paused, transaction: null });
    const ofItsKind = await openContractPayer(stage, paid, kindOf("0x02"));
    for (const served of [payer, ofItsKind]) {
      expect(await verify(facilitator, await served.payload())).toEqual({ kind: "valid" });
      expect(await settle(facilitator, await served.payload())).toMatchObject({ kind: "settled" });
    }
  });

  it("pauses the accounts of a known code by themselves, and proves none that reverts", async () => {
    const clock = { ...systemClock, nowMs: () => Date.now() + 9 * DAY_MS };
    const facilitator = open({ clock, gas: { revertedGasMax: TRANSFER_GAS_LIMIT_MAX + 150_000n } });
    // With a small tip these accounts pay, as real ones could choose by their storage.
    const low = openTestFacilitator(stage, { privateKey: key().privateKey, clock });
    const first = await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE);
    const second = await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE);
    for (const each of [first, second]) {
      expect(await settle(low, await each.payload())).toMatchObject({ kind: "settled" });
    }
    const reverts = await revertsDuring(async () => {
      expect(await settle(facilitator, await first.payload())).toMatchObject({ kind: "rejected" });
      for (let each = 0; each < 8; each += 1) {
        const reverting = await openContractPayer(stage, paid, INCONSISTENT_ACCOUNT_CODE);
        await settle(facilitator, await reverting.payload());
      }
    });
    expect(reverts).toBeGreaterThan(1);
    expect(reverts).toBeLessThan(7);
    const unknown = await openContractPayer(stage, paid, concatHex([ACCEPTING_ACCOUNT_CODE, "0x04"]));
    expect(await settle(facilitator, await unknown.payload())).toMatchObject({ kind: "settled" });
    const { rows } = await stage.database.query<{ settled_at: Date | null }>({
      text: "select settled_at from facilitator_contract_payers where payer = $1",
      values: [first.address.toLowerCase()],
    });
    expect(rows).toEqual([{ settled_at: null }]);
  });
});

describe("a plain key that signs its only cent away many times at once", () => {
  it("counts payments in flight against a key's balance, so that none reverts", async () => {
    const payer = await stage.payer(0n);
    await stage.mint(payer.address, TEST_PRICE);
    const payloads: PaymentPayload[] = [];
    for (let each = 0; each < 10; each += 1) {
      payloads.push((await signPaymentFor(paid, payer, stage.asset)).payload);
    }
    const facilitator = open();
    const outcomes: { kind: string }[] = [];
    const reverts = await revertsDuring(async () => {
      outcomes.push(...(await Promise.all(payloads.map((payload) => settle(facilitator, payload)))));
    });
    expect(reverts).toBe(0);
    expect(outcomes.filter(({ kind }) => kind === "settled")).toHaveLength(1);
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
  });
});

describe("a plain key with the money for all its payments at once", () => {
  it("settles the last one while an earlier one is mined and its wait has not ended", async () => {
    const payer = await stage.payer(0n);
    await stage.mint(payer.address, 2n * TEST_PRICE);
    const first = (await signPaymentFor(paid, payer, stage.asset)).payload;
    const second = (await signPaymentFor(paid, payer, stage.asset)).payload;
    // The first payment is mined when it is sent. Its wait does not see that before the second reads a balance, and asks
    // again seconds later.
    let isHidden = true;
    let asked = () => {};
    const isWaiting = new Promise<void>((resolve) => (asked = resolve));
    const late = await openResponseProxy(stage.chain.rpcUrl, {
      instead: {
        eth_getTransactionReceipt: async () => {
          asked();
          return isHidden ? { result: null } : null;
        },
        eth_call: async () => {
          isHidden = false;
          return null;
        },
      },
    });
    onTestFinished(late.close);
    const facilitator = open({ urls: [late.url], confirmationMs: 20_000, pollMs: 2_000 });
    const firstOutcome = settle(facilitator, first);
    await isWaiting;
    isHidden = true;
    expect(await settle(facilitator, second)).toMatchObject({ kind: "settled" });
    expect(await firstOutcome).toMatchObject({ kind: "settled" });
    expect(await stage.transfersFrom(payer.address)).toHaveLength(2);
  });
});

describe("a plain key whose payment is still pending after the wait for it", () => {
  it("counts a pending payment against the balance until it is mined", async () => {
    const payer = await stage.payer(0n);
    await stage.mint(payer.address, TEST_PRICE);
    const [first, second] = [
      (await signPaymentFor(paid, payer, stage.asset)).payload,
      (await signPaymentFor(paid, payer, stage.asset)).payload,
    ];
    const facilitator = open({ confirmationMs: 300 });
    const reverts = await revertsDuring(async () => {
      await stage.chain.request("evm_setAutomine", [false]);
      onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
      expect(await settle(facilitator, first)).toMatchObject({ kind: "unknown" });
      expect(await settle(facilitator, second)).toMatchObject({ kind: "unknown", transaction: null });
      await stage.chain.mine();
      await stage.chain.request("evm_setAutomine", [true]);
      expect(await settle(facilitator, first)).toMatchObject({ kind: "settled" });
      expect(await settle(facilitator, second)).toMatchObject({ kind: "rejected" });
    });
    expect(reverts).toBe(0);
  });
});

describe("a payer whose authorization is used between simulation and block", () => {
  /** Something is sent to the token right before the facilitator's own transaction, which then reverts. */
  async function settleAfter(
    call: { functionName: string; args: unknown[] },
    payload: PaymentPayload,
    faults: ResponseFaults["instead"] = {},
  ) {
    let isFirst = true;
    const wire = await openResponseProxy(stage.chain.rpcUrl, {
      instead: {
        ...faults,
        eth_sendRawTransaction: async () => {
          const token = { address: stage.asset, abi: usdCoinAbi };
          if (isFirst) await stage.send(stage.chain.accounts.solver, { ...token, ...call });
          isFirst = false;
          return null;
        },
      },
    });
    onTestFinished(() => wire.close());
    let outcome: unknown;
    const reverts = await revertsDuring(async () => {
      outcome = await settle(open({ urls: [wire.url] }), payload);
    });
    expect(reverts).toBe(1);
    return outcome;
  }

  const transferOf = (payload: PaymentPayload) => {
    const { authorization, signature } = payload.payload as { authorization: Authorization; signature: Hex };
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature];
    return { functionName: "transferWithAuthorization", args };
  };
  const signed = async (payer: PrivateKeyAccount) => (await signPaymentFor(paid, payer, stage.asset)).payload;

  it("does not block a payer whose authorization another account carried out as signed", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    expect(await settleAfter(transferOf(payload), payload)).toMatchObject({ kind: "rejected" });
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
    expect(await settle(open(), await signed(payer))).toMatchObject({ kind: "settled" });
  });

  it("does not block a payer whose authorization was used if a node omits the log", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    const omitting = { eth_getLogs: { result: [] } };
    expect(await settleAfter(transferOf(payload), payload, omitting)).toMatchObject({ kind: "unknown" });
    expect(await settle(open(), await signed(payer))).toMatchObject({ kind: "settled" });
  });

  it("does not block a payer if the node gives logs of a thousand blocks at most", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    const eth_getLogs = async ([filter]: readonly unknown[]) => {
      const { fromBlock, toBlock } = filter as { fromBlock?: Hex; toBlock?: Hex };
      const blocks = Number(toBlock ?? Number.NaN) - Number(fromBlock ?? Number.NaN) + 1;
      return blocks <= 1_000 ? null : { error: { code: -32_005, message: "the range is too large" } };
    };
    expect(await settleAfter(transferOf(payload), payload, { eth_getLogs })).toMatchObject({
      kind: "rejected",
    });
    expect(await settle(open(), await signed(payer))).toMatchObject({ kind: "settled" });
  });

  it("does not block a payer if a node is a block behind", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    const UNUSED = { result: `0x${"0".repeat(64)}` };
    // This node still has the state before the third party's transfer; it says nothing about a block that it does not
    // have.
    const lagging = {
      eth_call: async (params: readonly unknown[]) => {
        const [{ data }, block] = params as [{ data: Hex }, string | undefined];
        return data.startsWith(AUTHORIZATION_STATE) && (block ?? "latest") === "latest" ? UNUSED : null;
      },
    };
    await settleAfter(transferOf(payload), payload, lagging);
    expect(await settle(open(), await signed(payer))).toMatchObject({ kind: "settled" });
  });

  it("blocks a payer who cancelled the authorization", async () => {
    const payer = await stage.payer();
    const payload = await signed(payer);
    const { nonce } = (payload.payload as { authorization: Authorization }).authorization;
    const signature = await payer.signTypedData({
      domain: { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: stage.asset },
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" },
        ],
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: payer.address, nonce },
    });
    const cancel = { functionName: "cancelAuthorization", args: [payer.address, nonce, signature] };
    expect(await settleAfter(cancel, payload)).toMatchObject({ kind: "rejected" });
    const rejection = { kind: "rejected", reason: "payer_refused_after_revert" };
    expect(await verify(open(), await signed(payer))).toEqual(rejection);
  });
});

type Authorization = Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", Hex>;
