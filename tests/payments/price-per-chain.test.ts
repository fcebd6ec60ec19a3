// A price that depends on the chains of a request: the same rules for transfers and for channels, in terms, charge and replay.
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createChannelClient } from "../support/payments/channel-client.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import {
  createPayingFetch,
  decodeBase64Header,
  fetchWithPayment,
  signPaymentFor,
} from "../support/payments/paid-client.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";

const PER_CHAIN = 2_500n;
const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function openService() {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  const offer = { amountPerChain: PER_CHAIN };
  const service = await stage.serve({ offer, channels: {} });
  return { stage, service, url: (q: string) => `${service.url}/paid?q=${q}` };
}

/** One chain costs the price, and each further one adds to it. */
const priceOf = (chains: number) => TEST_PRICE + PER_CHAIN * BigInt(chains - 1);
const receiptOf = (response: Response) => decodeBase64Header<SettleResponse>(response, "payment-response");
const termsOf = (response: Response) => decodeBase64Header<PaymentRequired>(response, "payment-required");

describe("a price for each chain after the first", () => {
  it.each([1, 2, 5])("names the price of %i chains in the terms of both schemes", async (chains) => {
    const { url } = await openService();
    const response = await fetch(url(`a:${chains}`));
    const { accepts } = termsOf(response);
    expect(accepts.map(({ scheme, amount }) => [scheme, amount])).toEqual([
      ["exact", priceOf(chains).toString()],
      ["batch-settlement", priceOf(chains).toString()],
    ]);
    expect(((await response.json()) as PaymentRequired).accepts).toEqual(accepts);
  });

  it("charges a transfer of exactly the price of the request's chains", async () => {
    const { stage, url } = await openService();
    const payer = await stage.payer();
    const pay = createPayingFetch(payer, stage.asset);
    for (const chains of [5, 1]) expect((await pay(url(`a:${chains}`))).status).toBe(200);
    const transfers = await stage.transfersFrom(payer.address);
    expect(transfers.map(({ args }) => args.value)).toEqual([priceOf(5), priceOf(1)]);
  });

  it("sells no request of five chains, and none of one, for a transfer of another price", async () => {
    const { stage, service, url } = await openService();
    const payer = await stage.payer();
    const one = await signPaymentFor(url("a:1"), payer, stage.asset);
    const five = await signPaymentFor(url("a:5"), payer, stage.asset);
    const cheap = await fetchWithPayment(url("a:5"), one.header);
    expect([cheap.status, termsOf(cheap).error]).toEqual([
      402,
      "The payment is of 10000 units, the price is 20000.",
    ]);
    const dear = await fetchWithPayment(url("a:1"), five.header);
    expect([dear.status, termsOf(dear).accepts[0]?.amount]).toEqual([402, "10000"]);
    expect(service.runs).toEqual([]);
    expect(await stage.transfersFrom(payer.address)).toEqual([]);
  });

  it("keeps a transfer that bought one chain from any other request, and its price in a replay", async () => {
    const { stage, service, url } = await openService();
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("a:3"), payer, stage.asset);
    const first = await fetchWithPayment(url("a:3"), header);
    expect(receiptOf(first).amount).toBe(priceOf(3).toString());
    // The operator has raised the price meanwhile.
    const dearer = await stage.serve({ offer: { amountPerChain: 9n * PER_CHAIN }, channels: {} });
    for (const base of [service.url, dearer.url]) {
      const again = await fetchWithPayment(`${base}/paid?q=a:3`, header);
      expect([again.status, await again.json()]).toEqual([200, { run: 1 }]);
      expect(receiptOf(again)).toEqual(receiptOf(first));
      expect((await fetchWithPayment(`${base}/paid?q=a:5`, header)).status).toBe(409);
      expect((await fetchWithPayment(`${base}/paid?q=a:1`, header)).status).toBe(409);
    }
    expect(dearer.runs).toEqual([]);
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
  });

  it("charges a channel the price of each request, and replays at the price that was charged", async () => {
    const { stage, service, url } = await openService();
    const client = createChannelClient(await stage.payer(), stage);
    const bought = [];
    for (const chains of [1, 5, 2]) {
      const response = await client.pay(url(`a:${chains}`));
      expect(receiptOf(response).extra).toMatchObject({ chargedAmount: priceOf(chains).toString() });
      bought.push(client.sent.at(-1) ?? "");
    }
    const charged = priceOf(1) + priceOf(5) + priceOf(2);
    const again = await fetchWithPayment(url("a:2"), bought[2] ?? "");
    expect(receiptOf(again).extra).toMatchObject({
      chargedAmount: priceOf(2).toString(),
      channelState: { chargedCumulativeAmount: charged.toString() },
    });
    expect(service.runs).toEqual(["a:1", "a:5", "a:2"]);
  });

  it("sells no request of five chains for a voucher of the price of one, and corrects it", async () => {
    const { stage, service, url } = await openService();
    const client = createChannelClient(await stage.payer(), stage);
    await client.pay(url("first:1"));
    service.sold.work = async () => ({ status: 503, body: { error: "away" } });
    await client.pay(url("a:1"));
    service.sold.work = async () => ({ status: 200, body: {} });
    // It was not charged, so that it is still the next voucher of one chain.
    const voucher = client.sent.at(-1) ?? "";
    const five = await fetchWithPayment(url("a:5"), voucher);
    expect([five.status, termsOf(five).error]).toEqual([
      402,
      "invalid_batch_settlement_evm_cumulative_amount_mismatch",
    ]);
    expect(service.runs).toEqual(["first:1", "a:1"]);
  });
});
