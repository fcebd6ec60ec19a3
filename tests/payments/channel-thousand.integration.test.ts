// A thousand calls at a tenth of a cent take two transactions, by the stock client and by ours: the payee has a dollar of each.
// A landing makes a sixteenth of them. The fast sentinels are tests/payments/channel-purchases.test.ts and
// tests/client/channel.test.ts.
import { join } from "node:path";
import type { PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import { type ClientStage, openClientStage, walletAt } from "../client/client-stage.ts";
import { createChannelClient } from "../support/payments/channel-client.ts";
import { TEST_CHANNEL_TERMS } from "../support/payments/paid-stage.ts";
import { runsOf } from "../support/test-depth.ts";
import { createTestFolder } from "../support/test-folder.ts";

const PRICE = 1_000n;
const CALLS = runsOf(1_000);
const TOTAL = BigInt(CALLS) * PRICE;

/** A client that buys one snapshot after another, and how many requests with a payment it has sent. */
type Buyer = {
  readonly buy: (address: string) => Promise<unknown>;
  readonly sent: () => number;
  readonly close: () => Promise<void>;
};

let stage: ClientStage;
beforeAll(async () => {
  stage = await openClientStage({
    channels: {
      claimRules: { valueMin: TOTAL, ageSecondsMax: 3_600 },
      // The chain makes no block while the calls are made.
      limits: { blockAgeMsMax: 600_000 },
    },
    offer: { amount: PRICE, channels: { ...TEST_CHANNEL_TERMS, minDeposit: TOTAL } },
  });
});
afterAll(() => stage?.close());

async function openStockBuyer(account: PrivateKeyAccount): Promise<Buyer> {
  const client = createChannelClient(account, stage.paid);
  return {
    async buy(address) {
      const response = await client.pay(`${stage.url}/portfolio?address=${address}`);
      expect([address, response.status]).toEqual([address, 200]);
      return response.json();
    },
    sent: () => client.sent.length,
    close: async () => undefined,
  };
}

async function openOurBuyer(account: PrivateKeyAccount): Promise<Buyer> {
  const journal = openFileJournal(join(await createTestFolder(), "payments.jsonl"));
  let sent = 0;
  const sextant = createSextant({
    ...{ portfolio: stage.url, payer: account, journal, channel: { deposit: TOTAL } },
    guard: { ...stage.guard, node: stage.paid.chain.rpcUrl },
    fetch: async (input, init) => {
      if (new Headers(init?.headers).has("payment-signature")) sent += 1;
      return fetch(input, init);
    },
  });
  return {
    buy: async (address) => (await sextant.getPortfolio({ address })).data,
    sent: () => sent,
    close: () => journal.close(),
  };
}

it.each([
  ["the stock client", openStockBuyer],
  ["our client", openOurBuyer],
])(
  `sells ${CALLS} calls to %s for one deposit and one claim, and the payee has exactly their price`,
  async (_, open) => {
    const { paid, service, runs } = stage;
    const { account } = await stage.payer();
    const buyer = await open(account);
    const facilitator = paid.chain.accounts.facilitator.address;
    const transactions = () => paid.node.getTransactionCount({ address: facilitator });
    const [sentBefore, runsBefore] = [await transactions(), runs.length];
    const before = await paid.balance(paid.payTo);
    for (let call = 0; call < CALLS; call += 1) {
      const address = walletAt(call);
      await expect(buyer.buy(address)).resolves.toMatchObject({ address });
    }
    expect([buyer.sent(), runs.length - runsBefore]).toEqual([CALLS, CALLS]);
    await buyer.close();
    expect((await transactions()) - sentBefore).toBe(1);
    await service.gate.reconcile();
    expect((await paid.balance(paid.payTo)) - before).toBe(TOTAL);
    expect(1_000_000n - (await paid.balance(account.address))).toBe(TOTAL);
    expect((await transactions()) - sentBefore).toBe(2);
    await service.gate.reconcile();
    expect((await transactions()) - sentBefore).toBe(2);
  },
  600_000,
);
