// One identifier names one purchase over both schemes: whichever comes second gets the response, and is not charged.
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";

const backend = await openPaidBackend();
afterAll(() => backend.close());

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

const named = { "payment-identifier": { info: { required: false, id: "purchase-of-the-day-2" } } };

async function openNamedWorld() {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  const service = await stage.serve({ channels: {} });
  const world = await openChannelWorld(stage);
  await world.deposit(10n * TEST_PRICE);
  await expect(world.buy(service, 1, "first")).resolves.toBe(200);
  const signTransfer = async (q: string) => {
    const { payload } = await signPaymentFor(`${service.url}/paid?q=${q}`, world.account, stage.asset);
    return encodePaymentSignatureHeader({ ...payload, extensions: named });
  };
  const transfer = async (q: string, header?: string) =>
    fetchWithPayment(`${service.url}/paid?q=${q}`, header ?? (await signTransfer(q)));
  const voucher = (q: string, purchases: bigint) =>
    world.send(service, purchases * TEST_PRICE, q, { extensions: named });
  const paid = async () => ({
    transferred: await stage.balance(stage.payTo),
    charged: (await service.channels?.rows.find(world.channelId))?.row.charged,
  });
  return { stage, service, signTransfer, transfer, voucher, paid };
}

describe("identifiers over both schemes", () => {
  it("gives a voucher the response that a transfer under the same identifier has paid for", async () => {
    const { service, transfer, voucher, paid } = await openNamedWorld();
    const bought = await transfer("a");
    expect(bought.status).toBe(200);
    const before = await paid();
    const again = await voucher("a", 2n);
    expect([again.status, await again.json()]).toEqual([200, await bought.json()]);
    expect((await voucher("b", 2n)).status).toBe(409);
    expect(await paid()).toEqual(before);
    expect(service.runs).toEqual(["first", "a"]);
  });

  it("gives a transfer the response that a voucher under the same identifier has paid for", async () => {
    const { service, transfer, voucher, paid } = await openNamedWorld();
    const bought = await voucher("a", 2n);
    const before = await paid();
    const again = await transfer("a");
    expect([again.status, await again.json()]).toEqual([200, await bought.json()]);
    expect((await transfer("b")).status).toBe(409);
    expect(await paid()).toEqual(before);
    expect(service.runs).toEqual(["first", "a"]);
  });

  it("lets a voucher take the identifier of a transfer that was never made", async () => {
    const { service, transfer, voucher, paid } = await openNamedWorld();
    service.injected.verify = () => async () => ({ isValid: false, invalidReason: "insufficient_funds" });
    expect((await transfer("a")).status).toBe(503);
    delete service.injected.verify;
    expect((await voucher("a", 2n)).status).toBe(200);
    expect((await transfer("a")).status).toBe(200);
    expect((await paid()).transferred).toBe(0n);
  });

  it("tells a transfer at once that a voucher has just taken its identifier", async () => {
    const { stage, service, signTransfer, transfer, voucher, paid } = await openNamedWorld();
    const header = await signTransfer("a");
    const late = await stage.serve({ channels: {} });
    let statements = 0;
    late.injected.statement = async (run) => {
      statements += 1;
      // Between the look at purchases and the reservation.
      if (statements === 2) expect((await voucher("a", 2n)).status).toBe(200);
      return run();
    };
    expect((await fetchWithPayment(`${late.url}/paid?q=a`, header)).status).toBe(503);
    expect(statements).toBe(2);
    expect((await transfer("a", header)).status).toBe(200);
    expect(service.runs).toEqual(["first", "a"]);
    expect((await paid()).transferred).toBe(0n);
  });

  it("charges one of a transfer and a voucher that arrive at once", async () => {
    const { service, signTransfer, transfer, voucher, paid } = await openNamedWorld();
    const header = await signTransfer("a");
    let arrived = 0;
    let meet = (): void => undefined;
    const both = new Promise<void>((resolve) => {
      meet = resolve;
    });
    service.sold.work = async () => {
      arrived += 1;
      if (arrived === 2) meet();
      await both;
      return { status: 200, body: { q: "a" } };
    };
    // The voucher's handler is past its check of the identifier when the transfer reserves it.
    const first = voucher("a", 2n);
    while (arrived === 0) await new Promise((resolve) => setImmediate(resolve));
    const statuses = (await Promise.all([first, transfer("a", header)])).map(({ status }) => status);
    expect([...statuses].sort()).toEqual([200, 503]);
    for (const again of [await voucher("a", 2n), await transfer("a", header)]) expect(again.status).toBe(200);
    expect(await paid()).toEqual({ transferred: TEST_PRICE, charged: TEST_PRICE });
  });
});
