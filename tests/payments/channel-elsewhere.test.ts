// Two databases with one payee and one key: a channel on which the other one claims is no longer served.
import { afterAll, expect, it, vi } from "vitest";
import { openTestDatabase } from "../support/index/test-index.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
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
  await expect(world.buy(there, 3)).resolves.toBe(200);
  const { claimRows, authorizers } = here.channels ?? {};
  await expect(claimRows?.readTotals([...(authorizers?.keys() ?? [])])).resolves.toMatchObject({
    elsewhere: 1,
  });
  await there.claims?.claimNow(null);
  expect((await stage.balance(stage.payTo)) - before).toBe(3n * TEST_PRICE);
});
