// A service that lies about sums, loses its database or disappears: the payer loses one price at most.
// In main, packages/client/channels/hostile-channel.test.ts fails for the same broken rules, without a node.
import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { voucherTypedData } from "../../packages/client/channels/channel-typed-data.ts";
import { createSextant, type SextantOptions } from "../../packages/client/create-sextant.ts";
import { createMemoryJournal } from "../../packages/client/journal/journal.ts";
import { CHANNEL_CONTRACT } from "../../src/payments/channels/channel-config.ts";
import { TEST_NETWORK } from "../support/payments/paid-client.ts";
import { TEST_CHANNEL_TERMS, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";
import { demand, edit, startLyingProxy } from "./lying-proxy.ts";

type Fields = Record<string, unknown>;
type Lies = Awaited<ReturnType<typeof startLyingProxy>>;

let stage: ClientStage;
let proxy: Lies;
beforeAll(async () => {
  // The chain makes no block while the calls are made.
  stage = await openClientStage({ channels: { limits: { blockAgeMsMax: 3_600_000 } } });
});
afterAll(() => stage?.close());
beforeEach(async () => {
  proxy = await startLyingProxy(stage.url);
});
afterEach(() => proxy.stop());

const DEPOSIT = 20n * TEST_PRICE;

async function openBuyer(options: { readonly node?: boolean } & Partial<SextantOptions> = {}) {
  const { node = true, ...others } = options;
  const { account } = await stage.payer();
  const journal = createMemoryJournal();
  const guard = { ...stage.guard, ...(node ? { node: stage.paid.chain.rpcUrl } : {}) };
  const given = { portfolio: proxy.url, payer: account, guard, journal, attemptsMax: 2 };
  const sextant = createSextant({ ...given, channel: { deposit: DEPOSIT }, ...others });
  let wallets = 0;
  let delivered = 0n;
  const channel = async () => {
    const [found] = (await journal.read()).channels.list();
    if (found === undefined) throw new Error("no channel was opened");
    return found;
  };
  return {
    account,
    sextant,
    journal,
    channel,
    async buy(wallet = walletAt(wallets++)) {
      const { receipt } = await sextant.getPortfolio({ address: wallet });
      delivered += TEST_PRICE;
      return receipt?.channel ?? null;
    },
    /** The sum that the payee could claim beyond the price of what was delivered. */
    async excess() {
      const [channel] = (await journal.read()).channels.list();
      return (channel?.signed ?? 0n) - delivered;
    },
    async offer() {
      const { id } = await channel();
      const extra = { name: "USD Coin", version: "2", ...TEST_CHANNEL_TERMS, minDeposit: "1" };
      const offer = {
        scheme: "batch-settlement",
        network: TEST_NETWORK,
        amount: TEST_PRICE.toString(),
        extra,
      };
      return {
        id,
        offer: { ...offer, asset: stage.paid.asset, payTo: stage.paid.payTo, maxTimeoutSeconds: 60 },
      };
    },
  };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "bought",
    (error: { code?: string; message?: string }) => `${error.code}: ${error.message}`,
  );

describe("a service that lies about what it charged", () => {
  it.each<[string, (extra: Fields & { channelState: Fields }) => void]>([
    ["more than the price", (extra) => Object.assign(extra, { chargedAmount: "20000" })],
    [
      "more in all than was signed",
      ({ channelState }) => Object.assign(channelState, { chargedCumulativeAmount: "900000" }),
    ],
    [
      "claims beyond what was signed",
      ({ channelState }) => Object.assign(channelState, { totalClaimed: "900000" }),
    ],
  ])("gets no further signature once it says %s", async (_, lie) => {
    const { buy, excess, journal } = await openBuyer();
    await buy();
    proxy.lie = (response) => edit(response, "payment-response", (value) => lie(value.extra as never));
    await buy();
    expect(await excess()).toBe(0n);
    proxy.lie = proxy.honest;
    expect(await codeOf(buy())).toMatch(/^TERMS_REJECTED: Not paid by channel: channel 0x\w+ is disputed/);
    expect(await excess()).toBe(0n);
    expect((await journal.read()).list()).toHaveLength(2);
  });

  it.each<[string, (sum: string, id: `0x${string}`) => Promise<Fields>]>([
    ["nothing", async () => ({})],
    [
      "a key that is not the payer's",
      async (sum, id) => {
        const data = voucherTypedData(TEST_NETWORK, id, BigInt(sum));
        const signature = await privateKeyToAccount(`0x${"12".repeat(32)}`).signTypedData(data);
        return { voucherState: { signedMaxClaimable: sum, signature } };
      },
    ],
    [
      "no point of the curve",
      async (sum) => ({ voucherState: { signedMaxClaimable: sum, signature: `0x${"ff".repeat(65)}` } }),
    ],
  ])("gets nothing signed beyond the journal when %s proves its larger sum", async (_, prove) => {
    const { buy, excess, offer } = await openBuyer();
    await buy();
    const { id, offer: offered } = await offer();
    const sum = (5n * TEST_PRICE).toString();
    const extra = {
      channelState: { channelId: id, chargedCumulativeAmount: sum },
      ...(await prove(sum, id)),
    };
    proxy.lie = (response) => demand(response, extra, offered);
    expect(await codeOf(buy(walletAt(50)))).toMatch(/^TERMS_REJECTED: .* it asks for more than was signed/);
    expect(await excess()).toBe(TEST_PRICE);
    // It had charged for the response that it kept back; once it is honest again, the next calls get all.
    proxy.lie = proxy.honest;
    await buy(walletAt(51));
    await buy(walletAt(50));
    expect(await excess()).toBe(0n);
  });

  it("gets one price at most by charging what it does not deliver, and nothing by trying again", async () => {
    const { buy, excess, offer, channel } = await openBuyer();
    await buy();
    const { id, offer: offered } = await offer();
    proxy.lie = async (response) => {
      const { signed, last } = await channel();
      const paid = JSON.parse(Buffer.from(last?.signature ?? "", "base64").toString()) as {
        payload: { voucher: { signature: string } };
      };
      const voucherState = {
        signedMaxClaimable: signed.toString(),
        signature: paid.payload.voucher.signature,
      };
      demand(
        response,
        { channelState: { channelId: id, chargedCumulativeAmount: signed.toString() }, voucherState },
        offered,
      );
      return undefined;
    };
    expect(await codeOf(buy())).toMatch(/^TERMS_REJECTED: .* does not deliver/);
    expect(await excess()).toBe(TEST_PRICE);
    for (const _ of [1, 2]) expect(await codeOf(buy())).toMatch(/^TERMS_REJECTED: .* is disputed/);
    expect(await excess()).toBe(TEST_PRICE);
  });
});

describe("a service that loses", () => {
  const forget = async (id: string) => {
    for (const table of ["channel_purchases", "payment_channels"]) {
      await stage.paid.database.query({ text: `delete from ${table} where channel_id = $1`, values: [id] });
    }
  };

  it.each([true, false])("its database sells on from what is claimed (with a node: %s)", async (node) => {
    const { buy, excess, channel } = await openBuyer({ node });
    for (const _ of [1, 2, 3]) await buy();
    const { id } = await channel();
    await forget(id);
    for (const _ of [1, 2]) await buy();
    // Five were delivered, and the largest voucher is the one that was rejected, for four.
    expect([await excess(), (await channel()).signed]).toEqual([-1n * TEST_PRICE, 4n * TEST_PRICE]);
  });

  it("its last purchases goes on from the older voucher that it has", async () => {
    const { buy, excess, channel } = await openBuyer({ node: false });
    await buy();
    const { id } = await channel();
    const columns = "charged, signature";
    const read = { text: `select ${columns} from payment_channels where channel_id = $1`, values: [id] };
    const [old] = (await stage.paid.database.query<{ charged: string; signature: string }>(read)).rows;
    if (old === undefined) throw new Error("the service does not have the channel");
    for (const _ of [1, 2]) await buy();
    const text = "update payment_channels set charged = $2::numeric, signature = $3 where channel_id = $1";
    await stage.paid.database.query({ text, values: [id, old.charged, old.signature] });
    await stage.paid.database.query({
      text: "delete from channel_purchases where channel_id = $1 and cumulative > $2::numeric",
      values: [id, old.charged],
    });
    await buy();
    expect([await excess(), (await channel()).charged]).toEqual([0n, 2n * TEST_PRICE]);
  });

  it("a channel to another deployment of the payee is paid by transfer", async () => {
    const { buy, excess, channel, account } = await openBuyer();
    const id = await buy();
    const set = (time: string) => {
      const text = `update payment_channels set claimed_elsewhere_at = ${time} where channel_id = $1`;
      return stage.paid.database.query({ text, values: [id] });
    };
    await set("now()");
    for (const _ of [1, 2]) expect(await buy()).toBeNull();
    expect(1_000_000n - (await stage.paid.balance(account.address))).toBe(DEPOSIT + 2n * TEST_PRICE);
    // Both transfers were delivered; the rejected vouchers are for one sum.
    expect([await excess(), (await channel()).signed]).toEqual([-1n * TEST_PRICE, 2n * TEST_PRICE]);
    await set("null");
    expect(await buy()).toBe(id);
  });

  it("the response delivers it to the next call for the same, and other calls go on", async () => {
    const { buy, sextant, channel, excess } = await openBuyer();
    await buy();
    const runs = stage.runs.length;
    proxy.lie = () => null;
    expect(await codeOf(sextant.getPortfolio({ address: walletAt(70) }))).toMatch(/^UNREACHABLE/);
    proxy.lie = proxy.honest;
    await buy(walletAt(71));
    expect((await sextant.payments.list()).map(({ state }) => state)).toEqual([
      "paid",
      "held",
      "rejected",
      "paid",
    ]);
    await buy(walletAt(70));
    expect([stage.runs.length - runs, (await channel()).charged]).toEqual([2, 3n * TEST_PRICE]);
    expect(await excess()).toBe(0n);
    expect((await sextant.payments.list()).map(({ state }) => state)).toEqual([
      "paid",
      "paid",
      "rejected",
      "paid",
    ]);
  });
});

it("takes over what its own key has signed when its journal is older than the service", async () => {
  const { account, sextant, journal, buy } = await openBuyer();
  await buy();
  const old = createMemoryJournal();
  const first = (await journal.read()).list()[0];
  if (first === undefined) throw new Error("nothing was signed");
  const { state, transaction, code, endedAt, ...signed } = first;
  await old.exclusive(async (_, append) => {
    await append(signed, { durable: true });
    await append({ type: "paid", id: signed.id, at: endedAt ?? 0, transaction, code }, { durable: true });
  });
  expect(state).toBe("paid");
  for (const index of [81, 82]) await sextant.getPortfolio({ address: walletAt(index) });
  const guard = { ...stage.guard, node: stage.paid.chain.rpcUrl };
  const restored = createSextant({
    ...{ portfolio: proxy.url, payer: account, guard, journal: old, channel: { deposit: DEPOSIT } },
  });
  const { receipt } = await restored.getPortfolio({ address: walletAt(90) });
  expect(receipt?.channel).toBe(signed.voucher?.channel);
  expect((await old.read()).channels.list()[0]?.signed).toBe(4n * TEST_PRICE);
});

describe("money that was not spent", () => {
  it("comes back by the service, and is free in the budget once that is final", async () => {
    const { buy, sextant, account } = await openBuyer();
    for (const _ of [1, 2]) await buy();
    const [before] = await sextant.channels.list();
    expect(before).toMatchObject({ state: "open", held: DEPOSIT, left: 18n * TEST_PRICE, claimed: 0n });
    const { amount } = await sextant.channels.refund(String(before?.id));
    expect(amount).toBe(18n * TEST_PRICE);
    expect(await stage.paid.balance(account.address)).toBe(1_000_000n - 2n * TEST_PRICE);
    await sextant.channels.list();
    expect((await sextant.payments.budget()).spent.total).toBe("0.2");
    await stage.paid.chain.mine(40);
    await sextant.channels.list();
    expect((await sextant.payments.budget()).spent.total).toBe("0.02");
    // The channel goes on with a further deposit.
    expect(await buy()).toBe(before?.id);
    expect((await sextant.payments.budget()).spent.total).toBe("0.22");
  });

  it("is over in a disputed channel that was claimed to its end, and the payee is paid again", async () => {
    const { buy, sextant, channel } = await openBuyer({ channel: { deposit: 10n * TEST_PRICE } });
    for (let call = 1; call < 10; call += 1) await buy();
    proxy.lie = (response) =>
      edit(response, "payment-response", ({ extra }) =>
        Object.assign(extra as Fields, { chargedAmount: "20000" }),
      );
    await buy();
    proxy.lie = proxy.honest;
    expect(await codeOf(buy())).toMatch(/^TERMS_REJECTED: .* is disputed/);
    await stage.service.claims?.claimNow(null);
    await stage.paid.chain.mine(40);
    expect(await sextant.channels.list()).toMatchObject([{ state: "closed", claimed: 10n * TEST_PRICE }]);
    const { id } = await channel();
    await buy();
    expect(await sextant.channels.list()).toMatchObject([{ id, state: "closed" }, { state: "open" }]);
  });

  it("comes back without the service after the delay, and no voucher is signed meanwhile", async () => {
    const { buy, sextant, account, channel } = await openBuyer();
    await buy();
    proxy.lie = () => null;
    const { id } = await channel();
    const { chain } = stage.paid;
    await chain.request("hardhat_setBalance", [account.address, "0xde0b6b3a7640000"]);
    await chain.request("hardhat_impersonateAccount", [account.address]);
    const send = async ({ to, data }: { to: string; data: string }) => {
      const hash = await chain.request("eth_sendTransaction", [
        { from: account.address, to, data, gas: "0xf4240" },
      ]);
      await expect.poll(() => chain.request("eth_getTransactionReceipt", [hash])).not.toBeNull();
    };
    const started = await sextant.channels.withdraw(id, { send });
    expect(started).toMatchObject({ state: "started", amount: 19n * TEST_PRICE });
    expect(await sextant.channels.withdraw(id, { send })).toEqual({ ...started, state: "waiting" });
    proxy.lie = proxy.honest;
    await chain.setNextBlockTimestamp(BigInt(started.availableAt));
    await chain.mine();
    expect(await sextant.channels.withdraw(id, { send })).toMatchObject({
      state: "withdrawn",
      amount: 19n * TEST_PRICE,
    });
    expect(await stage.paid.balance(account.address)).toBe(1_000_000n - TEST_PRICE);
    const args = [id] as const;
    const call = {
      address: CHANNEL_CONTRACT,
      abi: batchSettlementAbi,
      functionName: "channels",
      args,
    } as const;
    expect(await stage.paid.node.readContract(call)).toEqual([TEST_PRICE, 0n]);
    expect((await sextant.channels.list())[0]).toMatchObject({ state: "closed", left: 0n });
  });
});
