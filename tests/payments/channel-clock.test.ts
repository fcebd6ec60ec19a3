// A database whose clock is wrong by hours, and is set right: it holds no claim and no channel, and sells nothing meanwhile.
import { afterAll, afterEach, expect, it } from "vitest";
import type { ChannelSender } from "../../src/payments/channels/channel-sender.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { askTestClock, giveClock, setClockAhead } from "../support/payments/wrong-clock.ts";

const HOUR_SECONDS = 3_600;
const TRANSACTION = `0x${"7e".repeat(32)}` as const;
const CLAIM_RULES = { valueMin: TEST_PRICE, ageSecondsMax: HOUR_SECONDS };

const backend = await openPaidBackend();
await giveClock(backend.database);
afterAll(() => backend.close());

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
  await setClockAhead(backend.database, 0);
});

/** A channel that owes the price of one purchase, and a facilitator that does what the test says. */
async function openDebt(
  change: (real: ChannelSender) => Partial<ChannelSender> = () => ({}),
  claimRules: Partial<typeof CLAIM_RULES> = {},
) {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  const sender: ChannelSender = { ...stage.sender, ...change(stage.sender) };
  const service = await stage.serve({ channels: { sender, claimRules: { ...CLAIM_RULES, ...claimRules } } });
  service.injected.rewrite = askTestClock;
  const world = await openChannelWorld(stage);
  await world.deposit(10n * TEST_PRICE);
  await expect(world.buy(service, 1)).resolves.toBe(200);
  return {
    stage,
    service,
    world,
    setAhead: (hours: number) => setClockAhead(backend.database, hours * HOUR_SECONDS),
    claimed: () => stage.balance(stage.payTo),
  };
}

it.each([5, -5])("claims everything and sells nothing while the clock is %i hours ahead", async (hours) => {
  const { stage, service, world, setAhead, claimed } = await openDebt(() => ({}), {
    valueMin: 10n * TEST_PRICE,
  });
  await service.gate.reconcile();
  await expect(claimed()).resolves.toBe(0n);
  await setAhead(hours);
  // The process itself soon offers no channels.
  const shop = { url: service.url, termsUrl: (await stage.serve({ channels: {} })).url };
  await expect(world.buy(shop, 2)).resolves.toBe(503);
  const unknown = await openChannelWorld(stage);
  await unknown.deposit(10n * TEST_PRICE);
  await expect(unknown.buy(shop, 1)).resolves.toBe(503);
  await service.gate.reconcile();
  await expect(claimed()).resolves.toBe(TEST_PRICE);
  await setAhead(0);
  await expect(world.buy(shop, 2)).resolves.toBe(200);
});

it("takes a channel at once from a process that died while the clock was five hours ahead, and from no other", async () => {
  const { service, world, setAhead } = await openDebt();
  const take = (owner: string) => service.channels?.rows.take(world.channelId, owner);
  await setAhead(5);
  await expect(take("a process that dies")).resolves.toBe(true);
  await setAhead(0);
  await expect(take("the next")).resolves.toBe(true);
  await expect(take("another")).resolves.toBe(false);
  await service.channels?.rows.release(world.channelId, "the next", { hasFailed: false });
  await setAhead(5);
  await expect(take("a process that dies")).resolves.toBe(true);
  await setAhead(0);
  await expect(world.buy(service, 2)).resolves.toBe(200);
});

it.each<[string, (real: ChannelSender, wire: { isBroken: boolean }) => Partial<ChannelSender>]>([
  [
    "was recorded by a process that died before it was sent",
    (real, wire) => ({
      async send(call, hooks) {
        if (!wire.isBroken) return real.send(call, hooks);
        await hooks.beforeSend(TRANSACTION);
        throw new Error("the process dies");
      },
    }),
  ],
  [
    "has reverted",
    (real, wire) => ({
      async send(call, hooks) {
        if (!wire.isBroken) return real.send(call, hooks);
        await hooks.beforeSend(TRANSACTION);
        return { kind: "reverted", transaction: TRANSACTION };
      },
    }),
  ],
  [
    "was rejected before it was sent",
    (real, wire) => ({ wouldSucceed: async (call) => !wire.isBroken && real.wouldSucceed(call) }),
  ],
])("sends a claim at once that %s while the clock was five hours ahead", async (_, change) => {
  const wire = { isBroken: true };
  const { service, setAhead, claimed } = await openDebt((real) => change(real, wire));
  await setAhead(5);
  await service.gate.reconcile().catch(() => undefined);
  await expect(claimed()).resolves.toBe(0n);
  wire.isBroken = false;
  await setAhead(0);
  await service.gate.reconcile();
  await expect(claimed()).resolves.toBe(TEST_PRICE);
});

it("resumes a refund at once that was recorded while the clock was five hours ahead", async () => {
  const wire = { isBroken: true };
  const { service, world, stage } = await openDebt((real) => ({
    async send(call, hooks) {
      if (!wire.isBroken) return real.send(call, hooks);
      await hooks.beforeSend(TRANSACTION);
      throw new Error("the process dies");
    },
  }));
  const before = await stage.balance(world.account.address);
  await expect(world.refund(service, 1)).resolves.not.toBe(200);
  // As if it had been recorded five hours later than it is now.
  const later = "set created_at = created_at + interval '5 hours'";
  await backend.database.query(`update channel_transactions ${later}`);
  wire.isBroken = false;
  const back = async () => {
    await service.gate.reconcile();
    return (await stage.balance(world.account.address)) - before;
  };
  await expect(back()).resolves.toBe(9n * TEST_PRICE);
});
