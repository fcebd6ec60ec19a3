// Our client pays by channel: one deposit, one voucher for each purchase, one claim, and exactly the sum.
// tests/payments/channel-thousand.integration.test.ts makes a thousand calls.
import { formatUnits } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSextant, type SextantOptions } from "../../packages/client/create-sextant.ts";
import { createMemoryJournal } from "../../packages/client/journal/journal.ts";
import { TEST_CHANNEL_TERMS } from "../support/payments/paid-stage.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";

const PRICE = 1_000n;
const CALLS = 20;
const TOTAL = BigInt(CALLS) * PRICE;

let stage: ClientStage;
beforeAll(async () => {
  stage = await openClientStage({
    channels: {
      claimRules: { valueMin: TOTAL, ageSecondsMax: 3_600 },
      // The chain makes no block while the calls are made.
      limits: { blockAgeMsMax: 600_000 },
    },
    offer: { amount: PRICE, channels: { ...TEST_CHANNEL_TERMS, minDeposit: 10n * PRICE } },
  });
});
afterAll(() => stage?.close());

async function openBuyer(options: Partial<SextantOptions> = {}) {
  const { account } = await stage.payer();
  const journal = createMemoryJournal();
  const guard = { ...stage.guard, node: stage.paid.chain.rpcUrl };
  const sextant = createSextant({
    ...{ portfolio: stage.url, payer: account, guard, journal },
    channel: { deposit: TOTAL },
    ...options,
  });
  return { account, journal, sextant };
}

describe("a client with channels", () => {
  it(`buys ${CALLS} times for one deposit and one claim, and the payee has exactly the sum`, async () => {
    const { sextant, account } = await openBuyer();
    const facilitator = stage.paid.chain.accounts.facilitator.address;
    const sent = () => stage.paid.node.getTransactionCount({ address: facilitator });
    const [before, money] = [await sent(), await stage.paid.balance(stage.paid.payTo)];
    const channels = new Set<string | null | undefined>();
    for (let call = 0; call < CALLS; call += 1) {
      const { data, receipt } = await sextant.getPortfolio({ address: walletAt(call) });
      expect(data.address).toBe(walletAt(call));
      channels.add(receipt?.channel);
    }
    expect([channels.size, [...channels][0]]).toEqual([1, expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
    expect((await sent()) - before).toBe(1);
    await stage.service.gate.reconcile();
    expect((await sent()) - before).toBe(2);
    expect((await stage.paid.balance(stage.paid.payTo)) - money).toBe(TOTAL);
    expect(1_000_000n - (await stage.paid.balance(account.address))).toBe(TOTAL);
    const { spent } = await sextant.payments.budget();
    expect(spent.total).toBe(formatUnits(TOTAL, 6));
    expect(stage.runs).toHaveLength(CALLS);
  });

  it("pays nothing for calls that are free, and goes on from the same sum", async () => {
    const channels = { ...TEST_CHANNEL_TERMS, minDeposit: 10n * PRICE, freeCallsPerHour: 2 };
    const generous = await openClientStage({ channels: {}, offer: { amount: PRICE, channels } });
    const { account } = await generous.payer();
    const journal = createMemoryJournal();
    const sextant = createSextant({
      ...{ portfolio: generous.url, payer: account, guard: generous.guard, journal },
      channel: { deposit: TOTAL },
    });
    for (let call = 0; call < 5; call += 1) await sextant.getPortfolio({ address: walletAt(call) });
    const [channel] = await sextant.channels.list();
    expect([channel?.bought, channel?.signed, channel?.left]).toEqual([
      3n * PRICE,
      3n * PRICE,
      TOTAL - 3n * PRICE,
    ]);
    const totals = await generous.service.channels?.claimRows.readTotals([]);
    expect([totals?.unclaimed, generous.runs.length]).toEqual([3n * PRICE, 5]);
    await generous.close();
  });

  it("buys ten things at once by one channel, each once", async () => {
    const { sextant } = await openBuyer();
    const runs = stage.runs.length;
    const bought = await Promise.all(
      Array.from({ length: 10 }, (_, index) => sextant.getPortfolio({ address: walletAt(2_000 + index) })),
    );
    expect(new Set(bought.map(({ receipt }) => receipt?.channel)).size).toBe(1);
    expect(stage.runs.length - runs).toBe(10);
  });
});
