// Our facilitator: a failure is never a verdict, contract accounts may pay, and no client wastes its gas.
import { transferTypedData } from "@sextant/client/payments/token-typed-data";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { concatHex, type Hex, type PrivateKeyAccount, serializeErc6492Signature } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openResponseProxy, type ResponseFaults } from "../../../tests/support/nodes/response-proxy.ts";
import { fetchWithPayment, signPaymentFor } from "../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../../../tests/support/payments/paid-stage.ts";
import {
  ACCEPTING_ACCOUNT_CODE,
  openContractPayer,
  openTestFacilitator,
  paymentTermsOf,
} from "../../../tests/support/payments/test-facilitator.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import {
  ACCOUNT_NOT_DEPLOYED,
  INSUFFICIENT_BALANCE,
  NONCE_USED,
  WRONG_SIGNATURE,
} from "../rejection-reasons.ts";
import { createFacilitatorEndpoints } from "./endpoints.ts";
import { requestSettle, requestVerify } from "./facilitator.ts";
import type { LocalFacilitator } from "./local.ts";

let stage: PaidStage;
let paid: string;
beforeAll(async () => {
  stage = await openPaidStage("in process");
  paid = `${(await stage.serve()).url}/paid?q=x`;
});
afterAll(() => stage.close());

const terms = () => paymentTermsOf(stage);
const TRANSACTION = `0x${"c0".repeat(32)}`;

/** A facilitator whose connection to its node loses or replaces responses. */
async function openWire(faults: ResponseFaults, clock: Clock = systemClock) {
  const wire = await openResponseProxy(stage.chain.rpcUrl, faults);
  const facilitator = openTestFacilitator(stage, {
    privateKey: stage.chain.accounts.attestor.privateKey,
    urls: [wire.url],
    nonceGapMs: 10_000,
    clock,
  });
  return { facilitator, wire, close: wire.close };
}

describe("a node that does not respond", () => {
  it("gives no verdict while a node does not respond to calls", async () => {
    const { facilitator, close } = await openWire({ before: ["eth_call"] });
    const outsider = privateKeyToAccount(generatePrivateKey());
    const { payload } = await signPaymentFor(paid, outsider, stage.asset);
    expect(await requestVerify(facilitator, payload, terms())).toMatchObject({ kind: "unavailable" });
    await close();
  });

  it.each([
    ["nothing", { result: null }],
    ["nonsense", { result: "0xnonsense" }],
    ["that it has not got the block", { error: { code: -32_000, message: "header not found" } }],
    ["that something went wrong", { error: { code: -32_603, message: "" } }],
  ])("gives no verdict if a node says %s", async (_, instead) => {
    const { facilitator, close } = await openWire({
      instead: { eth_call: instead, eth_estimateGas: instead },
    });
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    expect(await requestVerify(facilitator, payload, terms())).toMatchObject({ kind: "unavailable" });
    expect(await requestSettle(facilitator, payload, terms())).toMatchObject({ kind: "unknown" });
    expect(await stage.transfersFrom(payer.address)).toEqual([]);
    await close();
  });

  it("calls the outcome unknown if a node does not take the transaction", async () => {
    const error = { code: -32_000, message: "header not found" };
    const { facilitator, close } = await openWire({ instead: { eth_sendRawTransaction: { error } } });
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    expect(await requestSettle(facilitator, payload, terms())).toMatchObject({ kind: "unknown" });
    expect(await stage.transfersFrom(payer.address)).toEqual([]);
    await close();
  });

  it.each([
    ["nonsense", { result: "0xnonsense" }],
    ["half a receipt", { result: { transactionHash: TRANSACTION } }],
  ])("does not call a transfer reverted if a node has %s for a receipt", async (_, receipt) => {
    const { facilitator, close } = await openWire({ instead: { eth_getTransactionReceipt: receipt } });
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    expect(await requestSettle(facilitator, payload, terms())).toMatchObject({ kind: "unknown" });
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
    await close();
  });

  it.each(["eth_getCode", "eth_estimateGas", "eth_getTransactionCount"])(
    "calls the outcome unknown, and moves nothing, without a response to %s",
    async (method) => {
      const { facilitator, close } = await openWire({ before: [method] });
      const payer = await stage.payer();
      const { payload } = await signPaymentFor(paid, payer, stage.asset);
      expect(await requestSettle(facilitator, payload, terms())).toMatchObject({ kind: "unknown" });
      expect(await stage.transfersFrom(payer.address)).toEqual([]);
      await close();
    },
  );

  it("decides by the receipt if a node took the transaction without a response", async () => {
    const { facilitator, close } = await openWire({ after: ["eth_sendRawTransaction"] });
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    const outcome = await requestSettle(facilitator, payload, terms());
    const [transfer] = await stage.transfersFrom(payer.address);
    expect(outcome).toEqual({ kind: "settled", transaction: transfer?.transactionHash });
    await close();
  });

  it("returns the hash while the receipt is missing, and does not send twice", async () => {
    const { facilitator, close } = await openWire({ before: ["eth_getTransactionReceipt"] });
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    const first = await requestSettle(facilitator, payload, terms());
    const [transfer] = await stage.transfersFrom(payer.address);
    expect(first).toMatchObject({ kind: "unknown", transaction: transfer?.transactionHash });
    expect(await requestSettle(facilitator, payload, terms())).toMatchObject({ kind: "unknown" });
    const sender = stage.chain.accounts.attestor.address;
    const sent = await stage.node.getTransactionCount({ address: sender });
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
    expect(await requestSettle(facilitator, payload, terms())).toMatchObject({ kind: "unknown" });
    expect(await stage.node.getTransactionCount({ address: sender })).toBe(sent);
    await close();
  });
});

