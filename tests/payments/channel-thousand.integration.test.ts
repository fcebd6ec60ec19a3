// A thousand calls of the stock client at a tenth of a cent take two transactions, and the payee has exactly a dollar.
// A landing makes a sixteenth of them. The fast sentinel is tests/payments/channel-purchases.test.ts.
import { afterAll, expect, it } from "vitest";
import { createChannelClient } from "../support/payments/channel-client.ts";
import { openPaidStage, TEST_CHANNEL_TERMS } from "../support/payments/paid-stage.ts";
import { runsOf } from "../support/test-depth.ts";

const stage = await openPaidStage("in process");
afterAll(() => stage.close());

const PRICE = 1_000n;
const CALLS = runsOf(1_000);
const TOTAL = BigInt(CALLS) * PRICE;

it(`sells ${CALLS} calls for one deposit and one claim, and the payee has exactly their price`, async () => {
  const channels = { ...TEST_CHANNEL_TERMS, minDeposit: TOTAL };
  const claimRules = { valueMin: TOTAL, ageSecondsMax: 3_600 };
  // The chain makes no block while the calls are made.
  const limits = { blockAgeMsMax: 600_000 };
  const service = await stage.serve({ channels: { claimRules, limits }, offer: { amount: PRICE, channels } });
  const client = createChannelClient(await stage.payer(1n), stage);
  const facilitator = stage.chain.accounts.facilitator.address;
  const sentBefore = await stage.node.getTransactionCount({ address: facilitator });
  const before = await stage.balance(stage.payTo);
  for (let call = 0; call < CALLS; call += 1) {
    const response = await client.pay(`${service.url}/paid?q=${call}`);
    expect([call, response.status]).toEqual([call, 200]);
    await response.arrayBuffer();
  }
  expect(client.sent).toHaveLength(CALLS);
  expect(service.runs).toHaveLength(CALLS);
  await service.gate.reconcile();
  expect((await stage.balance(stage.payTo)) - before).toBe(TOTAL);
  expect((await stage.node.getTransactionCount({ address: facilitator })) - sentBefore).toBe(2);
  await service.gate.reconcile();
  expect((await stage.node.getTransactionCount({ address: facilitator })) - sentBefore).toBe(2);
}, 400_000);
