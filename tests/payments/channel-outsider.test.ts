// Anyone may fund a channel that names another account as its payer: such a channel takes nothing from that account.
import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { CHANNEL_CONTRACT } from "../../src/payments/channels/channel-config.ts";
import { signDeposit, withDeposit } from "../support/payments/channel-client.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import {
  openPaidStage,
  type PaidStage,
  TEST_CHANNEL_TERMS,
  TEST_PRICE,
} from "../support/payments/paid-stage.ts";

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

const COLLECTOR = "0x00000000000000000000000000000000c0ffee01";
// Sends the contract the amount of the token, both as it is called with, from what the collector itself holds.
const COLLECTOR_CODE = "0x63a9059cbb60e01b5f523360045260443560245260205f60445f5f6024355af15000";
const TRANSFER = {
  type: "function",
  name: "transfer",
  stateMutability: "nonpayable",
  inputs: [
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
  ],
  outputs: [{ name: "", type: "bool" }],
} as const;

/** A channel that names the payer, signed and funded by a outsider. */
async function openOutsidersWorld(stage: PaidStage, payer: `0x${string}`) {
  const account = await stage.payer();
  const world = await openChannelWorld(stage, { account, payer });
  await stage.chain.request("hardhat_setCode", [COLLECTOR, COLLECTOR_CODE]);
  await stage.chain.request("hardhat_impersonateAccount", [account.address]);
  await stage.chain.request("hardhat_setBalance", [account.address, "0xde0b6b3a7640000"]);
  const amount = 10n * TEST_PRICE;
  const transfer = {
    address: stage.asset,
    abi: [TRANSFER],
    functionName: "transfer",
    args: [COLLECTOR, amount],
  };
  await stage.send(account, transfer);
  await stage.send(account, {
    ...{ address: CHANNEL_CONTRACT, abi: batchSettlementAbi, functionName: "deposit" },
    args: [world.config, amount, COLLECTOR, "0x"],
  });
  return world;
}

describe("a channel that someone else opened", () => {
  it("leaves the account that it names all channels and all deposits at our cost", async () => {
    const stage = await openStage();
    const service = await stage.serve({
      channels: { limits: { channelsPerPayerMax: 1, sponsoredFreeMax: 1 } },
    });
    const named = await openChannelWorld(stage);
    const outsider = await openOutsidersWorld(stage, named.config.payer);
    await expect(outsider.buy(service, 1)).resolves.toBe(200);
    // The account has not signed this deposit. The channel covers the voucher without it.
    const forged = withDeposit(await signDeposit(outsider.account, outsider.config, 10n * TEST_PRICE));
    await expect(outsider.buy(service, 2, "q2", { change: forged })).resolves.toBe(200);
    await expect(outsider.refund(service, 2)).resolves.toBe(200);
    const change = withDeposit(await signDeposit(named.account, named.config, 10n * TEST_PRICE));
    expect((await named.send(service, TEST_PRICE, "a", { change })).status).toBe(200);
  });

  it("leaves the account that it names all free calls", async () => {
    const stage = await openStage();
    const offer = { channels: { ...TEST_CHANNEL_TERMS, freeCallsPerHour: 1 } };
    const service = await stage.serve({ channels: {}, offer });
    const named = await openChannelWorld(stage);
    await named.deposit(10n * TEST_PRICE);
    const outsider = await openOutsidersWorld(stage, named.config.payer);
    for (const { buy } of [outsider, named]) await expect(buy(service, 1)).resolves.toBe(200);
    const extensionsOf = (id: string) => ({ "payment-identifier": { info: { required: false, id } } });
    const free = { extensions: extensionsOf("the-call-of-an-outsider") };
    await expect(outsider.buy(service, 2, "a", free)).resolves.toBe(200);
    const own = { extensions: extensionsOf("the-call-of-the-account") };
    await expect(named.buy(service, 2, "a", own)).resolves.toBe(200);
    expect(service.outcomes.filter((each) => each === "free")).toHaveLength(2);
  });

  it("gets no response of what the account has bought", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const named = await openChannelWorld(stage);
    await named.deposit(10n * TEST_PRICE);
    const outsider = await openOutsidersWorld(stage, named.config.payer);
    await expect(outsider.buy(service, 1)).resolves.toBe(200);
    const extensions = { "payment-identifier": { info: { required: false, id: "purchase-of-the-day-4" } } };
    await expect(named.buy(service, 1, "a", { extensions })).resolves.toBe(200);
    await expect(outsider.buy(service, 2, "a", { extensions })).resolves.toBe(409);
    const second = await openChannelWorld(stage, { account: named.account, salt: `0x${"01".repeat(32)}` });
    await second.deposit(10n * TEST_PRICE);
    await expect(second.buy(service, 1)).resolves.toBe(200);
    await expect(second.buy(service, 2, "a", { extensions })).resolves.toBe(200);
    expect(service.runs).toEqual(["q1", "a", "q1"]);
  });
});