describe("a contract account", () => {
  // It counts down from 20,000 first, which takes about half a million gas.
  const BURNING_ACCOUNT = concatHex(["0x614e205b6001900380600357505b", ACCEPTING_ACCOUNT_CODE]);

  async function contractPayer(code: Hex) {
    const { address, payload } = await openContractPayer(stage, paid, code);
    return { address, header: Buffer.from(JSON.stringify(await payload())).toString("base64") };
  }

  it("accepts a contract account's own kind of signature", async () => {
    const { address, header } = await contractPayer(ACCEPTING_ACCOUNT_CODE);
    expect((await fetchWithPayment(paid, header)).status).toBe(200);
    expect(await stage.balance(address)).toBe(1_000_000n - TEST_PRICE);
  });

  it("does not pay for the work of a contract account", async () => {
    const { address, header } = await contractPayer(BURNING_ACCOUNT);
    const before = await stage.inProcess.readGasBalance();
    expect((await fetchWithPayment(paid, header)).status).toBe(402);
    expect(await stage.inProcess.readGasBalance()).toBe(before);
    expect(await stage.balance(address)).toBe(1_000_000n);
  });
});

describe("a signature wrapped for a contract that is not deployed (ERC-6492)", () => {
  const MAGIC = "6492".repeat(16);
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const MALFORMED: readonly (readonly [what: string, signature: Hex])[] = [
    ["has nothing inside", `0x${MAGIC}`],
    ["is cut off", `0x${"00".repeat(31)}${MAGIC}`],
    ["has a key's signature where the wrapper should be", `0x${"22".repeat(64)}1b${MAGIC}`],
    ["points behind its end", `0x${word(1)}${word(2 ** 40)}${word(2 ** 40)}${MAGIC}`],
    [
      "claims a longer signature than it has",
      `0x${word(1)}${word(96)}${word(128)}${word(0)}${word(9_999)}${MAGIC}`,
    ],
  ];

  it.each(MALFORMED)("is a wrong signature if it %s, of a key and of a contract", async (_, signature) => {
    const contract = await openContractPayer(stage, paid, ACCEPTING_ACCOUNT_CODE);
    const { payload } = await signPaymentFor(paid, await stage.payer(), stage.asset);
    const ofKey = { ...payload, payload: { ...payload.payload, signature } };
    for (const payment of [ofKey, await contract.payload(signature)]) {
      const rejected = { kind: "rejected", reason: "invalid_exact_evm_signature" };
      expect(await requestVerify(stage.inProcess, payment, terms())).toEqual(rejected);
      expect(await requestSettle(stage.inProcess, payment, terms())).toMatchObject(rejected);
      const header = Buffer.from(JSON.stringify(payment)).toString("base64");
      expect((await fetchWithPayment(paid, header)).status).toBe(402);
    }
  });
});

