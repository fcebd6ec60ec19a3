// Limits of a payer, and of all payers: channels that we keep, deposits and refunds that we pay for.
// In main, channel-model.test.ts and channel-purchases.test.ts fail for the same broken accounts.
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { signDeposit, withDeposit } from "../support/payments/channel-client.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { decodeBase64Header } from "../support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";

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

type World = Awaited<ReturnType<typeof openChannelWorld>>;

async function payIn(world: World, shop: { readonly url: string }, purchases: number): Promise<number> {
  const request = await signDeposit(world.account, world.config, 10n * TEST_PRICE);
  const change = withDeposit(request);
  return (await world.send(shop, BigInt(purchases) * TEST_PRICE, `q${purchases}`, { change })).status;
}

const addressOf = ({ address }: { readonly address: string }) => address.toLowerCase() as `0x${string}`;

/** A second channel of the same payer. */
function withSalt(world: World, stage: PaidStage) {
  return openChannelWorld(stage, { salt: `0x${"01".repeat(32)}`, account: world.account });
}

describe("limits of channels", () => {
  it("keeps no more channels of a payer, and of all payers, than the limits say", async () => {
    const stage = await openStage();
    const one = await stage.serve({ channels: { limits: { channelsPerPayerMax: 1 } } });
    const first = await openChannelWorld(stage);
    const second = await withSalt(first, stage);
    await expect(payIn(first, one, 1)).resolves.toBe(200);
    await expect(payIn(second, one, 1)).resolves.toBe(429);
    const full = await stage.serve({ channels: { limits: { channelsMax: 1 } } });
    await expect(payIn(await openChannelWorld(stage), full, 1)).resolves.toBe(429);
    await expect(first.buy(full, 2)).resolves.toBe(200);
    await expect(payIn(second, await stage.serve({ channels: {} }), 1)).resolves.toBe(200);
  });

  it("pays for more deposits and refunds of a payer only as it buys", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: { limits: { sponsoredFreeMax: 2 } } });
    const world = await openChannelWorld(stage);
    await expect(payIn(world, service, 1)).resolves.toBe(200);
    await expect(world.refund(service, 1)).resolves.toBe(200);
    await expect(payIn(world, service, 2)).resolves.toBe(429);
    await world.deposit(20n * TEST_PRICE);
    for (let purchases = 2; purchases <= 10; purchases += 1) {
      await expect(world.buy(service, purchases)).resolves.toBe(200);
    }
    await expect(payIn(world, service, 11)).resolves.toBe(200);
  });

  it("pays for no more deposits of one account within an hour, however many keys sign its vouchers", async () => {
    const stage = await openStage();
    const channels = { limits: { sponsoredFreeMax: 2 } };
    const [here, there] = [await stage.serve({ channels }), await stage.serve({ channels })];
    const payer = await stage.payer();
    const open = async () => {
      const { config, send } = await openChannelWorld(stage, { payer: addressOf(payer) });
      const change = withDeposit(await signDeposit(payer, config, 10n * TEST_PRICE));
      return async (shop: typeof here) => (await send(shop, TEST_PRICE, "a", { change })).status;
    };
    const pays = [await open(), await open(), await open(), await open()];
    const atOnce = await Promise.all(pays.map((pay, index) => pay(index % 2 === 0 ? here : there)));
    expect(atOnce.sort()).toEqual([200, 200, 429, 429]);
    await expect((await open())(there)).resolves.toBe(429);
    // Other accounts are served, and this one again after an hour.
    await expect(payIn(await openChannelWorld(stage), there, 1)).resolves.toBe(200);
    await stage.database.query("update channel_deposits set since = since - interval '1 hour'");
    await expect((await open())(here)).resolves.toBe(200);
  });

  it("pays for no more deposits of new payers within an hour than the limit says, and for those who buy", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: { limits: { sponsoredNewPerHourMax: 1 } } });
    const buyer = await openChannelWorld(stage);
    await expect(payIn(buyer, service, 1)).resolves.toBe(200);
    await expect(payIn(await openChannelWorld(stage), service, 1)).resolves.toBe(429);
    for (let purchases = 2; purchases <= 10; purchases += 1) await buyer.buy(service, purchases);
    await expect(payIn(buyer, service, 11)).resolves.toBe(200);
    await expect(payIn(await openChannelWorld(stage), service, 1)).resolves.toBe(200);
  });

  it("keeps no channel without a deposit when a limit or its payer's money keeps the deposit out", async () => {
    const stage = await openStage();
    const world = await openChannelWorld(stage);
    const noneSponsored = await stage.serve({ channels: { limits: { sponsoredFreeMax: 0 } } });
    const rejecting = {
      ...stage.sender,
      deposit: async () => ({ kind: "rejected", reason: "poor" }) as const,
    };
    const poor = await stage.serve({ channels: { sender: rejecting } });
    const noRuns = await stage.serve({
      channels: { sender: rejecting },
      limits: { unpaidPerClientPerMinute: 5 },
    });
    const find = () => poor.channels?.rows.find(world.channelId);
    await expect(payIn(world, noneSponsored, 1)).resolves.toBe(429);
    await expect(find()).resolves.toBeNull();
    await expect(payIn(world, poor, 1)).resolves.toBe(402);
    await expect(find()).resolves.toBeNull();
    await expect(payIn(world, noRuns, 1)).resolves.toBe(402);
    await expect(payIn(world, noRuns, 1)).resolves.toBe(429);
    await expect(find()).resolves.toBeNull();
    const { rows } = await stage.database.query({ text: "select 1 from payment_channels" });
    expect(rows).toEqual([]);
  });

  it("runs no more handlers for a client whose channels buy nothing than unpaid work may cost", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {}, limits: { unpaidPerClientPerMinute: 5 } });
    const [first, second] = [await openChannelWorld(stage), await openChannelWorld(stage)];
    for (const world of [first, second]) await world.deposit(10n * TEST_PRICE);
    service.sold.work = async () => ({ status: 404, body: {} });
    await expect(first.buy(service, 1)).resolves.toBe(404);
    await expect(second.buy(service, 1)).resolves.toBe(429);
    const patient = await stage.serve({ channels: {}, limits: { unpaidPerClientPerMinute: 5 } });
    for (const world of [first, second]) await expect(world.buy(patient, 1)).resolves.toBe(200);
    patient.sold.work = async () => ({ status: 404, body: {} });
    const outcomes = [await first.buy(patient, 2), await second.buy(patient, 2)];
    expect(outcomes).toEqual([404, 404]);
    await expect(payIn(await openChannelWorld(stage), patient, 1)).resolves.toBe(429);
  });

  it("forgets a channel that owes nothing after a day, and knows it again by its next voucher", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const [claimed, owing] = [await openChannelWorld(stage), await openChannelWorld(stage)];
    for (const world of [claimed, owing]) {
      await world.deposit(10n * TEST_PRICE);
      await expect(world.buy(service, 1)).resolves.toBe(200);
    }
    await service.claims?.claimNow([claimed.channelId]);
    await stage.chain.request("hardhat_mine", ["0x40"]);
    await service.channels?.mirror.follow();
    const drop = () => service.channels?.claimRows.dropIdle(86_400_000, 10);
    await expect(drop()).resolves.toMatchObject({ channels: 0 });
    for (const table of ["payment_channels", "channel_purchases"]) {
      await stage.database.query({
        text: `update ${table} set created_at = created_at - interval '25 hours'`,
      });
    }
    await expect(drop()).resolves.toEqual({ channels: 1, lost: 0n });
    for (const world of [claimed, owing]) await expect(world.buy(service, 2)).resolves.toBe(200);
  });

  it("offers transfers only while the chain stands still", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const schemes = async () => {
      const response = await fetch(`${service.url}/paid?q=1`);
      const { accepts } = decodeBase64Header<{ accepts: { scheme: string }[] }>(response, "payment-required");
      return accepts.map(({ scheme }) => scheme);
    };
    await service.channels?.mirror.follow();
    await expect(schemes()).resolves.toEqual(["exact", "batch-settlement"]);
    await stage.database.query({ text: "update channel_scans set block_time = block_time - 121" });
    await service.channels?.mirror.follow();
    await expect(schemes()).resolves.toEqual(["exact"]);
    const byChannel = service.gate.sell({ ...service.offer, isChannelOnly: true });
    expect(byChannel.challenge({ method: "GET", path: "/paid", query: {} }).status).toBe(503);
    await stage.chain.request("evm_mine", []);
    for (let looks = 0; looks < 2; looks += 1) await service.channels?.mirror.follow();
    await expect(schemes()).resolves.toEqual(["exact", "batch-settlement"]);
  });
});
