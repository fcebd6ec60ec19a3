// Several facilitators over one database: a key each, one transaction a payment, and the work of a dead one goes on.
// Fast tests of the same rules, with one facilitator: local.test.ts and idempotent-settle.test.ts.
import { localAccount } from "@sextant/local-chain/accounts";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { openResponseProxy } from "../../../tests/support/nodes/response-proxy.ts";
import { signPaymentFor, TEST_NETWORK, waitFor } from "../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../../../tests/support/payments/paid-stage.ts";
import {
  ACCEPTING_ACCOUNT_CODE,
  LONG_SIGNATURE_ACCOUNT_CODE,
  openContractPayer,
  openTestFacilitator,
  paymentTermsOf,
} from "../../../tests/support/payments/test-facilitator.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { toCaip2Network } from "../../lib/caip2.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import { Secret } from "../../lib/secret.ts";
import { type Database, openDatabase } from "../../store/postgres/database.ts";
import { requestSettle, requestVerify } from "./facilitator.ts";
import { claimKey, type KeyClaim } from "./key-claim.ts";
import { openLocalFacilitator } from "./local.ts";

let stage: PaidStage;
let place: TestDatabase;
let paid: string;
beforeAll(async () => {
  [stage, place] = await Promise.all([openPaidStage("in process"), createMigratedDatabase()]);
  paid = `${(await stage.serve()).url}/paid?q=x`;
});
afterAll(async () => {
  await stage.close();
  await place.drop();
});

type Account = "attestor" | "guardian";
const addressOf = (account: Account) => stage.chain.accounts[account].address.toLowerCase() as Hex;
const sentBy = (account: Account) => stage.node.getTransactionCount({ address: addressOf(account) });
const signed = async () => (await signPaymentFor(paid, await stage.payer(), stage.asset)).payload;

type ProcessOptions = {
  readonly turnMsMax?: number;
  readonly urls?: readonly string[];
  readonly clock?: Clock;
  readonly confirmationMs?: number;
};

// As long as a process waits for a block in a test that mines none.
const NO_BLOCK = { confirmationMs: 300 };

/** As a process of its own: its own connections, which the test can end. */
async function openProcess(account: Account, { turnMsMax, ...options }: ProcessOptions = {}) {
  const name = `${account} ${Math.random()}`;
  const database = await openDatabase({
    ...{ connection: place.connection, schema: "sextant", poolMax: 2, log: silentLog, applicationName: name },
  });
  const claim = await claimOf(database, account, turnMsMax === undefined ? {} : { turnMsMax });
  onTestFinished(async () => {
    await claim.release();
    await database.close();
  });
  const { privateKey } = stage.chain.accounts[account];
  const facilitator = openTestFacilitator(stage, { ...options, privateKey, database, turns: claim });
  return {
    claim,
    settle: (payload: PaymentPayload, terms: Partial<PaymentRequirements> = {}) =>
      requestSettle(facilitator, payload, { ...paymentTermsOf(stage), ...terms }),
    facilitator,
    database,
    loseSession: () => loseSession(database, `${name} lock`, claim),
  };
}

/**
 * A process to which some responses of the node are held until `release`; `reached` resolves when the first is held.
 */
async function openHeldProcess(
  method: string,
  isHeld: (params: readonly unknown[]) => boolean,
  options: Pick<ProcessOptions, "clock" | "confirmationMs"> = {},
) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let reach = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const hold = async (params: readonly unknown[]) => {
    if (!isHeld(params)) return null;
    reach();
    await released;
    return null;
  };
  const wire = await openResponseProxy(stage.chain.rpcUrl, { instead: { [method]: hold } });
  onTestFinished(() => wire.close());
  onTestFinished(() => release());
  return { process: await openProcess("attestor", { ...options, urls: [wire.url] }), release, reached };
}

/**
 * The server ends the session that holds the key, as it does when a process is killed. The key is not claimed again
 * before `reclaim`: a process that claims one records it in a table that is locked until then.
 */
async function loseSession(database: Database, applicationName: string, claim: KeyClaim) {
  let unlock = () => {};
  const unlocked = new Promise<void>((resolve) => (unlock = resolve));
  const locking = database.transaction(async (session) => {
    await session.query({ text: "lock table lock_holders in exclusive mode" });
    const text = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1";
    await session.query({ text, values: [applicationName] });
    await unlocked;
  });
  await waitFor(() => !claim.isHeld);
  return {
    async reclaim() {
      unlock();
      await locking;
      await waitFor(() => claim.isHeld);
    },
  };
}