describe("what a verification costs", () => {
  const changed = (payload: PaymentPayload, signature: Hex): PaymentPayload => ({
    ...payload,
    payload: { ...payload.payload, signature },
  });
  const signedBy = async (payer: PrivateKeyAccount) =>
    (await signPaymentFor(paid, payer, stage.asset)).payload;
  const wrapped = (inner: Hex) =>
    serializeErc6492Signature({ address: stage.asset, data: "0x", signature: inner });
  const REJECTING_ACCOUNT: Hex = "0x5f5ffd";
  // Loops until its gas is used up, whatever it is called with.
  const ENDLESS_ACCOUNT: Hex = "0x5b5f56";

  const forged = (payload: PaymentPayload) => changed(payload, `0x${"22".repeat(64)}1b`);
  const ofContract = async (code: Hex, dollars?: bigint) =>
    (await openContractPayer(stage, paid, code, dollars)).payload();
  const used = async () => {
    const payload = await signedBy(await stage.payer());
    expect(await requestSettle(stage.inProcess, payload, terms())).toMatchObject({ kind: "settled" });
    return payload;
  };

  type Kind = readonly [kind: string, reason: string, calls: number, make: () => Promise<PaymentPayload>];
  const KINDS: readonly Kind[] = [
    ["a good payment of a key", "valid", 2, async () => signedBy(await stage.payer())],
    ["a forged payment", WRONG_SIGNATURE, 1, async () => forged(await signedBy(await stage.payer()))],
    [
      "a forged payment of an unfunded key",
      WRONG_SIGNATURE,
      1,
      async () => forged(await signedBy(await stage.payer(0n))),
    ],
    ["an unfunded key", INSUFFICIENT_BALANCE, 1, async () => signedBy(await stage.payer(0n))],
    ["a used nonce", NONCE_USED, 1, used],
    ["a forged payment with a used nonce", WRONG_SIGNATURE, 1, async () => forged(await used())],
    [
      "an account that is not deployed",
      ACCOUNT_NOT_DEPLOYED,
      1,
      async () => changed(await signedBy(await stage.payer(0n)), wrapped(`0x${"22".repeat(65)}`)),
    ],
    ["a good payment of a contract account", "valid", 3, () => ofContract(ACCEPTING_ACCOUNT_CODE)],
    ["an unfunded contract account", INSUFFICIENT_BALANCE, 2, () => ofContract(ACCEPTING_ACCOUNT_CODE, 0n)],
    [
      "a contract account that rejects the signature",
      WRONG_SIGNATURE,
      2,
      () => ofContract(REJECTING_ACCOUNT),
    ],
    ["an unfunded one that rejects it", WRONG_SIGNATURE, 2, () => ofContract(REJECTING_ACCOUNT, 0n)],
    ["a contract account that never ends", WRONG_SIGNATURE, 2, () => ofContract(ENDLESS_ACCOUNT)],
  ];

  it("calls a node once for a worthless payment, and once more for the code of its payer", async () => {
    // Stands still, so that the fees are read once.
    const nowMs = Date.now();
    const { facilitator, wire, close } = await openWire({}, { ...systemClock, nowMs: () => nowMs });
    await requestVerify(facilitator, await signedBy(await stage.payer()), terms());
    const seen: unknown[] = [];
    for (const [kind, , , make] of KINDS) {
      const payload = await make();
      const before = wire.methods.length;
      const verdict = await requestVerify(facilitator, payload, terms());
      const reason = verdict.kind === "rejected" ? verdict.reason : verdict.kind;
      seen.push([kind, reason, wire.methods.length - before]);
    }
    expect(seen).toEqual(KINDS.map(([kind, reason, calls]) => [kind, reason, calls]));
    await close();
  });

  it.each([
    ["an error", { error: { code: 3, message: "execution reverted" } }],
    ["nothing", { result: "0x" }],
  ])("verifies on a node that gives %s for a call without a recipient", async (_, instead) => {
    const { facilitator, close } = await openWire({
      instead: {
        eth_call: async ([call]) => ((call as { to?: Hex }).to === undefined ? instead : null),
      },
    });
    expect(await requestVerify(facilitator, await signedBy(await stage.payer()), terms())).toEqual({
      kind: "valid",
    });
    expect(await requestVerify(facilitator, await signedBy(await stage.payer(0n)), terms())).toMatchObject({
      reason: INSUFFICIENT_BALANCE,
    });
    await close();
  });
});

