// Many requests with one payment: they share one wait, within limits, and take no slot from other payers.
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PrivateKeyAccount } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { openPaidBackend, type PaidBackend } from "../../../tests/support/payments/paid-backend.ts";
import {
  createPayingFetch,
  fetchWithPayment,
  signPaymentFor,
  waitFor,
} from "../../../tests/support/payments/paid-client.ts";
import {
  openPaidStage,
  type PaidStage,
  type StagedPaidService,
} from "../../../tests/support/payments/paid-stage.ts";
import { GATE_LIMITS } from "./limits.ts";

// As many as may be active, so that none is rejected when it arrives, and more than may wait.
const COPIES = 60;
const WATCHED_MS = 1_000;
// One poll of the ledger every 400 ms and one renewal of the lease every second, with room for other statements.
const STATEMENTS_MAX = 20;

let backend: PaidBackend;
let stage: PaidStage;
let payer: PrivateKeyAccount;
beforeAll(async () => {
  backend = await openPaidBackend();
});
afterAll(() => backend.close());
beforeEach(async () => {
  stage = await openPaidStage("in process", backend);
  payer = await stage.payer();
});
afterEach(() => stage.close());

/** Work for `q=held` ends when the test says so; everything else ends at once. */
function holdWork(service: StagedPaidService): () => void {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  service.sold.work = async () => {
    if (service.runs.at(-1) === "held") await finished;
    return { status: 200, body: { sold: true } };
  };
  return finish;
}

function sendAll(url: string, headers: readonly string[]) {
  const early: Response[] = [];
  const all = headers.map(async (header) => {
    const response = await fetchWithPayment(url, header);
    early.push(response);
    return response;
  });
  return { early, all: Promise.all(all) };
}

it("serves another payer at once while many copies of one payment wait", async () => {
  // Longer than all requests take on a busy machine: the copies must still wait when the work is finished.
  const service = await stage.serve({ limits: { waitMs: 24_000, activeRequestsMax: COPIES } });
  const other = await stage.payer();
  const url = `${service.url}/paid?q=held`;
  const finish = holdWork(service);
  const { header } = await signPaymentFor(url, payer, stage.asset);
  const { early, all } = sendAll(url, Array(COPIES).fill(header));
  await waitFor(() => service.runs.length === 1 && early.length + service.statements() >= COPIES);
  const served = await createPayingFetch(other, stage.asset)(`${service.url}/paid?q=other`);
  expect(served.status).toBe(200);

  await waitFor(() => early.length === COPIES - GATE_LIMITS.waitersPerPaymentMax - 1);
  for (const response of early) {
    expect([response.status, response.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  const before = service.statements();
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  expect(service.statements() - before).toBeLessThanOrEqual(STATEMENTS_MAX);

  finish();
  const sold = (await all).filter(({ status }) => status === 200);
  expect(sold).toHaveLength(GATE_LIMITS.waitersPerPaymentMax + 1);
  expect(new Set(await Promise.all(sold.map((response) => response.text()))).size).toBe(1);
  expect(service.runs.filter((q) => q === "held")).toHaveLength(1);
  expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
});

it("waiting requests take no slot of active ones, whatever they wait for", async () => {
  const service = await stage.serve({ limits: { activeRequestsMax: 3, waitersPerPaymentMax: 4 } });
  const other = await stage.payer();
  const url = `${service.url}/paid?q=held`;
  const finish = holdWork(service);
  const { header, payload } = await signPaymentFor(url, payer, stage.asset, (required) => {
    const declared = required.extensions?.["payment-identifier"] as { info: object };
    const extension = { ...declared, info: { ...declared.info, id: "order-0123456789abcdef" } };
    return { ...required, extensions: { "payment-identifier": extension } };
  });
  const working = sendAll(url, [header]);
  await waitFor(() => service.runs.length === 1);
  // Other authorizations under its identifier, which the payer did not sign, one after another.
  const waiting: ReturnType<typeof sendAll>[] = [];
  for (let i = 0; i < 8; i += 1) {
    const authorization = { ...Object(payload.payload.authorization), nonce: `0x${`${i}`.repeat(64)}` };
    const sent = { ...payload, payload: { ...payload.payload, authorization } };
    const before = service.statements();
    waiting.push(sendAll(url, [Buffer.from(JSON.stringify(sent)).toString("base64")]));
    await waitFor(() => service.statements() >= before + 2);
  }
  const early = () => waiting.flatMap((each) => each.early);
  await waitFor(() => early().length === 4);
  expect(early().map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  const served = await createPayingFetch(other, stage.asset)(`${service.url}/paid?q=other`);
  expect(served.status).toBe(200);
  finish();
  expect((await working.all).map(({ status }) => status)).toEqual([200]);
  // The identifier alone proves nothing.
  const late = (await Promise.all(waiting.map(({ all }) => all))).flat().slice(0, 4);
  const statuses = new Set(late.map(({ status }) => status));
  expect(statuses).toContain(402);
  // All four go on at once, one more than may be active.
  expect([...statuses].filter((status) => status !== 402 && status !== 503)).toEqual([]);
  expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
});

it("tells a payer to send the same signature again when too many requests are active", async () => {
  const service = await stage.serve({ limits: { activeRequestsMax: 1 } });
  const url = `${service.url}/paid?q=held`;
  const finish = holdWork(service);
  const { header } = await signPaymentFor(url, payer, stage.asset);
  const { all } = sendAll(url, [header]);
  await waitFor(() => service.runs.length === 1);
  const other = await signPaymentFor(url, await stage.payer(), stage.asset);
  const full = await fetchWithPayment(url, other.header);
  expect([full.status, full.headers.get("x-error-code")]).toEqual([503, "OVERLOADED"]);
  expect(((await full.json()) as { error: string }).error).toContain("send the same signature again");
  finish();
  expect((await all).map(({ status }) => status)).toEqual([200]);
});

it("tells it also to payers whose purchases have names and arrive at the same moment", async () => {
  const service = await stage.serve({ limits: { activeRequestsMax: 1 } });
  const url = `${service.url}/paid?q=held`;
  const sign = async (account: PrivateKeyAccount, id: string) => {
    const { payload } = await signPaymentFor(url, account, stage.asset);
    return encodePaymentSignatureHeader({
      ...payload,
      extensions: { "payment-identifier": { info: { id } } },
    });
  };
  const signatures = [
    await sign(payer, "order-0123456789abcdef"),
    await sign(await stage.payer(), "order-fedcba9876543210"),
  ];
  const resource = { method: "GET", path: "/paid", query: { q: "held" } };
  const work = async () => ({ status: 200, body: { sold: true } });
  const sent = signatures.map((signature) =>
    service.sale.serve({ resource, signature, client: "payers" }, work),
  );
  const outcomes = await Promise.allSettled(sent);
  expect(outcomes).toMatchObject([
    { status: "fulfilled", value: { status: 200 } },
    { status: "rejected", reason: { code: "OVERLOADED" } },
  ]);
});

it("limits the requests that wait in all", async () => {
  const service = await stage.serve({ limits: { waitersMax: 5 } });
  const url = `${service.url}/paid?q=held`;
  const finish = holdWork(service);
  const { header } = await signPaymentFor(url, payer, stage.asset);
  const { early, all } = sendAll(url, Array(10).fill(header));
  await waitFor(() => early.length === 4);
  expect(early.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  finish();
  expect((await all).filter(({ status }) => status === 200)).toHaveLength(6);
  expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
});