const claimOf = (database: Database, account: Account, options: { readonly turnMsMax?: number } = {}) =>
  claimKey({
    ...{ database, network: TEST_NETWORK, address: addressOf(account), log: silentLog, waitMs: 0 },
    ...options,
  });

describe("a key", () => {
  it("lets one process at a time use a key, and says what the second must change", async () => {
    const first = await openProcess("attestor");
    await expect(openProcess("attestor")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("give each facilitator a key of its own"),
    });
    await first.claim.release();
    expect((await openProcess("attestor")).claim.isHeld).toBe(true);
  });

  it("lists the keys of all processes while they live", async () => {
    const [first, second] = [await openProcess("attestor"), await openProcess("guardian")];
    const both = [addressOf("attestor"), addressOf("guardian")].sort();
    expect(await first.claim.findClaimedAccounts()).toEqual(both);
    await first.claim.release();
    expect(await second.claim.findClaimedAccounts()).toEqual([addressOf("guardian")]);
  });

  it("claims a key again after its session ended, and sends nothing until then", async () => {
    const process = await openProcess("attestor");
    const payload = await signed();
    const sent = await sentBy("attestor");
    const lost = await process.loseSession();
    expect(await process.settle(payload)).toMatchObject({ kind: "unknown" });
    expect(await sentBy("attestor")).toBe(sent);
    await lost.reclaim();
    expect(await process.settle(payload)).toMatchObject({ kind: "settled" });
  });
});

describe("a process that cannot settle", () => {
  const gas = { facilitatorGasPriceMax: "2", facilitatorGasPercentMax: 100, facilitatorRevertedGasMax: 0 };
  /** As the commands open it. */
  async function openConfigured(privateKey: Hex) {
    const { asset, chain } = stage;
    const token = {
      asset,
      chainId: 31_337,
      network: toCaip2Network(31_337),
      name: "USD Coin",
      version: "2",
      decimals: 6,
    };
    const database = await openDatabase({
      ...{ connection: place.connection, schema: "sextant", poolMax: 2, log: silentLog },
      applicationName: "configured",
    });
    const facilitator = await openLocalFacilitator(gas, token, {
      ...{ urls: [new Secret(chain.rpcUrl)], privateKey: new Secret(privateKey), database, log: silentLog },
      onCall: null,
    });
    onTestFinished(async () => {
      await facilitator.close();
      await database.close();
    });
    return facilitator;
  }

  it("reports an account that cannot pay the gas of one transfer", async () => {
    const { privateKey, address } = localAccount(990);
    // Not nothing, and not enough.
    await stage.chain.request("hardhat_setBalance", [address, "0x10"]);
    const facilitator = await openConfigured(privateKey);
    expect(await facilitator.findProblem()).toMatch(
      /cannot pay the gas of a transfer: it has 16 wei and needs/,
    );
  });

  it("reports a lost key, and verifies nothing for which it could not be paid", async () => {
    const facilitator = await openConfigured(stage.chain.accounts.attestor.privateKey);
    const payload = await signed();
    expect(await facilitator.findProblem()).toBeNull();
    expect(await requestVerify(facilitator, payload, paymentTermsOf(stage))).toEqual({ kind: "valid" });
    await facilitator.close();
    expect(await facilitator.findProblem()).toContain("is not claimed by this process");
    const verified = await requestVerify(facilitator, payload, paymentTermsOf(stage));
    expect(verified).toMatchObject({ kind: "unavailable" });
  });
});

