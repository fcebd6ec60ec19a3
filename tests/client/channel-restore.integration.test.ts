// A payer whose journal is lost finds its channels on the chain: it takes the money back alone, or buys on.
// In main, channel.test.ts pays by a channel that the journal still knows.
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { voucherTypedData } from "../../packages/client/channels/channel-typed-data.ts";
import { createSextant, type SextantOptions } from "../../packages/client/create-sextant.ts";
import { createMemoryJournal } from "../../packages/client/journal/journal.ts";
import { TEST_NETWORK } from "../support/payments/paid-client.ts";
import { TEST_PRICE } from "../support/payments/paid-stage.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";
import { edit, startLyingProxy } from "./lying-proxy.ts";

const DEPOSIT = 20n * TEST_PRICE;

let stage: ClientStage;
let proxy: Awaited<ReturnType<typeof startLyingProxy>>;
beforeAll(async () => {
  // The chain makes no block while the calls are made.
  stage = await openClientStage({ channels: { limits: { blockAgeMsMax: 3_600_000 } } });
});
afterAll(() => stage?.close());
beforeEach(async () => {
  proxy = await startLyingProxy(stage.url);
});
afterEach(() => proxy.stop());

type Buyer = Awaited<ReturnType<typeof openBuyer>>;

/** A payer that has bought so often, whose journal is gone: `again` has the same account and an empty one. */
async function openBuyer(purchases: number) {
  const { account } = await stage.payer();
  const guard = { ...stage.guard, node: stage.paid.chain.rpcUrl };
  const open = (options: Partial<SextantOptions> = {}) => {
    const journal = createMemoryJournal();
    const given = { portfolio: proxy.url, payer: account, guard, journal, attemptsMax: 2 };
    return { journal, sextant: createSextant({ ...given, channel: { deposit: DEPOSIT }, ...options }) };
  };
  const first = open();
  for (let index = 0; index < purchases; index += 1) {
    await first.sextant.getPortfolio({ address: walletAt(index) });
  }
  const [lost] = (await first.journal.read()).channels.list();
  if (lost === undefined) throw new Error("no channel was opened");
  return { account, open, lost, ...open() };
}

/** Sends the payer's transactions. */
async function openSender({ account }: Buyer) {
  const { chain } = stage.paid;
  await chain.request("hardhat_setBalance", [account.address, "0xde0b6b3a7640000"]);
  await chain.request("hardhat_impersonateAccount", [account.address]);
  return async ({ to, data }: { to: string; data: string }) => {
    const call = { from: account.address, to, data, gas: "0xf4240" };
    const hash = await chain.request("eth_sendTransaction", [call]);
    await expect.poll(() => chain.request("eth_getTransactionReceipt", [hash])).not.toBeNull();
  };
}

describe("a journal that is lost while the service goes on", () => {
  // After one purchase that was not claimed, the voucher of the next would be a copy of its own.
  it.each([1, 4])(
    "buys on from what %s purchases were charged, once the service has proved it",
    async (bought) => {
      const { sextant, journal, lost } = await openBuyer(bought);
      await sextant.channels.restore();
      const { receipt } = await sextant.getPortfolio({ address: walletAt(50) });
      expect(receipt?.channel).toBe(lost.id);
      const [channel] = (await journal.read()).channels.list();
      const sum = BigInt(bought + 1) * TEST_PRICE;
      expect([channel?.charged, channel?.signed, channel?.state]).toEqual([sum, sum, "open"]);
      const { amount } = await sextant.channels.refund(lost.id);
      expect(amount).toBe(DEPOSIT - sum);
    },
  );

  it("gets one unit signed at most if another key proves its sum", async () => {
    const { sextant, journal, lost } = await openBuyer(2);
    await sextant.channels.restore();
    const sum = 9n * TEST_PRICE;
    const outsider = privateKeyToAccount(`0x${"12".repeat(32)}`);
    const signature = await outsider.signTypedData(voucherTypedData(TEST_NETWORK, lost.id, sum));
    proxy.lie = (response) =>
      edit(response, "payment-required", ({ accepts }) => {
        for (const { extra } of accepts as { extra: Record<string, object> }[]) {
          if (extra.channelState === undefined) continue;
          Object.assign(extra.channelState, { chargedCumulativeAmount: sum.toString() });
          extra.voucherState = { signedMaxClaimable: sum.toString(), signature };
        }
      });
    await expect(sextant.getPortfolio({ address: walletAt(60) })).rejects.toMatchObject({
      message: expect.stringContaining("it asks for more than was signed"),
    });
    expect((await journal.read()).channels.list()[0]?.signed).toBe(1n);
  });
});