describe("the endpoints", () => {
  const endpoint = (
    path: string,
    rules: Partial<PaidStage["rules"] & { payees: Hex[] | null }> = {},
    options: { clock?: Clock; facilitator?: LocalFacilitator } = {},
  ) => {
    const all = createFacilitatorEndpoints({
      facilitator: stage.inProcess,
      rules: { ...stage.rules, payees: null, ...rules },
      log: silentLog,
      ...options,
    });
    const found = all.find((each) => each.path === path);
    if (!found) throw new Error(`there is no ${path}`);
    return (body: unknown) =>
      found.handle({
        values: {},
        rawBody: Buffer.alloc(0),
        body,
        headers: {},
        client: "192.0.2.1",
        isHead: false,
        minBlock: null,
      });
  };
  const request = (paymentPayload: PaymentPayload, changed: Partial<PaymentRequirements> = {}) => ({
    x402Version: 2,
    paymentPayload,
    paymentRequirements: { ...terms(), ...changed },
  });

  it("carries out no other tokens, chains, payees, small change or other terms", async () => {
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    const before = await stage.inProcess.readGasBalance();
    const cases: [PaymentPayload, Partial<PaymentRequirements>, object][] = [
      [payload, { asset: stage.payTo }, {}],
      [payload, { network: "eip155:1" }, {}],
      [{ ...payload, accepted: { ...payload.accepted, network: "eip155:1" } }, {}, {}],
      [payload, { payTo: payer.address }, {}],
      [payload, { amount: "9999" }, {}],
      [payload, {}, { amountMin: TEST_PRICE + 1n }],
      [payload, {}, { payees: [payer.address.toLowerCase()] }],
    ];
    for (const [sent, changed, rules] of cases) {
      const verified = await endpoint("/verify", rules)(request(sent, changed));
      expect([verified.body, changed, rules]).toMatchObject([
        { isValid: false, invalidReason: "payment_not_served" },
        changed,
        rules,
      ]);
      const settled = await endpoint("/settle", rules)(request(sent, changed));
      expect(settled.body).toMatchObject({
        success: false,
        errorReason: "payment_not_served",
        transaction: "",
      });
    }
    expect(await stage.inProcess.readGasBalance()).toBe(before);
  });

  it("settles the same payment once, however often it is sent at once", async () => {
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    const settle = endpoint("/settle");
    const before = await stage.node.getTransactionCount({ address: stage.inProcess.address });
    const settled = await Promise.all(Array.from({ length: 5 }, () => settle(request(payload))));
    expect(settled.every(({ body }) => (body as { success: boolean }).success)).toBe(true);
    expect(await stage.node.getTransactionCount({ address: stage.inProcess.address })).toBe(before + 1);
  });
  it("reports the success of a payment also after it has expired", async () => {
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    const later = { ...systemClock, nowMs: () => Date.now() + 600_000 };
    const repeat = endpoint("/settle", {}, { clock: later });
    expect((await repeat(request(payload))).body).toMatchObject({ success: false, transaction: "" });
    const settled = await endpoint("/settle")(request(payload));
    expect(settled.body).toMatchObject({ success: true });
    const { transaction } = settled.body as { transaction: string };
    expect((await repeat(request(payload))).body).toMatchObject({ success: true, transaction });
    const other = { ...payload, payload: { ...payload.payload, signature: `0x${"11".repeat(65)}` } };
    expect((await repeat(request(other))).body).toMatchObject({ success: false, transaction: "" });
  });

  it("does not call an expired payment rejected while its transaction may still be mined", async () => {
    let facilitatorMs = 0;
    const facilitator = openTestFacilitator(stage, {
      privateKey: stage.chain.accounts.attestor.privateKey,
      confirmationMs: 300,
      clock: { ...systemClock, nowMs: () => Date.now() + facilitatorMs },
    });
    const later = { ...systemClock, nowMs: () => Date.now() + 600_000 };
    const repeat = endpoint("/settle", {}, { clock: later, facilitator });
    const unavailable = { code: "FACILITATOR_UNAVAILABLE" };
    const rejected = { success: false, errorReason: "payment_not_served" };
    const payers = [await stage.payer(), await stage.payer()] as const;
    await stage.chain.request("evm_setAutomine", [false]);
    onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
    const sendWithoutBlock = async (payer: PrivateKeyAccount) => {
      const { payload } = await signPaymentFor(paid, payer, stage.asset);
      const { body } = await endpoint("/settle", {}, { facilitator })(request(payload));
      const { transaction } = body as { transaction: string };
      expect(transaction).toMatch(/^0x/);
      return { payload, transaction };
    };

    const mined = await sendWithoutBlock(payers[0]);
    await expect(repeat(request(mined.payload))).rejects.toMatchObject(unavailable);
    await stage.chain.mine();
    const { transaction } = mined;
    expect((await repeat(request(mined.payload))).body).toMatchObject({ success: true, transaction });

    const dropped = await sendWithoutBlock(payers[1]);
    await stage.chain.request("hardhat_dropTransaction", [dropped.transaction]);
    await expect(repeat(request(dropped.payload))).rejects.toMatchObject(unavailable);
    facilitatorMs += 61_000;
    expect((await repeat(request(dropped.payload))).body).toMatchObject(rejected);
  });

  it("fails as unavailable, with a message, while fees are above the limit", async () => {
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    await stage.chain.request("hardhat_setNextBlockBaseFeePerGas", ["0x3b9aca00"]);
    await stage.chain.mine();
    const thrifty = openTestFacilitator(stage, {
      privateKey: stage.chain.accounts.attestor.privateKey,
      gas: { feePerGasMax: 1_000n },
    });
    for (const path of ["/verify", "/settle"]) {
      const rejected = endpoint(path, {}, { facilitator: thrifty })(request(payload));
      await expect(rejected).rejects.toMatchObject({
        code: "FACILITATOR_UNAVAILABLE",
        message: expect.stringContaining("fees are above"),
      });
    }
    expect(await stage.transfersFrom(payer.address)).toEqual([]);
  });
});