describe("a payment that reaches two processes at once", () => {
  it("sends a payment once that reaches two processes, with the same response from both", async () => {
    const processes = [await openProcess("attestor"), await openProcess("guardian")] as const;
    const payload = await signed();
    const before = (await sentBy("attestor")) + (await sentBy("guardian"));
    await stage.chain.request("evm_setAutomine", [false]);
    onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
    const outcomes = Promise.all(processes.map(({ settle }) => settle(payload)));
    await waitFor(async () => ((await stage.chain.request("eth_pendingTransactions")) as []).length > 0);
    await stage.chain.request("evm_setIntervalMining", [100]);
    onTestFinished(() => void stage.chain.request("evm_setIntervalMining", [0]));
    const [first, second] = await outcomes;
    expect(first).toMatchObject({ kind: "settled" });
    expect(second).toEqual(first);
    expect((await sentBy("attestor")) + (await sentBy("guardian"))).toBe(before + 1);
  });

  it("sends one of two payments at two processes if the money is enough for one", async () => {
    const processes = [
      await openProcess("attestor", NO_BLOCK),
      await openProcess("guardian", NO_BLOCK),
    ] as const;
    const payer = await stage.payer(0n);
    await stage.mint(payer.address, TEST_PRICE);
    const payloads = [
      (await signPaymentFor(paid, payer, stage.asset)).payload,
      (await signPaymentFor(paid, payer, stage.asset)).payload,
    ] as const;
    const settleBoth = () => Promise.all(processes.map(({ settle }, i) => settle(payloads[i === 0 ? 0 : 1])));
    const before = (await sentBy("attestor")) + (await sentBy("guardian"));
    await stage.chain.request("evm_setAutomine", [false]);
    onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
    // Each may find the other, and then sends nothing either.
    expect((await settleBoth()).map(({ kind }) => kind)).toEqual(["unknown", "unknown"]);
    expect(((await stage.chain.request("eth_pendingTransactions")) as []).length).toBeLessThanOrEqual(1);
    await stage.chain.mine();
    await stage.chain.request("evm_setAutomine", [true]);
    const outcomes = [await processes[0].settle(payloads[0]), await processes[1].settle(payloads[1])];
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["rejected", "settled"]);
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
    expect((await sentBy("attestor")) + (await sentBy("guardian"))).toBe(before + 1);
  });

  it.each([
    ["attestor", "guardian"],
    ["guardian", "attestor"],
  ] as const)(
    "rejects a payment once the other one, which %s sent, has taken the money",
    async (sender, other) => {
      const [sending, late] = [await openProcess(sender, NO_BLOCK), await openProcess(other, NO_BLOCK)];
      const payer = await stage.payer(0n);
      await stage.mint(payer.address, TEST_PRICE);
      const first = (await signPaymentFor(paid, payer, stage.asset)).payload;
      const second = (await signPaymentFor(paid, payer, stage.asset)).payload;
      const sent = await sentBy(other);
      await stage.chain.request("evm_setAutomine", [false]);
      onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
      const pending = { kind: "unknown", transaction: expect.stringMatching(/^0x/) };
      expect(await sending.settle(first)).toMatchObject(pending);
      expect(await late.settle(second)).toMatchObject({ kind: "unknown", transaction: null });
      await stage.chain.mine();
      await stage.chain.request("evm_setAutomine", [true]);
      expect(await late.settle(second)).toMatchObject({ kind: "rejected" });
      expect(await sending.settle(first)).toMatchObject({ kind: "settled" });
      expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
      expect(await sentBy(other)).toBe(sent);
    },
  );

  it("sends one payment at a time of an account with code", async () => {
    const processes = [await openProcess("attestor"), await openProcess("guardian")] as const;
    const account = await openContractPayer(stage, paid, ACCEPTING_ACCOUNT_CODE);
    const payloads = await Promise.all([account.payload(), account.payload()]);
    const outcomes = await Promise.all(
      processes.map(({ settle }, i) => settle(payloads[i] as PaymentPayload)),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(["settled", "settled"]);
    const blocks = (await stage.transfersFrom(account.address)).map(({ blockNumber }) => blockNumber);
    expect(new Set(blocks).size).toBe(2);
  });

  it("leaves a payment to the process that has it, as long as a request may wait", async () => {
    const [first, second] = [
      await openProcess("attestor"),
      await openProcess("guardian", { turnMsMax: 300 }),
    ];
    let release = () => {};
    const busy = first.claim.run(["a payment"], () => new Promise<void>((resolve) => (release = resolve)));
    await waitFor(async () =>
      second.claim
        .run(["a payment"], async () => false)
        .catch((error: Error) => /still busy/.test(error.message)),
    );
    const slots = ["a payment", "another"];
    await expect(second.claim.run(slots, async () => "the other")).resolves.toBe("the other");
    release();
    await busy;
    await expect(second.claim.run(["a payment"], async () => "free")).resolves.toBe("free");
  });
});

