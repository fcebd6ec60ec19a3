// Too much other work: a payment of either scheme is neither charged nor counted against its payer, and keeps its signature.
import { afterAll, afterEach, expect, it } from "vitest";
import { Fault } from "../../src/lib/fault.ts";
import { GATE_LIMITS } from "../../src/payments/paywall/limits.ts";
import { createChannelClient } from "../support/payments/channel-client.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { createPayingFetch, fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { openPaidStage } from "../support/payments/paid-stage.ts";

const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function openBusyService() {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  const service = await stage.serve({ channels: {} });
  const payer = await stage.payer();
  const free = service.sold.work;
  return {
    ...{ stage, service, payer, url: `${service.url}/paid?q=a` },
    busy: () => {
      service.sold.work = async () => {
        throw new Fault("OVERLOADED", "Too much work is waiting.", { retryAfterSeconds: 2 });
      };
    },
    free: () => {
      service.sold.work = free;
    },
  };
}

const MORE_THAN_FAILURES = GATE_LIMITS.failuresMax + 2;

it("a transfer is 503 with the advice to send the same signature, as often as it takes", async () => {
  const { stage, payer, url, busy, free } = await openBusyService();
  const { header } = await signPaymentFor(url, payer, stage.asset);
  busy();
  for (let each = 0; each < MORE_THAN_FAILURES; each += 1) {
    const response = await fetchWithPayment(url, header);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await response.text()).toContain("send the same signature again");
  }
  free();
  expect((await fetchWithPayment(url, header)).status).toBe(200);
  const pay = createPayingFetch(payer, stage.asset);
  expect((await pay(`${url}2`)).status).toBe(200);
  expect(await stage.transfersFrom(payer.address)).toHaveLength(2);
});

it("a voucher of a channel as well", async () => {
  const { stage, service, payer, busy, free } = await openBusyService();
  const client = createChannelClient(payer, stage);
  expect((await client.pay(`${service.url}/paid?q=first`)).status).toBe(200);
  busy();
  const url = `${service.url}/paid?q=b`;
  await client.pay(url);
  const voucher = client.sent.at(-1) ?? "";
  for (let each = 0; each < MORE_THAN_FAILURES; each += 1) {
    expect((await fetchWithPayment(url, voucher)).status).toBe(503);
  }
  free();
  expect((await fetchWithPayment(url, voucher)).status).toBe(200);
});
