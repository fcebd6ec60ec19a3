// Channels pay while the chain moves: withdrawals, reorgs, nodes that lag, bad vouchers, facilitators that lie.
// In main, channel-model.test.ts plays withdrawals, reorgs and frozen nodes against a model.
import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import { encodeFunctionData, type Hex, type PrivateKeyAccount } from "viem";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ChannelConfig } from "../../src/payments/channels/channel-config.ts";
import { CHANNEL_CONTRACT, ChannelDigests } from "../../src/payments/channels/channel-config.ts";
import type { ChannelSender } from "../../src/payments/channels/channel-sender.ts";
import {
  channelConfigOf,
  signDeposit,
  signVoucher,
  withDeposit,
} from "../support/payments/channel-client.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import {
  decodeBase64Header,
  fetchWithPayment,
  TEST_NETWORK,
  waitFor,
} from "../support/payments/paid-client.ts";
import {
  openPaidStage,
  type PaidStage,
  type StagedPaidService,
  TEST_CHANNEL_TERMS,
  TEST_PRICE,
} from "../support/payments/paid-stage.ts";

const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

const digests = new ChannelDigests(TEST_NETWORK);
const DEPOSIT = 20n * TEST_PRICE;

/** A payer with a channel, whose vouchers it sends by hand. */
async function openWorld(given: Parameters<PaidStage["serve"]>[0] = {}) {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  const service = await stage.serve({ channels: {}, ...given });
  const account = await stage.payer();
  const config = configOf(stage, account);
  const parts = { stage, service, account, config, channelId: digests.channelId(config) };
  return {
    ...parts,
    /** Buys with the voucher for so many purchases in all. */
    buy: (purchases: number, q = `q${purchases}`) => buy(parts, purchases, q),
    async deposit(amount = DEPOSIT) {
      const made = await stage.inProcess.channels.deposit(await signDeposit(account, config, amount));
      expect(made.kind).toBe("deposited");
    },
    payerSends: (functionName: "initiateWithdraw" | "finalizeWithdraw", args: readonly unknown[]) =>
      sendAsPayer(stage, account, functionName, args),
  };
}

function configOf(stage: PaidStage, account: PrivateKeyAccount): ChannelConfig {
  const { receiverAuthorizer } = TEST_CHANNEL_TERMS;
  return channelConfigOf(account, { receiver: stage.payTo, token: stage.asset, receiverAuthorizer });
}

/** A sender whose first call was estimated and recorded when others send theirs. */
function overtaken(sender: ChannelSender, sendFirst: () => Promise<void>): ChannelSender {
  let isFirst = true;
  return {
    ...sender,
    send: (call, { beforeSend, onRejected }) =>
      sender.send(call, {
        onRejected,
        async beforeSend(...recorded) {
          await beforeSend(...recorded);
          if (isFirst) await sendFirst();
          isFirst = false;
        },
      }),
  };
}

/** Who sends the transactions of the next block, in order. */
async function readPending(): Promise<readonly Hex[]> {
  const block = await backend.chain.request("eth_getBlockByNumber", ["pending", true]);
  return (block as { transactions: readonly { from: Hex }[] }).transactions.map(({ from }) => from);
}

type World = {
  readonly stage: PaidStage;
  readonly service: StagedPaidService;
  readonly account: PrivateKeyAccount;
  readonly config: ChannelConfig;
};

async function buy({ service, account, config }: World, purchases: number, q: string) {
  const url = `${service.url}/paid?q=${q}`;
  const header = await signVoucher(url, account, config, BigInt(purchases) * TEST_PRICE);
  return outcomeOf(await fetchWithPayment(url, header));
}

function outcomeOf(response: Response) {
  const error =
    response.status === 402
      ? decodeBase64Header<{ error: string }>(response, "payment-required").error.replace(
          "invalid_batch_settlement_evm_",
          "",
        )
      : null;
  return error ?? response.status;
}

async function sendAsPayer(
  stage: PaidStage,
  account: PrivateKeyAccount,
  functionName: "initiateWithdraw" | "finalizeWithdraw",
  args: readonly unknown[],
): Promise<void> {
  await backend.chain.request("hardhat_impersonateAccount", [account.address]);
  await backend.chain.request("hardhat_setBalance", [account.address, "0xde0b6b3a7640000"]);
  await stage.send(account, {
    address: CHANNEL_CONTRACT as Hex,
    abi: batchSettlementAbi,
    functionName,
    args,
  });
}

