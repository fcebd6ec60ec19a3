// Channels by a facilitator of another process: deposits, claims and refunds each once, for listed accounts only.
// In main, src/payments/facilitator/endpoints.test.ts has the same endpoints for transfers.
import { afterAll, describe, expect, it } from "vitest";
import { signDeposit, withDeposit } from "../support/payments/channel-client.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";

const stage = await openPaidStage("over HTTP");
afterAll(() => stage.close());

const sentByFacilitator = () =>
  stage.node.getTransactionCount({ address: stage.chain.accounts.facilitator.address });

describe("a facilitator of another process", () => {
  it("makes a deposit, claims and refunds, and each of them once", async () => {
    const service = await stage.serve({ channels: {} });
    const world = await openChannelWorld(stage);
    const before = await sentByFacilitator();
    const change = withDeposit(await signDeposit(world.account, world.config, 10n * TEST_PRICE));
    await expect(world.buy(service, 1, "a", { change })).resolves.toBe(200);
    await expect(world.buy(service, 1, "a", { change })).resolves.toBe(200);
    await expect(world.buy(service, 2)).resolves.toBe(200);
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({
      claimed: 1,
      value: 2n * TEST_PRICE,
    });
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 0 });
    await expect(world.buy(service, 3)).resolves.toBe(200);
    await expect(world.refund(service, 3)).resolves.toBe(200);
    expect((await sentByFacilitator()) - before).toBe(3);
    await expect(stage.balance(stage.payTo)).resolves.toBe(3n * TEST_PRICE);
    await expect(stage.balance(world.account.address)).resolves.toBe(1_000_000n - 3n * TEST_PRICE);
  });

  it("gives the same claim the same transaction, also when it is asked for again later", async () => {
    const service = await stage.serve({ channels: {} });
    const world = await openChannelWorld(stage, { salt: `0x${"02".repeat(32)}` });
    await world.deposit(10n * TEST_PRICE);
    await expect(world.buy(service, 1)).resolves.toBe(200);
    const calls: Parameters<typeof stage.sender.send>[0][] = [];
    const recording = {
      ...stage.sender,
      send: (...args: Parameters<typeof stage.sender.send>) => {
        calls.push(args[0]);
        return stage.sender.send(...args);
      },
    };
    const claiming = await stage.serve({ channels: { sender: recording } });
    const { transaction } = (await claiming.claims?.claimNow([world.channelId])) ?? {};
    const [call] = calls;
    if (call === undefined) throw new Error("nothing was claimed");
    const ignored = { beforeSend: async () => undefined, onRejected: async () => undefined };
    const before = await sentByFacilitator();
    await expect(stage.sender.send(call, ignored)).resolves.toEqual({ kind: "mined", transaction });
    // The contract checks no voucher of what is claimed already, so that any bytes would do.
    const claims = (call.claims?.claims ?? []).map((each) => ({
      ...each,
      signature: `0x${"01".repeat(65)}` as const,
    }));
    const changed = { ...call, claims: call.claims && { ...call.claims, claims } };
    await expect(stage.sender.send(changed, ignored)).resolves.toEqual({ kind: "mined", transaction });
    await stage.database.query({ text: "delete from facilitator_settlements" });
    await expect(stage.sender.send(changed, ignored)).rejects.toThrow("nothing_to_claim");
    expect(await sentByFacilitator()).toBe(before);
  });

  it("makes sixty deposits of an account within an hour, each counted once, and those of others", async () => {
    const service = await stage.serve({ channels: {} });
    const world = await openChannelWorld(stage, { salt: `0x${"04".repeat(32)}` });
    const payer = world.config.payer;
    const deposit = async () =>
      stage.sender.deposit(await signDeposit(world.account, world.config, 10n * TEST_PRICE));
    const first = await signDeposit(world.account, world.config, 10n * TEST_PRICE);
    const made = await stage.sender.deposit(first);
    expect(made.kind).toBe("deposited");
    await expect(stage.sender.deposit(first)).resolves.toEqual(made);
    const counted = "select deposits from facilitator_deposits where payer = $1";
    const { rows } = await stage.database.query({ text: counted, values: [payer] });
    expect(rows).toEqual([{ deposits: 1 }]);
    const setTo = (deposits: number, age = "0") =>
      stage.database.query({
        text: "update facilitator_deposits set deposits = $1, since = since - $2::interval where payer = $3",
        values: [deposits, age, payer],
      });
    await setTo(59);
    // Two at once: one of them is the sixtieth.
    const kinds = (await Promise.all([deposit(), deposit()])).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(["deposited", "rejected"]);
    await expect(deposit()).resolves.toEqual({ kind: "rejected", reason: "deposits_of_payer_used_up" });
    // A deposit that was made keeps its transaction, and another account has its own.
    await expect(stage.sender.deposit(first)).resolves.toEqual(made);
    const other = await openChannelWorld(stage, { salt: `0x${"05".repeat(32)}` });
    const change = withDeposit(await signDeposit(other.account, other.config, 10n * TEST_PRICE));
    await expect(other.buy(service, 1, "a", { change })).resolves.toBe(200);
    await setTo(60, "1 hour");
    await expect(deposit()).resolves.toMatchObject({ kind: "deposited" });
  });

  it("counts no deposit that it does not send: gas is too dear, or the node rejects it", async () => {
    const world = await openChannelWorld(stage, { salt: `0x${"06".repeat(32)}` });
    const request = await signDeposit(world.account, world.config, 10n * TEST_PRICE);
    const count = async () => {
      const text = "select deposits from facilitator_deposits where payer = $1 and deposits > 0";
      const { rows } = await stage.database.query({ text, values: [world.config.payer] });
      return rows;
    };
    const { address } = stage.chain.accounts.facilitator;
    const setBaseFee = async (wei: bigint) => {
      await stage.chain.request("hardhat_setNextBlockBaseFeePerGas", [`0x${wei.toString(16)}`]);
      await stage.chain.mine();
      // For as long as a process believes in a fee.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    };
    const usual = (await stage.node.getBlock()).baseFeePerGas ?? 0n;
    await setBaseFee(10_000n * 10n ** 9n);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(stage.sender.deposit(request)).resolves.toMatchObject({ kind: "unknown" });
    }
    expect(await count()).toEqual([]);
    await setBaseFee(usual);
    const balance = await stage.node.getBalance({ address });
    await stage.chain.request("hardhat_setBalance", [address, "0x1"]);
    await expect(stage.sender.deposit(request)).resolves.toMatchObject({ kind: "unknown" });
    await stage.chain.request("hardhat_setBalance", [address, `0x${balance.toString(16)}`]);
    expect(await count()).toEqual([]);
    await expect(stage.sender.deposit(request)).resolves.toMatchObject({ kind: "deposited" });
    expect(await count()).toEqual([{ deposits: 1 }]);
  });

  it("sends nothing for an account that is not listed, and pays out nothing twice", async () => {
    const world = await openChannelWorld(stage, { salt: `0x${"03".repeat(32)}` });
    const config = { ...world.config, receiverAuthorizer: world.config.payer };
    const request = await signDeposit(world.account, config, 10n * TEST_PRICE);
    await expect(stage.sender.deposit(request)).resolves.toMatchObject({ kind: "rejected" });
    await expect(stage.balance(world.account.address)).resolves.toBe(1_000_000n);
    const accepted = {
      ...{ scheme: "batch-settlement", network: stage.rules.network, asset: stage.asset, amount: "0" },
      ...{ payTo: stage.payTo, maxTimeoutSeconds: 60, extra: {} },
    };
    const payload = { type: "settle", receiver: stage.payTo, token: stage.asset };
    const settled = await stage.facilitator.settle(
      { x402Version: 2, accepted, payload } as never,
      accepted as never,
    );
    expect(settled).toMatchObject({
      success: false,
      errorReason: expect.stringContaining("nothing_to_settle"),
    });
  });
});