describe("a chain whose clock stands still", () => {
  /** A payment that is valid by our clock from now on, and by the chain's clock not before its next block. */
  async function signFromNewestBlock(payer: PrivateKeyAccount) {
    const { timestamp } = await stage.node.getBlock();
    const now = BigInt(Math.floor(Date.now() / 1_000));
    // Blocks of a busy chain may be ahead of our clock.
    const validAfter = timestamp < now ? timestamp : now;
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    const authorization = { ...Object(payload.payload.authorization), validAfter: validAfter.toString() };
    const { from, to, value, validBefore, nonce } = authorization as Record<string, string>;
    const token = { name: "USD Coin", version: "2", chainId: 31_337, address: stage.asset };
    const message = {
      from: from as Hex,
      to: to as Hex,
      value: BigInt(value ?? 0),
      validAfter,
      validBefore: BigInt(validBefore ?? 0),
      nonce: nonce as Hex,
    };
    const signature = await payer.signTypedData(transferTypedData(token, message));
    return { ...payload, payload: { authorization, signature } } as PaymentPayload;
  }

  it("names a chain clock that stands still, and accepts the payment after the next block", async () => {
    const payer = await stage.payer();
    const payload = await signFromNewestBlock(payer);
    const facilitator = openTestFacilitator(stage, { privateKey: stage.chain.accounts.attestor.privateKey });
    expect(await requestVerify(facilitator, payload, terms())).toEqual({
      kind: "rejected",
      reason: "authorization_not_valid_yet_on_chain",
    });
    const header = Buffer.from(JSON.stringify(payload)).toString("base64");
    const response = await fetchWithPayment(paid, header);
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ error: expect.stringMatching(/newest block.*validAfter/) });
    await stage.chain.request("evm_increaseTime", [2]);
    await stage.chain.mine();
    expect(await requestVerify(facilitator, payload, terms())).toEqual({ kind: "valid" });
    expect((await fetchWithPayment(paid, header)).status).toBe(200);
  });
});