describe("a request that its payer did not sign", () => {
  const rejected = { kind: "rejected", reason: "invalid_exact_evm_signature", transaction: null };

  it("reserves no money of a plain key for a request that it did not sign", async () => {
    const payer = await stage.payer();
    const { payload } = await signPaymentFor(paid, payer, stage.asset);
    const [value, nonce] = [(2n ** 255n).toString(), `0x${"d1".repeat(32)}`];
    const authorization = { ...Object(payload.payload.authorization), value, nonce };
    const unsigned = { ...payload, payload: { ...payload.payload, authorization } };
    const [process, other] = [await openProcess("attestor"), await openProcess("guardian")];
    // However short a reservation would be, storing it fails.
    const change = (action: string) =>
      process.database.query(`alter table facilitator_settlements ${action}`);
    await change(`add constraint reserves_nothing check (nonce <> '${nonce}')`);
    onTestFinished(async () => void (await change("drop constraint reserves_nothing")));
    expect(await process.settle(unsigned, { amount: value })).toEqual(rejected);
    expect(await other.settle(payload)).toMatchObject({ kind: "settled" });
  });

  it("takes no turn of an account with code for a request that it did not sign", async () => {
    const account = await openContractPayer(stage, paid, LONG_SIGNATURE_ACCOUNT_CODE);
    const unsigned = await account.payload(`0x${"cd".repeat(65)}`);
    const IS_VALID_SIGNATURE = "0x1626ba7e";
    const { process, release, reached } = await openHeldProcess("eth_call", ([call]) =>
      (call as { data: Hex }).data.startsWith(IS_VALID_SIGNATURE),
    );
    const other = await openProcess("guardian", { turnMsMax: 300 });
    const outcome = process.settle(unsigned);
    await reached;
    expect(await other.settle(await account.payload())).toMatchObject({ kind: "settled" });
    release();
    await outcome;
    expect(await process.settle(unsigned)).toEqual(rejected);
  });
});

describe("a payment whose transaction was dropped", () => {
  it("counts a dropped payment against the payer's money while it is sent again", async () => {
    const later = { ...systemClock, nowMs: () => Date.now() + 61_000 };
    const payer = await stage.payer(0n);
    await stage.mint(payer.address, TEST_PRICE);
    const dropped = (await signPaymentFor(paid, payer, stage.asset)).payload;
    const other = (await signPaymentFor(paid, payer, stage.asset)).payload;
    await stage.chain.request("evm_setAutomine", [false]);
    onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
    const before = await openProcess("attestor", NO_BLOCK);
    const sent = await before.settle(dropped);
    const pending = { kind: "unknown", transaction: expect.stringMatching(/^0x/) };
    expect(sent).toMatchObject(pending);
    await stage.chain.request("hardhat_dropTransaction", [(sent as { transaction: Hex }).transaction]);
    await before.claim.release();

    const held = await openHeldProcess("eth_estimateGas", () => true, { ...NO_BLOCK, clock: later });
    const late = await openProcess("guardian", { ...NO_BLOCK, clock: later });
    const outcome = held.process.settle(dropped);
    await held.reached;
    expect(await late.settle(other)).toMatchObject({ kind: "unknown", transaction: null });
    held.release();
    await outcome;
    expect(await held.process.settle(dropped)).toMatchObject(pending);
    await stage.chain.mine();
    expect(await late.settle(other)).toMatchObject({ kind: "rejected" });
    expect(await held.process.settle(dropped)).toMatchObject({ kind: "settled" });
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
  });
});

describe("a payment of a process that died", () => {
  it("finds a payment that a dead process sent, and does not send it again", async () => {
    const [dying, other] = [await openProcess("attestor"), await openProcess("guardian")];
    const payload = await signed();
    await stage.chain.request("evm_setAutomine", [false]);
    onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
    void dying.settle(payload);
    await waitFor(async () => ((await stage.chain.request("eth_pendingTransactions")) as []).length > 0);
    const sent = await sentBy("guardian");
    await dying.claim.release();
    const taken = other.settle(payload);
    await stage.chain.mine();
    expect(await taken).toMatchObject({ kind: "settled" });
    expect(await sentBy("guardian")).toBe(sent);
  });

  it("sends a dead process's payment again if the chain has lost it", async () => {
    const [dying, other] = [await openProcess("attestor"), await openProcess("guardian")];
    const payload = await signed();
    await stage.chain.request("evm_setAutomine", [false]);
    onTestFinished(() => void stage.chain.request("evm_setAutomine", [true]));
    void dying.settle(payload);
    const pending = async () => (await stage.chain.request("eth_pendingTransactions")) as { hash: Hex }[];
    await waitFor(async () => (await pending()).length > 0);
    for (const { hash } of await pending()) await stage.chain.request("hardhat_dropTransaction", [hash]);
    await dying.claim.release();
    const sent = await sentBy("guardian");
    await stage.chain.request("evm_setAutomine", [true]);
    expect(await other.settle(payload)).toMatchObject({ kind: "settled" });
    expect(await sentBy("guardian")).toBe(sent + 1);
  });

  it("rejects statements of a process that has lost its turn", async () => {
    const process = await openProcess("attestor");
    const lost = process.claim.run(["a payment"], async (store) => {
      await (await process.loseSession()).reclaim();
      return store.run({ text: "select 1", values: [], pieces: ["select 1"] });
    });
    await expect(lost).rejects.toMatchObject({ code: "DATABASE_LOCK_LOST" });
  });
});