describe("channels and the chain", () => {
  it("a channel is served up to its balance and not beyond", async () => {
    const { buy, deposit } = await openWorld();
    await expect(buy(1)).resolves.toBe("channel_not_found");
    await deposit(2n * TEST_PRICE);
    await expect(buy(1)).resolves.toBe(200);
    await expect(buy(2)).resolves.toBe(200);
    await expect(buy(3)).resolves.toBe("cumulative_exceeds_balance");
    await deposit(TEST_PRICE);
    await expect(buy(3)).resolves.toBe(200);
  });

  it("a withdrawal that has started counts as gone, and what is served is claimed before it ends", async () => {
    const { buy, deposit, payerSends, config, service, stage } = await openWorld();
    await deposit();
    await expect(buy(1)).resolves.toBe(200);
    const before = await stage.balance(stage.payTo);
    await payerSends("initiateWithdraw", [config, DEPOSIT]);
    await service.gate.reconcile();
    expect((await stage.balance(stage.payTo)) - before).toBe(TEST_PRICE);
    await expect(buy(2)).resolves.toBe("cumulative_exceeds_balance");
    await backend.chain.increaseTime(901n);
    await payerSends("finalizeWithdraw", [config]);
    await expect(buy(2)).resolves.toBe("cumulative_exceeds_balance");
  });

  it("a payer that empties its channel right before our claim takes what was unclaimed of it, and nothing of others", async () => {
    const { stage, service, account, config, buy, deposit, payerSends } = await openWorld({
      // The delay passes for the chain, and not for the clock of the database.
      channels: { limits: { blockAgeMsMax: 3_600_000 } },
    });
    const { chain } = backend;
    await deposit();
    for (const purchases of [1, 2]) await expect(buy(purchases)).resolves.toBe(200);
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ value: 2n * TEST_PRICE });
    for (const purchases of [3, 4, 5]) await expect(buy(purchases)).resolves.toBe(200);
    const other = await openChannelWorld(stage, { salt: `0x${"0b".repeat(32)}` });
    await other.deposit(DEPOSIT);
    await expect(other.buy(service, 1)).resolves.toBe(200);
    // As if we could claim nothing until the delay is over.
    await payerSends("initiateWithdraw", [config, DEPOSIT - 2n * TEST_PRICE]);
    await chain.increaseTime(901n);
    await chain.mine();
    const outrun = await stage.serve({ channels: { sender: overtaken(stage.sender, () => sendFirst()) } });
    const sendFirst = async () => {
      await chain.request("evm_setAutomine", [false]);
      const call = { abi: batchSettlementAbi, functionName: "finalizeWithdraw", args: [config] } as const;
      const sent = { from: account.address, to: CHANNEL_CONTRACT, data: encodeFunctionData(call) };
      const fees = { maxFeePerGas: "0x174876e800", maxPriorityFeePerGas: "0x174876e800" };
      await chain.request("eth_sendTransaction", [{ ...sent, ...fees, gas: "0x493e0" }]);
    };
    const claiming = outrun.claims?.claimNow(null);
    await waitFor(async () => (await readPending()).length > 1);
    expect(await readPending()).toEqual([account.address.toLowerCase(), stage.inProcess.address]);
    await chain.mine();
    await chain.request("evm_setAutomine", [true]);
    // The other channel was in the same transaction: it is claimed at once, by itself.
    await expect(claiming).resolves.toMatchObject({ claimed: 1, value: TEST_PRICE });
    const { claimRows } = outrun.channels ?? {};
    const totals = () => claimRows?.readTotals([TEST_CHANNEL_TERMS.receiverAuthorizer]);
    await expect(totals()).resolves.toMatchObject({ lost: 3n * TEST_PRICE, due: 0n });
    await expect(stage.balance(account.address)).resolves.toBe(1_000_000n - 2n * TEST_PRICE);
    await expect(buy(6)).resolves.toBe("cumulative_exceeds_balance");
    await expect(stage.balance(stage.payTo)).resolves.toBe(3n * TEST_PRICE);
  });

  it("a reorg that takes the deposit ends the service, and nothing is claimed of it", async () => {
    const { buy, deposit, service } = await openWorld();
    await service.gate.reconcile();
    await deposit();
    await expect(buy(1)).resolves.toBe(200);
    await service.gate.reconcile();
    await backend.chain.reorg(1, { replay: "none" });
    await backend.chain.mine();
    await service.gate.reconcile();
    await expect(buy(2)).resolves.toBe("cumulative_exceeds_balance");
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 0, transaction: null });
  });

  it("what a deposit that is not final covers is limited", async () => {
    const { buy, deposit, service } = await openWorld({ channels: { exposureMax: 2n * TEST_PRICE } });
    await service.gate.reconcile();
    await deposit();
    await expect(buy(1)).resolves.toBe(200);
    await expect(buy(2)).resolves.toBe(200);
    await expect(buy(3)).resolves.toBe(503);
    for (let block = 0; block < 33; block += 1) await backend.chain.mine();
    await service.gate.reconcile();
    await expect(buy(3)).resolves.toBe(200);
  });

  it("a facilitator that only says that it made the deposit buys nothing", async () => {
    const transaction = `0x${"ab".repeat(32)}` as const;
    const real = await openPaidStage("in process", backend);
    opened.push(real.close);
    const sender = {
      ...real.inProcess.channels,
      checkDeposit: async () => null,
      deposit: async () => ({ kind: "deposited", transaction }) as const,
    };
    const service = await real.serve({ channels: { sender, limits: { receiptMs: 200 } } });
    const account = await real.payer();
    const config = configOf(real, account);
    const url = `${service.url}/paid?q=a`;
    const change = withDeposit(await signDeposit(account, config, DEPOSIT));
    const header = await signVoucher(url, account, config, TEST_PRICE, { change });
    await expect(fetchWithPayment(url, header).then(outcomeOf)).resolves.toBe(503);
    expect(service.runs).toEqual([]);
  });

  it("a deposit is made once however often its payment is sent", async () => {
    const { stage, service, account, config } = await openWorld();
    const url = `${service.url}/paid?q=a`;
    const change = withDeposit(await signDeposit(account, config, DEPOSIT));
    const header = await signVoucher(url, account, config, TEST_PRICE, { change });
    service.sold.work = async () => ({ status: 503, body: {} });
    await expect(fetchWithPayment(url, header).then(outcomeOf)).resolves.toBe(503);
    service.sold.work = async () => ({ status: 200, body: { sold: true } });
    const responses = await Promise.all([1, 2, 3].map(() => fetchWithPayment(url, header)));
    expect(responses.map(outcomeOf)).toEqual([200, 200, 200]);
    await expect(stage.balance(CHANNEL_CONTRACT)).resolves.toBe(DEPOSIT);
    const receipts = responses.map((each) => decodeBase64Header<object>(each, "payment-response"));
    expect(new Set(receipts.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(receipts[0]).toMatchObject({ amount: DEPOSIT.toString(), success: true });
  });

  it("one voucher that the contract rejects does not keep others from being claimed", async () => {
    const { buy, deposit, service, stage } = await openWorld();
    await deposit();
    await buy(1);
    const other = await stage.payer();
    const config = configOf(stage, other);
    await stage.inProcess.channels.deposit(await signDeposit(other, config, DEPOSIT));
    await expect(buyAs(service, other, config)).resolves.toBe(200);
    // As if the key of the database's owner had a bad day.
    await stage.database.query({
      text: "update payment_channels set signature = $1 where payer = $2",
      values: [`0x${"11".repeat(64)}1b`, config.payer],
    });
    const before = await stage.balance(stage.payTo);
    const run = await service.claims?.claimNow(null);
    expect(run).toMatchObject({ claimed: 1, value: TEST_PRICE, rejected: [digests.channelId(config)] });
    expect((await stage.balance(stage.payTo)) - before).toBe(TEST_PRICE);
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 0, rejected: [] });
  });

  it("the payer gets the rest back when it asks for it, and the payee what was bought", async () => {
    const { buy, deposit, service, stage, account, config } = await openWorld();
    await deposit();
    await buy(1);
    const before = [await stage.balance(account.address), await stage.balance(stage.payTo)];
    const url = `${service.url}/paid?q=a`;
    const change = (payload: Record<string, unknown>) => ({ ...payload, type: "refund" });
    const refund = () =>
      signVoucher(url, account, config, TEST_PRICE, { change }).then((header) =>
        fetchWithPayment(url, header),
      );
    const response = await refund();
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { refunded: (DEPOSIT - TEST_PRICE).toString() },
    ]);
    expect((await stage.balance(account.address)) - (before[0] ?? 0n)).toBe(DEPOSIT - TEST_PRICE);
    expect((await stage.balance(stage.payTo)) - (before[1] ?? 0n)).toBe(TEST_PRICE);
    await expect(refund().then(outcomeOf)).resolves.toBe("refund_no_balance");
  });
});

async function buyAs(service: StagedPaidService, account: PrivateKeyAccount, config: ChannelConfig) {
  const url = `${service.url}/paid?q=other`;
  return outcomeOf(await fetchWithPayment(url, await signVoucher(url, account, config, TEST_PRICE)));
}
