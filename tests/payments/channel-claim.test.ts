// Claims go out in time whatever the mirror of channels does, each once, and a bad one keeps no other back.
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createRpc } from "../../src/chain/rpc/client.ts";
import type { Rpc } from "../../src/chain/rpc/types.ts";
import { Secret } from "../../src/lib/secret.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { silentLog } from "../support/quiet-log.ts";

const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function openStage() {
  const stage = await openPaidStage("in process", backend);
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
});
