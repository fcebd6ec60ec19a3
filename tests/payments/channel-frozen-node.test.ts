// A node that stands still shows no withdrawal: what it has shown covers nothing once its block is old.
import { afterAll, expect, it } from "vitest";
import { signDeposit, withDeposit } from "../support/payments/channel-client.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";

const nowSeconds = () => BigInt(Math.floor(Date.now() / 1_000));
// Every block is an hour old, as if the node had not moved since.
const backend = await openPaidBackend({ genesisTimestamp: nowSeconds() - 3_600n });
const stage = await openPaidStage("in process", backend);
afterAll(async () => {
  await stage.close();
  await backend.close();
});

it("sells nothing by channel and makes no deposit while the newest block of the node is old", async () => {
  const service = await stage.serve({ channels: {} });
  const world = await openChannelWorld(stage);
  const change = withDeposit(await signDeposit(world.account, world.config, 10n * TEST_PRICE));
  await expect(world.buy(service, 1, "a", { change })).resolves.toBe(503);
  await expect(stage.balance(world.account.address)).resolves.toBe(1_000_000n);
  await world.deposit(10n * TEST_PRICE);
  await expect(world.buy(service, 1, "a")).resolves.toBe(503);
  await expect(world.refund(service, 0)).resolves.toBe(503);

  await stage.chain.setNextBlockTimestamp(nowSeconds());
  await stage.chain.mine();
  await expect(world.buy(service, 1, "a")).resolves.toBe(200);

  // A process to which the same block is old; it soon offers no channels.
  const served = await stage.serve({ channels: { limits: { blockAgeMsMax: -1 } } });
  const frozen = { url: served.url, termsUrl: service.url };
  await expect(world.buy(frozen, 2, "b")).resolves.toBe(503);
  await expect(world.refund(frozen, 1)).resolves.toBe(503);
  // A response that was paid for is delivered in any case.
  await expect(world.buy(frozen, 1, "a")).resolves.toBe(200);
  await expect(world.buy(service, 2, "b")).resolves.toBe(200);
});
