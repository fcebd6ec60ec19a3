// Two databases with one payee and one key: a channel on which the other one claims is no longer served.
// In main, channel-model.test.ts has one database; only several show this.
import { afterAll, expect, it, vi } from "vitest";
import { freeChannels } from "../../src/payments/channels/operator-rows.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { openTestDatabase } from "../support/index/test-index.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { silentLog } from "../support/quiet-log.ts";

const backend = await openPaidBackend();
const second = await openTestDatabase();
const stage = await openPaidStage("in process", backend);
const other = await openPaidStage("in process", { ...backend, database: second.database });
afterAll(async () => {
  await other.close();
  await stage.close();
  await second.drop();
  await backend.close();
});

it("serves no channel on which more was claimed than this database has charged", async () => {
  const [here, there] = [await stage.serve({ channels: {} }), await other.serve({ channels: {} })];
  const world = await openChannelWorld(stage);
  await world.deposit(10n * TEST_PRICE);
  const before = await stage.balance(stage.payTo);
  await expect(world.buy(here, 1)).resolves.toBe(200);
  for (const purchases of [1, 2]) await expect(world.buy(there, purchases)).resolves.toBe(200);
  await expect(there.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 1 });
  const logged = vi.spyOn(silentLog, "error");
  await here.gate.reconcile();
  await here.gate.reconcile();
  const events = logged.mock.calls.map(([fields]) => fields);
  logged.mockRestore();
  const event = "channel_claimed_elsewhere";
  expect(events).toEqual([expect.objectContaining({ event, channelId: world.channelId })]);
  await expect(world.buy(here, 3)).resolves.toMatch("claimed by another");
  await expect(world.buy(here, 1)).resolves.toBe(200);
  // Transfers to the payee are sold by both, and count for no channel.
  for (const { url } of [here, there]) {
    const { header } = await signPaymentFor(`${url}/paid?q=transfer`, world.account, stage.asset);
    expect((await fetchWithPayment(`${url}/paid?q=transfer`, header)).status).toBe(200);
  }
  await expect(world.buy(there, 3)).resolves.toBe(200);
  const { claimRows, authorizers } = here.channels ?? {};
  await expect(claimRows?.readTotals([...(authorizers?.keys() ?? [])])).resolves.toMatchObject({
    elsewhere: 1,
  });
  await there.claims?.claimNow(null);
  expect((await stage.balance(stage.payTo)) - before).toBe(5n * TEST_PRICE);
});

it("serves the channels of a database that was restored once the operator frees them, from what was claimed on", async () => {
  const [restored, gone] = [await stage.serve({ channels: {} }), await other.serve({ channels: {} })];
  const world = await openChannelWorld(stage, { salt: `0x${"05".repeat(32)}` });
  await world.deposit(10n * TEST_PRICE);
  // The backup was made after the first purchase.
  await expect(world.buy(restored, 1)).resolves.toBe(200);
  for (const purchases of [1, 2, 3]) await expect(world.buy(gone, purchases)).resolves.toBe(200);
  await gone.claims?.claimNow(null);
  await expect(world.buy(gone, 4)).resolves.toBe(200);
  await restored.gate.reconcile();
  await expect(world.buy(restored, 4)).resolves.toMatch("claimed by another");
  const store = openRecordStore(stage.database);
  await expect(freeChannels(store, world.channelId.slice(0, 10))).resolves.toEqual([world.channelId]);
  await expect(freeChannels(store, null)).resolves.toEqual([expect.any(String)]);
  // The payee loses what was not claimed before the restore: the fourth purchase is sold again.
  await expect(world.buy(restored, 5, "x")).resolves.toBe("cumulative_amount_mismatch");
  await expect(world.buy(restored, 4, "x")).resolves.toBe(200);
});
