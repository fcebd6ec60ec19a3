// Free calls by channel: within the quota of the payer and of all payers, over several processes, stored like any other.
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import type { Hex, PrivateKeyAccount } from "viem";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { channelConfigOf, createChannelClient, signVoucher } from "../support/payments/channel-client.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { decodeBase64Header, fetchWithPayment } from "../support/payments/paid-client.ts";
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

const QUOTA = 2;
const offer = { channels: { ...TEST_CHANNEL_TERMS, freeCallsPerHour: QUOTA } };
const OTHER_SALT: Hex = `0x${"01".padStart(64, "0")}`;

async function openStage() {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  return stage;
}

function configOf({ payTo: receiver, asset: token }: PaidStage, payer: PrivateKeyAccount, salt?: Hex) {
  const { receiverAuthorizer } = TEST_CHANNEL_TERMS;
  return channelConfigOf(payer, { receiver, token, receiverAuthorizer }, salt);
}

let names = 0;
const newName = () => {
  names += 1;
  return `a-call-of-its-own-${names}`;
};
const nameIn = (id: string) => ({ "payment-identifier": { info: { required: false, id } } });
const receiptOf = (response: Response) => decodeBase64Header<SettleResponse>(response, "payment-response");

/** A payer whose channel has bought once, and what its next calls cost. */
async function openPayer(
  stage: PaidStage,
  service: StagedPaidService,
  salt?: Hex,
  known?: PrivateKeyAccount,
) {
  const account = known ?? (await stage.payer());
  const client = createChannelClient(account, { ...stage, ...(salt ? { salt } : {}) });
  expect(receiptOf(await client.pay(`${service.url}/paid?q=first`)).extra).toMatchObject({
    chargedAmount: TEST_PRICE.toString(),
  });
  const config = configOf(stage, account, salt);
  let charged = TEST_PRICE;
  const sign = (q: string, id: string | null) =>
    signVoucher(`${service.url}/paid?q=${q}`, account, config, charged + TEST_PRICE, {
      ...(id === null ? {} : { extensions: nameIn(id) }),
    });
  const call = async (q: string, { at = service, id = newName() as string | null } = {}) => {
    const header = await sign(q, id);
    const response = await fetchWithPayment(`${at.url}/paid?q=${q}`, header);
    if (response.status !== 200) return { response, header, cost: null, left: undefined };
    const extra = receiptOf(response).extra as Record<string, unknown>;
    const cost = BigInt(String(extra.chargedAmount));
    charged += cost;
    expect(extra.channelState).toMatchObject({ chargedCumulativeAmount: charged.toString() });
    return { response, header, cost, left: extra.freeCallsLeft };
  };
  return { account, call, charged: () => charged };
}

describe("free calls by channel", () => {
  it("a payer has as many an hour as the terms say, and the payee claims exactly what the others cost", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {}, offer });
    const terms = decodeBase64Header<PaymentRequired>(
      await fetch(`${service.url}/paid?q=a`),
      "payment-required",
    );
    expect(terms.accepts.map(({ extra }) => extra?.freeCallsPerHour)).toEqual([undefined, QUOTA]);
    const { call, charged } = await openPayer(stage, service);
    const bought = [];
    for (const q of ["a", "b", "c", "d"]) bought.push(await call(q));
    expect(bought.map(({ cost, left }) => [cost, left])).toEqual([
      [0n, 1],
      [0n, 0],
      [TEST_PRICE, 0],
      [TEST_PRICE, 0],
    ]);
    await stage.database.query("update channel_free_calls set since = since - interval '1 hour'");
    expect([(await call("e")).cost, charged()]).toEqual([0n, 3n * TEST_PRICE]);
    expect(service.outcomes.filter((each) => each === "free")).toHaveLength(3);
    const before = await stage.balance(stage.payTo);
    await expect(service.claims?.claimNow(null)).resolves.toMatchObject({ value: charged() });
    expect((await stage.balance(stage.payTo)) - before).toBe(charged());
  });

  it("a free call takes no more statements than others, and none is free without a quota", async () => {
    const stage = await openStage();
    const costs = [];
    for (const given of [{}, { offer }]) {
      const service = await stage.serve({ channels: {}, ...given });
      const { call } = await openPayer(stage, service);
      const before = service.statements();
      costs.push([(await call("a")).cost, service.statements() - before]);
    }
    expect(costs).toEqual([
      [TEST_PRICE, 2],
      [0n, 2],
    ]);
  });

  it("a free call is stored: a retry gets its response and uses up nothing, another request is a conflict", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {}, offer });
    const { call } = await openPayer(stage, service);
    const first = await call("a", { id: "the-first-free-call" });
    expect(first.cost).toBe(0n);
    const again = await fetchWithPayment(`${service.url}/paid?q=a`, first.header);
    expect([again.status, await again.json()]).toEqual([200, await first.response.json()]);
    expect((await fetchWithPayment(`${service.url}/paid?q=b`, first.header)).status).toBe(409);
    expect(await call("b")).toMatchObject({ cost: 0n, left: 0 });
    expect(service.runs).toEqual(["first", "a", "b"]);
  });

  it("a call whose handler fails uses up nothing, and the same voucher gets its response later", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {}, offer });
    const { call } = await openPayer(stage, service);
    service.sold.work = async () => ({ status: 503, body: { error: "away" } });
    const failed = await call("a");
    service.sold.work = async () => ({ status: 200, body: {} });
    const response = await fetchWithPayment(`${service.url}/paid?q=a`, failed.header);
    expect(receiptOf(response).extra).toMatchObject({ chargedAmount: "0", freeCallsLeft: 1 });
  });

  it("no call is free without a name, with a deposit, or beyond what the channel covers", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: {}, offer });
    const { call, charged } = await openPayer(stage, service);
    expect(await call("a", { id: null })).toMatchObject({ cost: TEST_PRICE, left: undefined });
    const { minDeposit } = TEST_CHANNEL_TERMS;
    while (charged() < minDeposit) expect((await call("b", { id: null })).cost).toBe(TEST_PRICE);
    const runs = service.runs.length;
    expect((await call("c")).response.status).toBe(402);
    expect(service.runs).toHaveLength(runs);
  });

  it("all channels of a payer, and all processes, share its quota", async () => {
    const stage = await openStage();
    const services = [
      await stage.serve({ channels: {}, offer }),
      await stage.serve({ channels: {}, offer }),
    ] as const;
    const one = await openPayer(stage, services[0]);
    const other = await openPayer(stage, services[0], OTHER_SALT, one.account);
    const costs = [];
    for (const round of [0, 1, 2]) {
      const calls = [one, other].map(({ call }, index) =>
        call(`${round}`, { at: services[index] ?? services[0] }),
      );
      costs.push(...(await Promise.all(calls)).map(({ cost }) => cost));
    }
    expect(costs.filter((cost) => cost === 0n)).toHaveLength(QUOTA);
    expect(one.charged() + other.charged()).toBe(6n * TEST_PRICE);
  });

  it("no call is free once all quotas of the hour are given out", async () => {
    const stage = await openStage();
    const service = await stage.serve({ channels: { limits: { freeQuotasPerHourMax: 1 } }, offer });
    const payers = [];
    for (let payer = 0; payer < 3; payer += 1) payers.push(await openPayer(stage, service));
    const costs = [];
    for (const { call } of payers) costs.push((await call("a")).cost);
    expect(costs).toEqual([0n, 0n, TEST_PRICE]);
  });
});
