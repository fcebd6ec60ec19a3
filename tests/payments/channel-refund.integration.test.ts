// A refund that is signed can be used at any time later: what it may take covers no voucher.
// In main, channel-model.test.ts plays refunds against a model.
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { holdTransactions, openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";

const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

const DEPOSIT = 20n * TEST_PRICE;

/** A service whose refunds stay unmined until the test lets them go on. */
async function openHeldWorld() {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  const { sender, held } = holdTransactions(stage.inProcess.channels);
  const service = await stage.serve({ channels: { sender } });
  const world = await openChannelWorld(stage);
  await world.deposit(DEPOSIT);
  await expect(world.buy(service, 1)).resolves.toBe(200);
  return { stage, service, world, held };
}

describe("refunds of channels", () => {
  it("accepts no voucher for what a signed refund may still take", async () => {
    const { stage, service, world, held } = await openHeldWorld();
    const before = await stage.balance(stage.payTo);
    await expect(world.refund(service, 1, 15n * TEST_PRICE)).resolves.toBe(503);
    for (let purchases = 2; purchases <= 5; purchases += 1) {
      await expect(world.buy(service, purchases)).resolves.toBe(200);
    }
    await expect(world.buy(service, 6)).resolves.toBe("cumulative_exceeds_balance");
    await held[0]?.();
    await service.channels?.mirror.follow();
    await expect(world.buy(service, 6)).resolves.toBe("cumulative_exceeds_balance");
    // The transaction that was recorded is not the one that was mined.
    const text = "update channel_transactions set created_at = now() - interval '2 minutes'";
    await stage.database.query({ text });
    await (await stage.serve({ channels: {} })).claims?.claimNow(null);
    expect((await stage.balance(stage.payTo)) - before).toBe(5n * TEST_PRICE);
  });

  it("sends a refund again that was signed and is not mined, and signs no other", async () => {
    const { stage, service, world, held } = await openHeldWorld();
    await expect(world.refund(service, 1, 15n * TEST_PRICE)).resolves.toBe(503);
    await expect(world.refund(service, 1)).resolves.toBe(503);
    await service.gate.reconcile();
    expect(held).toHaveLength(1);
    const text = "update channel_transactions set created_at = now() - interval '11 minutes'";
    await stage.database.query({ text });
    await service.gate.reconcile();
    expect(held).toHaveLength(2);
    const before = await stage.balance(world.account.address);
    await held[1]?.();
    await expect(held[0]?.()).rejects.toThrow("would revert");
    expect((await stage.balance(world.account.address)) - before).toBe(15n * TEST_PRICE);
  });

  it("covers vouchers with a later deposit while a signed refund is not mined", async () => {
    const { service, world } = await openHeldWorld();
    await expect(world.refund(service, 1)).resolves.toBe(503);
    await expect(world.buy(service, 2)).resolves.toBe("cumulative_exceeds_balance");
    await world.deposit(TEST_PRICE);
    await expect(world.buy(service, 2)).resolves.toBe(200);
    await expect(world.buy(service, 3)).resolves.toBe("cumulative_exceeds_balance");
  });

  it("counts a refund again whose block a reorg has removed", async () => {
    const { stage, service, world, held } = await openHeldWorld();
    await service.gate.reconcile();
    await expect(world.refund(service, 1, 15n * TEST_PRICE)).resolves.toBe(503);
    await held[0]?.();
    await service.channels?.mirror.follow();
    await stage.chain.reorg(1, { replay: "none" });
    await stage.chain.mine();
    await service.channels?.mirror.follow();
    await expect(world.buy(service, 2)).resolves.toBe(200);
    const row = (await service.channels?.rows.find(world.channelId))?.row;
    expect(row?.balance).toBe(DEPOSIT);
    for (let purchases = 3; purchases <= 5; purchases += 1) await world.buy(service, purchases);
    await expect(world.buy(service, 6)).resolves.toBe("cumulative_exceeds_balance");
  });

  it("claims at once what was to be claimed along with a refund that reverts", async () => {
    const stage = await openPaidStage("in process", backend);
    opened.push(stage.close);
    const sender = stage.inProcess.channels;
    let isFirst = true;
    // As if someone had used the refund's signature before our transaction was mined.
    const send: typeof sender.send = async (call, hooks) => {
      if (!isFirst) return sender.send(call, hooks);
      isFirst = false;
      const transaction = `0x${"ab".repeat(32)}` as const;
      await hooks.beforeSend(transaction);
      return { kind: "reverted", transaction };
    };
    const service = await stage.serve({ channels: { sender: { ...sender, send } } });
    const world = await openChannelWorld(stage);
    await world.deposit(DEPOSIT);
    await world.buy(service, 1);
    await expect(world.refund(service, 1)).resolves.toBe(503);
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 1, value: TEST_PRICE });
  });

  it("sends other refunds again while some cannot be sent at all", async () => {
    const stage = await openPaidStage("in process", backend);
    opened.push(stage.close);
    const sender = stage.inProcess.channels;
    let tries = 0;
    const send: typeof sender.send = async (...args) => {
      const [{ value }] = args;
      if (value === TEST_PRICE) return sender.send(...args);
      tries += 1;
      throw new Error("gas may not cost more than a part of the refund");
    };
    let isDown = true;
    const downAtFirst: typeof send = async (...args) => {
      if (isDown) throw new Error("down");
      return send(...args);
    };
    const service = await stage.serve({ channels: { sender: { ...sender, send: downAtFirst } } });
    const openRefund = async (amount: bigint) => {
      const world = await openChannelWorld(stage);
      await world.deposit(10n * TEST_PRICE + amount);
      for (let purchases = 1; purchases <= 10; purchases += 1) await world.buy(service, purchases);
      await expect(world.refund(service, 10)).resolves.toBe(503);
      return world.account.address;
    };
    for (const amount of [1n, 2n, 3n]) await openRefund(amount);
    const payer = await openRefund(TEST_PRICE);
    isDown = false;
    const before = await stage.balance(payer);
    await service.gate.reconcile();
    expect((await stage.balance(payer)) - before).toBe(TEST_PRICE);
    for (let runs = 0; runs < 3; runs += 1) await service.gate.reconcile();
    expect(tries).toBe(3);
  });
});
