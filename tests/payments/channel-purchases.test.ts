// Purchases by channel: real chain and contract, real database, real HTTP, and the stock client of x402.
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import type { PrivateKeyAccount } from "viem";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { channelConfigOf, createChannelClient, signVoucher } from "../support/payments/channel-client.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { decodeBase64Header, fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
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

function configOf({ payTo: receiver, asset: token }: PaidStage, payer: PrivateKeyAccount) {
  const { receiverAuthorizer } = TEST_CHANNEL_TERMS;
  return channelConfigOf(payer, { receiver, token, receiverAuthorizer });
}

const receiptOf = (response: Response) => decodeBase64Header<SettleResponse>(response, "payment-response");
const errorOf = (response: Response) =>
  decodeBase64Header<PaymentRequired>(response, "payment-required").error;

describe("purchases by channel", () => {
  it("the stock client pays many calls with one deposit, and one claim pays the payee exactly", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const payer = await stage.payer();
    const client = createChannelClient(payer, stage);
    const before = await stage.balance(stage.payTo);
    for (let call = 0; call < 12; call += 1) {
      const response = await client.pay(`${service.url}/paid?q=${call}`);
      expect([response.status, await response.json()]).toEqual([200, { run: call + 1 }]);
      expect(receiptOf(response).extra).toMatchObject({ chargedAmount: "10000" });
    }
    expect(service.runs).toHaveLength(12);
    await expect(stage.balance(stage.payTo)).resolves.toBe(before);
    const claimed = await service.claims?.claimNow(null);
    expect(claimed).toMatchObject({ claimed: 1, value: 12n * TEST_PRICE, rejected: [] });
    expect((await stage.balance(stage.payTo)) - before).toBe(12n * TEST_PRICE);
  });

  it("the same voucher gets the stored response for the same request and a correction for another one", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const client = createChannelClient(await stage.payer(), stage);
    await client.pay(`${service.url}/paid?q=a`);
    const first = await client.pay(`${service.url}/paid?q=b`);
    const header = client.sent.at(-1) ?? "";
    const again = await fetchWithPayment(`${service.url}/paid?q=b`, header);
    expect([again.status, await again.json()]).toEqual([200, await first.json()]);
    expect(receiptOf(again)).toEqual(receiptOf(first));
    const other = await fetchWithPayment(`${service.url}/paid?q=c`, header);
    expect([other.status, errorOf(other)]).toEqual([
      402,
      "invalid_batch_settlement_evm_cumulative_amount_mismatch",
    ]);
    expect(service.runs).toEqual(["a", "b"]);
  });

  it("ten calls at once on one channel succeed in turn, each charged once", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const client = createChannelClient(await stage.payer(), stage);
    await client.pay(`${service.url}/paid?q=first`);
    const calls = Array.from({ length: 10 }, (_, i) => client.pay(`${service.url}/paid?q=${i}`));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toEqual(Array(10).fill(200));
    const totals = await service.channels?.claimRows.readTotals([]);
    expect(totals?.unclaimed).toBe(11n * TEST_PRICE);
    expect([...service.runs].sort()).toEqual(["first", ..."0123456789"].sort());
  });

  it("a client that lost its storage learns from one correction what is charged", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const payer = await stage.payer();
    const first = createChannelClient(payer, stage);
    for (const q of ["a", "b", "c"]) await first.pay(`${service.url}/paid?q=${q}`);
    const second = createChannelClient(payer, stage);
    const response = await second.pay(`${service.url}/paid?q=d`);
    expect(response.status).toBe(200);
    expect(receiptOf(response).extra).toMatchObject({
      channelState: { chargedCumulativeAmount: (4n * TEST_PRICE).toString() },
    });
    expect(second.sent).toHaveLength(2);
  });

  it("a failing handler charges nothing, and the same voucher buys later", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const client = createChannelClient(await stage.payer(), stage);
    await client.pay(`${service.url}/paid?q=a`);
    service.sold.work = async () => ({ status: 503, body: { error: "away" } });
    expect((await client.pay(`${service.url}/paid?q=b`)).status).toBe(503);
    service.sold.work = async () => ({ status: 200, body: {} });
    const again = await fetchWithPayment(`${service.url}/paid?q=b`, client.sent.at(-1) ?? "");
    expect(receiptOf(again).extra).toMatchObject({
      channelState: { chargedCumulativeAmount: (2n * TEST_PRICE).toString() },
    });
  });

  it("two processes that get the same payment at once serve one purchase", async () => {
    const stage = await openStage();
    const services = [await stage.serve({ channels: {} }), await stage.serve({ channels: {} })] as const;
    const payer = await stage.payer();
    await createChannelClient(payer, stage).pay(`${services[0].url}/paid?q=0`);
    for (let round = 1; round < 8; round += 1) {
      const total = BigInt(round + 1) * TEST_PRICE;
      const header = await signVoucher(`${services[0].url}/paid?q=0`, payer, configOf(stage, payer), total);
      const both = services.map(({ url }) => fetchWithPayment(`${url}/paid?q=${round}`, header));
      expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    }
    expect(services.flatMap(({ runs }) => runs)).toHaveLength(8);
  });

  it("a purchase that has a name is charged once, whatever voucher it is sent with", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const payer = await stage.payer();
    await createChannelClient(payer, stage).pay(`${service.url}/paid?q=first`);
    const config = configOf(stage, payer);
    const extensions = { "payment-identifier": { info: { required: false, id: "purchase-of-the-day-1" } } };
    const buy = async (q: string, purchases: bigint) => {
      const url = `${service.url}/paid?q=${q}`;
      const header = await signVoucher(url, payer, config, purchases * TEST_PRICE, { extensions });
      return fetchWithPayment(url, header);
    };
    const bought = await buy("a", 2n);
    const again = await buy("a", 3n);
    expect([again.status, await again.json()]).toEqual([200, await bought.json()]);
    expect(receiptOf(again).extra).toMatchObject({
      chargedAmount: "0",
      channelState: { chargedCumulativeAmount: (2n * TEST_PRICE).toString() },
    });
    expect((await buy("b", 3n)).status).toBe(409);
    // A transfer, which the same client could sign, is not charged for it either.
    const { payload } = await signPaymentFor(`${service.url}/paid?q=a`, payer, stage.asset);
    const transfer = encodePaymentSignatureHeader({ ...payload, extensions });
    expect((await fetchWithPayment(`${service.url}/paid?q=a`, transfer)).status).toBe(200);
    await expect(stage.balance(stage.payTo)).resolves.toBe(0n);
    expect(service.runs).toEqual(["first", "a"]);
  });

  it("a purchase waits for the disk when it is charged, and not when it takes its turn", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const client = createChannelClient(await stage.payer(), stage);
    await client.pay(`${service.url}/paid?q=a`);
    // Runs at the end of each transaction, with the setting by which it commits.
    await stage.database.query(`create table commits (works boolean, setting text);
      create function note_commit() returns trigger language plpgsql as $$ begin
        insert into commits values (new.owner_works, current_setting('synchronous_commit')); return null; end $$;
      create constraint trigger note_commit after update on payment_channels deferrable initially deferred
        for each row execute function note_commit()`);
    try {
      await client.pay(`${service.url}/paid?q=b`);
      const { rows } = await stage.database.query("select works, setting from commits");
      expect(rows).toEqual([
        { works: true, setting: "off" },
        { works: false, setting: "on" },
      ]);
    } finally {
      await stage.database.query("drop function note_commit cascade; drop table commits");
    }
  });

  it("a turn that a crash of the database takes away charges nothing, and the same voucher buys later", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {} });
    const client = createChannelClient(await stage.payer(), stage);
    await client.pay(`${service.url}/paid?q=a`);
    const { work } = service.sold;
    service.sold.work = async (signal) => {
      await stage.database.query(
        "update payment_channels set owner = null, owner_works = false, kept_for = null, lease_until = null",
      );
      return work(signal);
    };
    const lost = await client.pay(`${service.url}/paid?q=b`);
    expect([lost.status, lost.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
    service.sold.work = work;
    const again = await fetchWithPayment(`${service.url}/paid?q=b`, client.sent.at(-1) ?? "");
    expect(again.status).toBe(200);
    expect(receiptOf(again).extra).toMatchObject({
      channelState: { chargedCumulativeAmount: (2n * TEST_PRICE).toString() },
    });
  });

  it("a process whose clock is a day ahead sells and claims like any other", async () => {
    const stage = await openStage();
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 86_400_000 };
    const service = await stage.serve({ channels: {}, clock });
    const client = createChannelClient(await stage.payer(), stage);
    const statuses = [];
    for (const q of ["a", "b"]) statuses.push((await client.pay(`${service.url}/paid?q=${q}`)).status);
    expect(statuses).toEqual([200, 200]);
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ value: 2n * TEST_PRICE });
  });
});