describe("a journal that is lost while the service is gone", () => {
  it("is restored by a node that serves small ranges of logs, from the block that is named", async () => {
    const { open, lost } = await openBuyer(1);
    await stage.paid.chain.mine(3_000);
    const ranges: bigint[] = [];
    const limited: typeof fetch = async (url, init) => {
      const { method, params } = JSON.parse(String(init?.body ?? "{}"));
      const [{ fromBlock = "0x0", toBlock = "0x0" } = {}] = method === "eth_getLogs" ? params : [];
      const range = BigInt(toBlock) - BigInt(fromBlock);
      if (method === "eth_getLogs") ranges.push(range);
      const error = { code: -32_005, message: "block range too large" };
      if (range > 1_000n) return Response.json({ jsonrpc: "2.0", id: 1, error });
      return fetch(url, init);
    };
    expect(await open({ fetch: limited }).sextant.channels.restore()).toMatchObject([{ id: lost.id }]);
    expect(ranges.length).toBeGreaterThan(3);
    const fromBlock = BigInt(String(await stage.paid.chain.request("eth_blockNumber", [])));
    expect(await open().sextant.channels.restore({ fromBlock })).toEqual([]);
    const failing: typeof fetch = async () => Response.json({ jsonrpc: "2.0", id: 1, error: {} });
    await expect(open({ fetch: failing }).sextant.channels.restore()).rejects.toMatchObject({
      code: "RESPONSE_INVALID",
    });
  });

  // Last: it takes the clock of the chain ahead.
  it("is restored from the chain, and what was not claimed comes back", async () => {
    const buyer = await openBuyer(3);
    await stage.service.claims?.claimNow([buyer.lost.id]);
    const { open, account, lost } = buyer;
    // Nothing listens there.
    const { sextant, journal } = open({ portfolio: "http://127.0.0.1:1" });
    const held = { held: DEPOSIT, bought: 3n * TEST_PRICE, left: 17n * TEST_PRICE, deposited: DEPOSIT };
    const shown = { id: lost.id, payTo: stage.paid.payTo, state: "open", ...held };
    expect(await sextant.channels.restore()).toMatchObject([shown]);
    expect(await sextant.channels.restore()).toEqual([]);
    expect((await sextant.payments.budget()).spent.total).toBe("0.2");
    const [channel] = (await journal.read()).channels.list();
    expect(channel?.deposits.map(({ id }) => id)).toEqual(lost.deposits.map(({ id }) => id));
    await expect(sextant.channels.refund(lost.id)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const send = await openSender(buyer);
    const started = await sextant.channels.withdraw(lost.id, { send });
    expect(started).toMatchObject({ state: "started", amount: 17n * TEST_PRICE });
    // A journal that is lost once more knows that the money is on its way.
    const again = open({ portfolio: "http://127.0.0.1:1" }).sextant;
    expect(await again.channels.restore()).toMatchObject([{ id: lost.id, state: "closing" }]);
    await stage.paid.chain.setNextBlockTimestamp(BigInt(started.availableAt));
    await stage.paid.chain.mine();
    expect(await again.channels.withdraw(lost.id, { send })).toMatchObject({ state: "withdrawn" });
    expect(await stage.paid.balance(account.address)).toBe(1_000_000n - 3n * TEST_PRICE);
    // The other journal did not see the end: as after a crash, or a wait for a slow node.
    expect(await sextant.channels.withdraw(lost.id, { send })).toMatchObject({
      state: "withdrawn",
      amount: 0n,
    });
    expect(await sextant.channels.list()).toMatchObject([{ id: lost.id, state: "closed", left: 0n }]);
    await stage.paid.chain.mine(40);
    await sextant.channels.list();
    expect((await sextant.payments.budget()).spent.total).toBe("0.03");
    expect(await open().sextant.channels.restore()).toEqual([]);
  });
});
