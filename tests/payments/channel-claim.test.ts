// Claims go out in time whatever the mirror of channels does, each once, and a bad one keeps no other back.
import { numberToHex } from "viem";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createRpc } from "../../src/chain/rpc/client.ts";
import type { Rpc } from "../../src/chain/rpc/types.ts";
import { Secret } from "../../src/lib/secret.ts";
import type { ChannelSender } from "../../src/payments/channels/channel-sender.ts";
import type { PaymentFacilitator } from "../../src/payments/facilitator/facilitator.ts";
import { createRemoteChannelSender } from "../../src/payments/facilitator/remote-channels.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { openTestFacilitator } from "../support/payments/test-facilitator.ts";
import { silentLog } from "../support/quiet-log.ts";

const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function openStage(kind: "in process" | "over HTTP" = "in process") {
  const stage = await openPaidStage(kind, backend);
  opened.push(stage.close);
  return stage;
}

/** A client of the node that stops responding when the test says so. */
function openFailingRpc(stage: PaidStage) {
  const real = createRpc({ urls: [new Secret(stage.chain.rpcUrl)], log: silentLog, onCall: null });
  opened.push(() => real.close());
  const state = { isAway: false };
  const rpc: Rpc = {
    request: (...args) => real.request(...args),
    batch: (...args) => real.batch(...args),
    providers: () => real.providers(),
    close: () => real.close(),
    pinned: (...args) => (state.isAway ? Promise.reject(new Error("it is away")) : real.pinned(...args)),
  };
  return { rpc, state };
}

/** A facilitator of its own, on a chain whose gas costs more than it pays while the test says so. */
function openDearGas(stage: PaidStage) {
  const gas = { isDear: false, rejected: 0 };
  const thrifty = openTestFacilitator(stage, {
    privateKey: stage.chain.accounts.attestor.privateKey,
    gas: { feePerGasMax: 10n ** 9n },
  });
  const setBaseFee = async (wei: bigint) => {
    await stage.chain.request("hardhat_setNextBlockBaseFeePerGas", [`0x${wei.toString(16)}`]);
    await stage.chain.mine();
  };
  const sender: ChannelSender = {
    ...thrifty.channels,
    send: async (...call) => {
      await setBaseFee(gas.isDear ? 10n ** 10n : 0n);
      try {
        return await thrifty.channels.send(...call);
      } catch (error) {
        expect(String(error)).toContain("The base fee is 10 gwei; the limit");
        gas.rejected += 1;
        throw error;
      } finally {
        await setBaseFee(0n);
      }
    },
  };
  return { sender, gas };
}

/** Many channels with a voucher each, and a chain that reverts each transaction with one of the bad ones. */
async function openManyChannels(stage: PaidStage, count: number, bad: readonly number[]) {
  const sent = { reverted: 0, mined: 0 };
  const idOf = (index: number) => numberToHex(index + 1, { size: 32 });
  const payerOf = (index: number) => numberToHex(index + 1, { size: 20 });
  const badPayers = new Set(bad.map(payerOf));
  const query = (text: string, values: readonly (string | number | readonly string[])[] = []) =>
    stage.database.query<{ channel: object }>({ text, values: [...values] });
  const sender: ChannelSender = {
    ...stage.sender,
    wouldSucceed: async () => true,
    async send({ claims }, hooks) {
      const configs = (claims?.claims ?? []).map(({ config }) => config);
      const transaction = numberToHex(sent.reverted + sent.mined + 1, { size: 32 });
      await hooks.beforeSend(transaction);
      const isBad = configs.some(({ payer }) => badPayers.has(payer));
      sent[isBad ? "reverted" : "mined"] += 1;
      if (isBad) return { kind: "reverted", transaction };
      await query("update payment_channels set total_claimed = charged where payer = any($1)", [
        configs.map(({ payer }) => payer),
      ]);
      return { kind: "mined", transaction };
    },
  };
  const service = await stage.serve({ channels: { sender } });
  const world = await openChannelWorld(stage);
  await world.deposit(2n * TEST_PRICE);
  await expect(world.buy(service, 1)).resolves.toBe(200);
  const { rows } = await query("select row_to_json(c) as channel from payment_channels c");
  const add = async (more: number, from: number) => {
    const channels = Array.from({ length: more }, (_, at) => ({
      ...{ ...rows[0]?.channel, channel_id: idOf(from + at), payer: payerOf(from + at) },
      ...{ balance: 1_000, charged: 1_000 - from - at },
    }));
    const text =
      "insert into payment_channels select * from json_populate_recordset(null::payment_channels, $1)";
    await query(text, [JSON.stringify(channels)]);
  };
  await add(count, 0);
  await query("delete from payment_channels where channel_id = $1", [world.channelId]);
  // The contract knows none of them.
  Object.assign(service.channels?.mirror ?? {}, { follow: async () => undefined });
  return {
    sent,
    add: (more: number) => add(more, count),
    async runs(times: number) {
      for (let run = 0; run < times; run += 1) await service.claims?.claimNow(null);
    },
    async claimed() {
      const found = await query("select 1 from payment_channels where total_claimed = charged");
      return found.rows.length;
    },
    /** Lets time pass, for what the database has of claims. */
    async age(seconds: number) {
      const ago = "- $1 * interval '1 second'";
      await query(`update payment_channels set claim_sent_at = claim_sent_at ${ago}`, [seconds]);
      await query(`update channel_transactions set reverted_at = reverted_at ${ago}`, [seconds]);
    },
  };
}

