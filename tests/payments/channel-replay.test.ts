// A claim shows its vouchers to everyone: sending one again costs nearly nothing and keeps its owner from nothing.
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { decodeBase64Header } from "../support/payments/paid-client.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";

const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

/** A channel with two purchases, whose last voucher is on the chain. */
async function openClaimedWorld() {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  // A turn that is kept for a client that was corrected would keep all others out until they are late. None waits for one,
  // so that the limit costs nothing, and a busy machine stays below it.
  const service = await stage.serve({
    channels: { limits: { correctionMs: 600_000 } },
    limits: { waitMs: 30_000 },
  });
  const world = await openChannelWorld(stage);
  await world.deposit(10n * TEST_PRICE);
  for (const purchases of [1, 2]) await expect(world.buy(service, purchases)).resolves.toBe(200);
  await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 1 });
  return { stage, service, world };
}

describe("vouchers that are public", () => {
  it("corrects a voucher that was claimed without keeping the channel for it", async () => {
    const { service, world } = await openClaimedWorld();
    for (const q of ["x", "y"]) {
      await expect(world.buy(service, 2, q)).resolves.toBe("cumulative_amount_mismatch");
    }
    await expect(world.buy(service, 1, "x")).resolves.toBe("cumulative_amount_mismatch");
    await expect(world.buy(service, 3)).resolves.toBe(200);
    expect(service.runs).toEqual(["q1", "q2", "q3"]);
  });

  it("tells a sender of an old voucher the sum, and does not give the newest voucher for it", async () => {
    const { service, world } = await openClaimedWorld();
    await expect(world.buy(service, 3)).resolves.toBe(200);
    const response = await world.send(service, 2n * TEST_PRICE, "x");
    const correction = JSON.stringify(decodeBase64Header(response, "payment-required"));
    expect(correction).toContain(`"chargedCumulativeAmount":"${3n * TEST_PRICE}"`);
    expect(correction).not.toContain("voucherState");
    // The payer itself signs a voucher that no other client has seen, and gets the proof.
    const own = await world.send(service, 4n * TEST_PRICE - 1n, "y");
    expect(JSON.stringify(decodeBase64Header(own, "payment-required"))).toContain("voucherState");
  });

  it("refunds nothing for a voucher that anyone could have sent", async () => {
    const { stage, service, world } = await openClaimedWorld();
    const sent = () => stage.node.getTransactionCount({ address: stage.chain.accounts.facilitator.address });
    const before = await sent();
    await expect(world.refund(service, 2)).resolves.toMatch("on the chain");
    expect(await sent()).toBe(before);
    await expect(world.buy(service, 3)).resolves.toBe(200);
    await expect(world.refund(service, 3)).resolves.toBe(200);
  });

  it("counts a replay as an unpaid request of its client", async () => {
    const stage = await openPaidStage("in process", backend);
    opened.push(stage.close);
    const service = await stage.serve({ channels: {}, limits: { unpaidPerClientPerMinute: 2 } });
    const world = await openChannelWorld(stage);
    await world.deposit(10n * TEST_PRICE);
    await world.buy(service, 1);
    await service.claims?.claimNow(null);
    const outcomes = [];
    for (const q of ["x", "y", "z"]) outcomes.push(await world.buy(service, 1, q));
    expect(outcomes).toEqual(["cumulative_amount_mismatch", "cumulative_amount_mismatch", 429]);
    await expect(world.buy(service, 2)).resolves.toBe(200);
  });
});
