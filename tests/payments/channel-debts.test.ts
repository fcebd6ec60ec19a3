// Debts of channels are shown to a process without their keys too, until nothing can bring them in.
import { Registry } from "prom-client";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Hex } from "../../src/lib/hex.ts";
import { observeChannels } from "../../src/payments/channels/channel-metrics.ts";
import { instruct, readInstructionResult } from "../../src/payments/channels/operator-rows.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { openPaidStage, TEST_CHANNEL_TERMS, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { silentLog } from "../support/quiet-log.ts";

const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function openStage() {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  return stage;
}

const OTHER_KEY = {
  address: `0x${"00".repeat(19)}01`,
  sign: () => Promise.reject(new Error("it signs nothing")),
} as const;
const SIGNERS = [TEST_CHANNEL_TERMS.receiverAuthorizer];

describe("debts of channels", () => {
  it("forgets a channel of a day ago whose payer has taken everything back, and counts what is lost", async () => {
    const stage = await openStage();
    const claimRules = { valueMin: 1_000_000n, ageSecondsMax: 3_600, rowMin: 2n * TEST_PRICE };
    const service = await stage.serve({ channels: { claimRules } });
    const world = await openChannelWorld(stage);
    await world.deposit(10n * TEST_PRICE);
    await expect(world.buy(service, 1)).resolves.toBe(200);
    const claimRows = service.channels?.claimRows;
    const totals = () => claimRows?.readTotals(SIGNERS, claimRules.rowMin);
    const small = { unclaimed: TEST_PRICE, due: 0n, covered: 0n, oldestSeconds: 0, lost: 0n };
    await expect(totals()).resolves.toMatchObject(small);
    await world.payerSends("initiateWithdraw", [world.config, 10n * TEST_PRICE]);
    await stage.chain.request("evm_increaseTime", [1_000]);
    await world.payerSends("finalizeWithdraw", [world.config]);
    await stage.database.query({
      text: "update payment_channels set unclaimed_since = now() - interval '2 hours'",
    });
    await service.channels?.mirror.follow();
    await stage.chain.request("hardhat_mine", ["0x40"]);
    await service.channels?.mirror.follow();
    await expect(totals()).resolves.toMatchObject({ ...small, lost: TEST_PRICE });
    await expect(claimRows?.readTotals(SIGNERS)).resolves.toMatchObject({ due: 0n, oldestSeconds: 0 });
    for (const table of ["payment_channels", "channel_purchases"]) {
      await stage.database.query({
        text: `update ${table} set created_at = created_at - interval '25 hours'`,
      });
    }
    await expect(claimRows?.dropIdle(86_400_000, 10)).resolves.toEqual({ channels: 1, lost: TEST_PRICE });
    await expect(totals()).resolves.toMatchObject({ channels: 0, unclaimed: 0n, lost: 0n });
  });

  it("shows what is owed under a key that is missing, and tells an operator which one", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const world = await openChannelWorld(stage);
    await world.deposit(10n * TEST_PRICE);
    await expect(world.buy(service, 1)).resolves.toBe(200);
    const changed = await stage.serve({ channels: { authorizer: OTHER_KEY } });
    await expect(changed.channels?.claimRows.readTotals([OTHER_KEY.address])).resolves.toMatchObject({
      ...{ channels: 1, unclaimed: TEST_PRICE },
      keyless: { channels: 1, unclaimed: TEST_PRICE },
    });
    await expect(service.channels?.claimRows.readTotals(SIGNERS)).resolves.toMatchObject({
      keyless: { channels: 0, unclaimed: 0n },
    });
    const store = openRecordStore(stage.database);
    const [{ receiverAuthorizer }] = [world.config];
    for (const wanted of [{ kind: "claim" }, { kind: "refund", amount: null }] as const) {
      await instruct(store, world.channelId, wanted);
      await changed.gate.reconcile();
      await expect(readInstructionResult(store, world.channelId)).resolves.toContain(
        `does not have the key of ${receiverAuthorizer}; add it to PAYMENT_CHANNEL_OLD_KEYS`,
      );
    }
    expect((await service.channels?.rows.find(world.channelId))?.row.signedRefund).toBeNull();
  });

  it("refunds nothing for an operator before the last refund is final", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const world = await openChannelWorld(stage);
    await world.deposit(30n * TEST_PRICE);
    await expect(world.buy(service, 1)).resolves.toBe(200);
    await expect(world.refund(service, 1, 10n * TEST_PRICE)).resolves.toBe(200);
    const store = openRecordStore(stage.database);
    await instruct(store, world.channelId, { kind: "refund", amount: null });
    await service.gate.reconcile();
    await expect(readInstructionResult(store, world.channelId)).resolves.toMatch(
      "the last refund is not final",
    );
    await stage.chain.request("hardhat_mine", ["0x40"]);
    await instruct(store, world.channelId, { kind: "refund", amount: null });
    await service.gate.reconcile();
    await expect(readInstructionResult(store, world.channelId)).resolves.toMatch(/^Refunded/);
  });

  it("keeps the instructions of five busy channels from holding a sixth back", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const store = openRecordStore(stage.database);
    for (let busy = 0; busy < 6; busy += 1) {
      const world = await openChannelWorld(stage);
      await world.deposit(10n * TEST_PRICE);
      await expect(world.buy(service, 1)).resolves.toBe(200);
      if (busy < 5) await service.channels?.rows.take(world.channelId, "a request");
      await instruct(store, world.channelId, { kind: "refund", amount: null });
      if (busy === 5) {
        await service.gate.reconcile();
        await expect(readInstructionResult(store, world.channelId)).resolves.toMatch(/^Refunded/);
      }
    }
  });

  it("carries out the oldest instructions first, and keeps one that was given meanwhile", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const store = openRecordStore(stage.database);
    const given: Hex[] = [];
    for (let channel = 0; channel < 6; channel += 1) {
      const world = await openChannelWorld(stage);
      await world.deposit(10n * TEST_PRICE);
      await expect(world.buy(service, 1)).resolves.toBe(200);
      given.unshift(world.channelId);
    }
    for (const channelId of given) await instruct(store, channelId, { kind: "claim" });
    const instructions = service.channels?.instructions;
    const found = (await instructions?.find()) ?? [];
    expect(found.map(({ channelId }) => channelId)).toEqual(given.slice(0, 5));
    const [first] = found;
    if (first === undefined) throw new Error("no channel has an instruction");
    await instruct(store, first.channelId, { kind: "refund", amount: 7n });
    await instructions?.finish(first, "All is claimed.");
    await expect(readInstructionResult(store, first.channelId)).resolves.toBeNull();
    expect((await instructions?.find())?.at(-1)?.channelId).toBe(given[5]);
  });

  it.each(["by a process that died before it said so", "by another process meanwhile"])(
    "refunds an amount once for one instruction that was carried out %s",
    async (how) => {
      const stage = await openStage();
      const service = await stage.serve({ channels: {} });
      const other = await stage.serve({ channels: {} });
      const world = await openChannelWorld(stage);
      await world.deposit(30n * TEST_PRICE);
      await expect(world.buy(service, 1)).resolves.toBe(200);
      const store = openRecordStore(stage.database);
      await instruct(store, world.channelId, { kind: "refund", amount: TEST_PRICE });
      const before = await stage.balance(world.account.address);
      const instructions = service.channels?.instructions;
      const stale = (await instructions?.find()) ?? [];
      if (how.includes("died"))
        Object.assign(instructions ?? {}, { finish: () => Promise.reject(new Error("killed")) });
      await Promise.allSettled([service.gate.reconcile()]);
      await stage.chain.request("hardhat_mine", ["0x40"]);
      if (how.includes("meanwhile"))
        Object.assign(other.channels?.instructions ?? {}, { find: async () => stale });
      await other.gate.reconcile();
      expect((await stage.balance(world.account.address)) - before).toBe(TEST_PRICE);
      await expect(readInstructionResult(store, world.channelId)).resolves.toMatch(/^Refunded 10000 units/);
    },
  );

  it("shows no figure before the first read", async () => {
    const registry = new Registry();
    const readTotals = () => Promise.reject(new Error("it is away"));
    observeChannels(registry, { readTotals }, { decimals: 6, log: silentLog });
    await expect(registry.metrics()).resolves.toMatch(/^sextant_channels_unclaimed Nan$/m);
  });
});