describe("claims of channels", () => {
  it("claims before a withdrawal ends although our node shows nothing, and only once", async () => {
    const stage = await openStage();
    const { rpc, state } = openFailingRpc(stage);
    const service = await stage.serve({ channels: { rpc } });
    const world = await openChannelWorld(stage);
    await world.deposit(10n * TEST_PRICE);
    await expect(world.buy(service, 1)).resolves.toBe(200);
    const before = await stage.balance(stage.payTo);
    state.isAway = true;
    await world.payerSends("initiateWithdraw", [world.config, 9n * TEST_PRICE]);
    await service.gate.reconcile().catch(() => undefined);
    expect(await stage.balance(stage.payTo)).toBe(before);
    // As if a third of the delay had passed.
    await stage.database.query({ text: "update channel_scans set block_time = block_time - 301" });
    const sent = () => stage.node.getTransactionCount({ address: stage.chain.accounts.facilitator.address });
    const sentBefore = await sent();
    await expect(service.gate.reconcile()).rejects.toThrow("it is away");
    expect((await stage.balance(stage.payTo)) - before).toBe(TEST_PRICE);
    await service.gate.reconcile().catch(() => undefined);
    expect((await sent()) - sentBefore).toBe(1);
  });

  it("claims nothing that is worth less than its gas, also if its payer withdraws", async () => {
    const stage = await openStage();
    const claimRules = { valueMin: 1_000_000n, ageSecondsMax: 3_600, rowMin: 2n * TEST_PRICE };
    const service = await stage.serve({ channels: { claimRules } });
    const world = await openChannelWorld(stage);
    await world.deposit(10n * TEST_PRICE);
    await expect(world.buy(service, 1)).resolves.toBe(200);
    await world.payerSends("initiateWithdraw", [world.config, 5n * TEST_PRICE]);
    await service.gate.reconcile();
    await expect(stage.balance(stage.payTo)).resolves.toBe(0n);
    await expect(world.buy(service, 2)).resolves.toBe(200);
    await service.gate.reconcile();
    await expect(stage.balance(stage.payTo)).resolves.toBe(2n * TEST_PRICE);
  });

  it.each([
    ["size", { valueMin: TEST_PRICE, ageSecondsMax: 3_600 }, false],
    ["age", { valueMin: 1_000_000n, ageSecondsMax: 0 }, false],
    ["a withdrawal", { valueMin: 1_000_000n, ageSecondsMax: 3_600 }, true],
  ])(
    "waits while gas is above the limit, although %s asks for it, and claims all at once when it is not",
    async (_, claimRules, withdraws) => {
      const stage = await openStage();
      const { sender, gas } = openDearGas(stage);
      const service = await stage.serve({ channels: { claimRules, sender } });
      const world = await openChannelWorld(stage);
      await world.deposit(10n * TEST_PRICE);
      await expect(world.buy(service, 1)).resolves.toBe(200);
      if (withdraws) await world.payerSends("initiateWithdraw", [world.config, 8n * TEST_PRICE]);
      gas.isDear = true;
      for (let run = 0; run < 2; run += 1) await service.gate.reconcile().catch(() => undefined);
      await expect(stage.balance(stage.payTo)).resolves.toBe(0n);
      expect(gas.rejected).toBeGreaterThan(0);
      const { rows } = await stage.database.query("select 1 from channel_transactions where is_open");
      expect(rows).toEqual([]);
      // Purchases go on, up to what is covered.
      if (!withdraws) await expect(world.buy(service, 2)).resolves.toBe(200);
      gas.isDear = false;
      const claimed = async () => {
        // Fees are asked for every few seconds.
        await service.gate.reconcile().catch(() => undefined);
        return stage.balance(stage.payTo);
      };
      await expect.poll(claimed, { timeout: 30_000 }).toBe((withdraws ? 1n : 2n) * TEST_PRICE);
    },
  );

  it("passes by a claim that has failed, however large it is", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const worlds = [await openChannelWorld(stage), await openChannelWorld(stage)] as const;
    for (const world of worlds) await world.deposit(10n * TEST_PRICE);
    const [large, small] = worlds;
    for (const purchases of [1, 2]) await large.buy(service, purchases);
    await small.buy(service, 1);
    const { claimRows, authorizers } = service.channels ?? {};
    await claimRows?.markFailed([large.channelId]);
    const found = await claimRows?.findUnclaimed([...(authorizers?.keys() ?? [])], 1);
    expect(found?.map(({ row }) => row.channelId)).toEqual([small.channelId]);
  });

  it("claims the others at once when one payer is faster in every block", async () => {
    const stage = await openStage();
    const bad = await openChannelWorld(stage);
    let reverts = 0;
    const sender: ChannelSender = {
      ...stage.sender,
      async send(call, hooks) {
        const isOvertaken =
          call.claims?.claims.some(({ config }) => config.payer === bad.config.payer) ?? false;
        if (!isOvertaken) return stage.sender.send(call, hooks);
        reverts += 1;
        const transaction = `0x${reverts.toString(16).padStart(64, "0")}` as const;
        await hooks.beforeSend(transaction);
        return { kind: "reverted", transaction };
      },
    };
    const service = await stage.serve({ channels: { sender } });
    const worlds = [bad];
    while (worlds.length < 6) worlds.push(await openChannelWorld(stage));
    for (const world of worlds) {
      await world.deposit(2n * TEST_PRICE);
      await expect(world.buy(service, 1)).resolves.toBe(200);
    }
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({
      claimed: 5,
      value: 5n * TEST_PRICE,
    });
    await expect(stage.balance(stage.payTo)).resolves.toBe(5n * TEST_PRICE);
    expect(reverts).toBeLessThanOrEqual(4);
    // It costs no gas again by itself before its time.
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ transaction: null });
  });

  it.each([
    [65, [0]],
    [100, [0]],
    [100, [63]],
    [100, [99]],
    [100, [0, 50]],
  ])(
    "claims %i channels but for those whose claims revert (%j), however often it runs, and burns little gas",
    async (count, bad) => {
      const stage = await openStage();
      const { claimed, runs, sent, age } = await openManyChannels(stage, count, bad);
      await runs(4);
      expect(await claimed()).toBe(count - bad.length);
      // Halving a hundred down to one takes eight reverts.
      expect(sent.reverted).toBeLessThanOrEqual(8 * bad.length);
      const before = { ...sent };
      await runs(10);
      expect(sent).toEqual(before);
      // A third of the shortest delay is left for what comes after it.
      await age(600);
      await runs(10);
      expect(sent.reverted - before.reverted).toBe(bad.length);
    },
    60_000,
  );

  it("claims new channels while old ones revert, and sends at most 24 reverting transactions in ten minutes", async () => {
    const stage = await openStage();
    const bad = Array.from({ length: 40 }, (_, index) => index);
    const { claimed, runs, sent, age, add } = await openManyChannels(stage, 40, bad);
    await runs(20);
    expect([await claimed(), sent.reverted]).toEqual([0, 24]);
    await add(5);
    await age(600);
    await runs(1);
    expect(await claimed()).toBe(5);
    await runs(20);
    expect(sent.reverted).toBe(48);
  }, 60_000);

  it("claims the others when a facilitator's simulation rejects one", async () => {
    const stage = await openStage("over HTTP");
    const rejected: string[] = [];
    const facilitator: PaymentFacilitator = {
      ...stage.facilitator,
      async settle(payload, terms) {
        const claims = JSON.stringify(payload.payload);
        if (rejected.some((payer) => claims.includes(payer))) {
          const errorReason = "invalid_batch_settlement_evm_claim_simulation_failed";
          return { success: false, errorReason, transaction: "", network: terms.network };
        }
        return stage.facilitator.settle(payload, terms);
      },
    };
    const { database, rpc, rules } = stage;
    const token = { ...rules, name: rules.assetName, version: rules.assetVersion };
    const sender = createRemoteChannelSender({ facilitator, database, rpc, token });
    const service = await stage.serve({ channels: { sender } });
    const worlds = [];
    while (worlds.length < 4) worlds.push(await openChannelWorld(stage));
    for (const world of worlds) {
      await world.deposit(2n * TEST_PRICE);
      await expect(world.buy(service, 1)).resolves.toBe(200);
    }
    rejected.push(worlds[1]?.config.payer ?? "");
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 3 });
    await expect(stage.balance(stage.payTo)).resolves.toBe(3n * TEST_PRICE);
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ transaction: null });
  });

  it("claims what a reorg has left of a deposit, and again what it has undone", async () => {
    const stage = await openStage();
    const claimRules = { valueMin: 3n * TEST_PRICE, ageSecondsMax: 3_600 };
    const service = await stage.serve({ channels: { claimRules } });
    const world = await openChannelWorld(stage);
    await world.deposit(2n * TEST_PRICE);
    for (const purchases of [1, 2]) await expect(world.buy(service, purchases)).resolves.toBe(200);
    await world.deposit(2n * TEST_PRICE);
    await service.gate.reconcile();
    await expect(stage.balance(stage.payTo)).resolves.toBe(0n);
    await expect(world.buy(service, 3)).resolves.toBe(200);
    await service.gate.reconcile();
    await expect(stage.balance(stage.payTo)).resolves.toBe(3n * TEST_PRICE);
    // The claim and the second deposit are gone.
    await stage.chain.reorg(2, { replay: "none" });
    await stage.chain.mine();
    const [payer, facilitator] = [world.account.address, stage.inProcess.address];
    // Its account nonces are used for other transactions.
    for (let nonce = 0; nonce < 2; nonce += 1) {
      await stage.chain.request("eth_sendTransaction", [{ from: facilitator, to: payer }]);
    }
    await service.gate.reconcile();
    await expect(stage.balance(stage.payTo)).resolves.toBe(2n * TEST_PRICE);
  });
});
