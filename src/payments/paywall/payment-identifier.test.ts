// The payment identifier over the whole life of a payment: it stays with its row, and one identifier is charged once.
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import type { PrivateKeyAccount } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../../tests/support/database/test-database.ts";
import { openPaidBackend, type PaidBackend } from "../../../tests/support/payments/paid-backend.ts";
import {
  decodeBase64Header,
  fetchWithPayment,
  signPaymentFor,
  waitFor,
} from "../../../tests/support/payments/paid-client.ts";
import {
  openPaidStage,
  type PaidStage,
  type StagedPaidService,
  TEST_PRICE,
} from "../../../tests/support/payments/paid-stage.ts";
import { encodeSignedTransfer } from "../../../tests/support/payments/transfer-calldata.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { systemClock } from "../../lib/clock.ts";
import { openDatabase } from "../../store/postgres/database.ts";
import { migrate } from "../../store/postgres/migrate.ts";
import { migrations } from "../../store/postgres/migrations.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { FacilitatorUnavailableError } from "../facilitator/facilitator.ts";
import { PaymentLedger } from "../ledger/ledger.ts";

const ID = "order-0123456789abcdef";

let backend: PaidBackend;
let stage: PaidStage;
let service: StagedPaidService;
let payer: PrivateKeyAccount;

beforeAll(async () => {
  backend = await openPaidBackend();
});
afterAll(() => backend.close());
beforeEach(async () => {
  stage = await openPaidStage("in process", backend);
  service = await stage.serve();
  payer = await stage.payer();
});
afterEach(() => stage.close());

const url = (q: string, at = service) => `${at.url}/paid?q=${q}`;
const charges = async () => (await stage.transfersFrom(payer.address)).length;
const rows = async () =>
  (
    await stage.database.query<{ nonce: string; state: string; payment_id: string | null }>(
      "select nonce, state, payment_id from payments order by created_at",
    )
  ).rows;
const fails = () => Promise.reject(new Error("a defect"));
const works = async () => ({ status: 200, body: { run: service.runs.length } });

/** A new authorization for the same purchase. */
async function sign(q: string, { id = ID, seconds = 60 } = {}) {
  const { header, payload } = await signPaymentFor(
    url(q),
    payer,
    stage.asset,
    (required: PaymentRequired) => {
      const declared = required.extensions?.["payment-identifier"] as { info: object };
      const extension = { ...declared, info: { ...declared.info, id } };
      const accepts = required.accepts.map((accept) => ({ ...accept, maxTimeoutSeconds: seconds }));
      return { ...required, accepts, extensions: { "payment-identifier": extension } };
    },
  );
  const { extensions: _left, ...unnamed } = payload;
  const nonce = String((payload.payload.authorization as { nonce: string }).nonce).toLowerCase();
  return { header, payload, nonce, unnamed: Buffer.from(JSON.stringify(unnamed)).toString("base64") };
}

const receiptOf = (response: Response) => decodeBase64Header<SettleResponse>(response, "payment-response");

describe("after a run that failed", () => {
  it("opens the response only with the identifier after a failed run", async () => {
    const signed = await sign("failed");
    service.sold.work = fails;
    expect((await fetchWithPayment(url("failed"), signed.header)).status).toBe(500);
    service.sold.work = works;
    expect((await fetchWithPayment(url("failed"), signed.header)).status).toBe(200);
    expect((await fetchWithPayment(url("failed"), signed.unnamed)).status).toBe(409);
    expect(await rows()).toMatchObject([{ state: "settled", payment_id: ID }]);
  });

  it("returns the stored response to a new authorization under the same identifier", async () => {
    const [first, second] = [await sign("again"), await sign("again")];
    service.sold.work = fails;
    expect((await fetchWithPayment(url("again"), first.header)).status).toBe(500);
    service.sold.work = works;
    const sold = await fetchWithPayment(url("again"), first.header);
    const replayed = await fetchWithPayment(url("again"), second.header);
    expect([sold.status, replayed.status]).toEqual([200, 200]);
    expect(await replayed.text()).toBe(await sold.text());
    expect(receiptOf(replayed).transaction).toBe(receiptOf(sold).transaction);
    expect(await charges()).toBe(1);
  });

  it("a new authorization takes the identifier over, and the first one is never charged", async () => {
    const [first, second] = [await sign("over"), await sign("over")];
    service.sold.work = fails;
    expect((await fetchWithPayment(url("over"), first.header)).status).toBe(500);
    service.sold.work = works;
    const sold = await fetchWithPayment(url("over"), second.header);
    const late = await fetchWithPayment(url("over"), first.header);
    expect([sold.status, late.status]).toEqual([200, 200]);
    expect(await late.text()).toBe(await sold.text());
    expect(await charges()).toBe(1);
    expect(await rows()).toMatchObject([
      { nonce: first.nonce, state: "released", payment_id: ID },
      { nonce: second.nonce, state: "settled", payment_id: ID },
    ]);
  });

  it("sells for the first authorization that someone else carried out, and does not charge the second", async () => {
    const [first, second] = [await sign("carried"), await sign("carried")];
    service.sold.work = fails;
    expect((await fetchWithPayment(url("carried"), first.header)).status).toBe(500);
    await stage.chain.request("eth_sendTransaction", [
      {
        from: stage.chain.accounts.guardian.address,
        to: stage.asset,
        data: encodeSignedTransfer(first.payload),
        gas: "0x493e0",
      },
    ]);
    service.sold.work = works;
    // The first one has expired meanwhile, which is why the client signed again.
    const clock = { ...systemClock, nowMs: () => Date.now() + 30_000 };
    const other = await stage.serve({ clock });
    const responses = await Promise.all([
      fetchWithPayment(url("carried"), second.header),
      fetchWithPayment(url("carried", other), second.header),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    const [transfer] = await stage.transfersFrom(payer.address);
    for (const each of responses) expect(receiptOf(each).transaction).toBe(transfer?.transactionHash);
    expect((await fetchWithPayment(url("carried"), first.header)).status).toBe(200);
    expect(service.runs.length + other.runs.length).toBe(2);
    expect(await charges()).toBe(1);
    expect(await rows()).toMatchObject([{ nonce: first.nonce, state: "settled", payment_id: ID }]);
  });

  it("charges once for two authorizations under one identifier at once", async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = `${ID}-${round}`;
      const q = `both-${round}`;
      const [first, second] = [await sign(q, { id }), await sign(q, { id })];
      service.sold.work = fails;
      expect((await fetchWithPayment(url(q), first.header)).status).toBe(500);
      service.sold.work = works;
      const sent = [first, second, first, second];
      const responses = await Promise.all(sent.map(({ header }) => fetchWithPayment(url(q), header)));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await charges()).toBe(round + 1);
    }
  });

  it("the identifier stays with its request until the authorization is over", async () => {
    const [first, other] = [await sign("bound"), await sign("elsewhere")];
    service.sold.work = fails;
    expect((await fetchWithPayment(url("bound"), first.header)).status).toBe(500);
    service.sold.work = works;
    expect((await fetchWithPayment(url("elsewhere"), other.header)).status).toBe(409);
    expect(await charges()).toBe(0);
  });

  it("a forged authorization under the identifier takes nothing away", async () => {
    const [first, second] = [await sign("forged"), await sign("forged")];
    const payload = JSON.parse(Buffer.from(second.header, "base64").toString());
    payload.payload.signature = `0x${"22".repeat(64)}1b`;
    const forged = Buffer.from(JSON.stringify(payload)).toString("base64");
    service.sold.work = fails;
    expect((await fetchWithPayment(url("forged"), first.header)).status).toBe(500);
    service.sold.work = works;
    expect((await fetchWithPayment(url("forged"), forged)).status).toBe(402);
    expect((await fetchWithPayment(url("forged"), first.header)).status).toBe(200);
    expect((await fetchWithPayment(url("forged"), forged)).status).toBe(402);
    expect((await fetchWithPayment(url("forged"), first.unnamed)).status).toBe(409);
    expect(await charges()).toBe(1);
  });
});

describe("after a settlement", () => {
  const rejectSettle = async () => ({
    ...{ success: false, errorReason: "invalid_exact_evm_insufficient_balance" },
    ...{ transaction: "", network: "eip155:31337" as const },
  });

  it("carries out the first authorization for a new one after a rejected settlement", async () => {
    const [first, second] = [await sign("poor"), await sign("poor")];
    service.injected.settle = () => rejectSettle;
    expect((await fetchWithPayment(url("poor"), first.header)).status).not.toBe(200);
    expect(await rows()).toMatchObject([{ state: "refused", payment_id: ID }]);
    delete service.injected.settle;
    const sold = await fetchWithPayment(url("poor"), second.header);
    const late = await fetchWithPayment(url("poor"), first.header);
    expect([sold.status, late.status]).toEqual([200, 200]);
    expect(receiptOf(late).transaction).toBe(receiptOf(sold).transaction);
    expect(await charges()).toBe(1);
    expect(await rows()).toMatchObject([{ nonce: first.nonce, state: "settled", payment_id: ID }]);
  });

  it("charges a new authorization after a rejected one expired, but not finally", async () => {
    const first = await sign("late");
    service.injected.settle = () => rejectSettle;
    expect((await fetchWithPayment(url("late"), first.header)).status).not.toBe(200);
    delete service.injected.settle;
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(1);
    const second = await sign("late", { seconds: 3_600 });
    expect((await fetchWithPayment(url("late"), second.header)).status).toBe(200);
    expect(await charges()).toBe(1);
    const [replaced, charged] = await rows();
    expect([replaced?.nonce, charged?.nonce]).toEqual([first.nonce, second.nonce]);
    // The first one is followed on the chain and never sent.
    expect(await service.gate.reconcile()).toMatchObject({ found: 0, resent: 0 });
    expect((await fetchWithPayment(url("late"), first.header)).status).not.toBe(500);
    expect(await charges()).toBe(1);
  });

  it("does not charge a new authorization if the rejected settlement happened", async () => {
    const [first, second] = [await sign("lied"), await sign("lied")];
    let carryOut = async (): Promise<unknown> => null;
    service.injected.settle = (real) => async (payload, terms) => {
      carryOut = () => real(payload, terms);
      return rejectSettle();
    };
    expect((await fetchWithPayment(url("lied"), first.header)).status).not.toBe(200);
    delete service.injected.settle;
    await carryOut();
    expect((await fetchWithPayment(url("lied"), second.header)).status).toBe(200);
    expect(await charges()).toBe(1);
    expect(await rows()).toMatchObject([{ nonce: first.nonce, state: "settled" }]);
  });

  it("finishes a settlement of unknown outcome instead of charging a new authorization", async () => {
    const [first, second] = [await sign("unknown"), await sign("unknown")];
    service.injected.settle = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
    expect((await fetchWithPayment(url("unknown"), first.header)).status).toBe(503);
    // Nothing is known of the first one yet, so the second one must not be charged.
    expect((await fetchWithPayment(url("unknown"), second.header)).status).toBe(503);
    delete service.injected.settle;
    expect((await fetchWithPayment(url("unknown"), second.header)).status).toBe(200);
    expect(await charges()).toBe(1);
    expect(service.runs).toHaveLength(1);
    expect(await rows()).toMatchObject([{ nonce: first.nonce, state: "settled" }]);
  });

  it("frees the identifier of an expired settlement, for another request too", async () => {
    const first = await sign("expired");
    service.injected.settle = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
    expect((await fetchWithPayment(url("expired"), first.header)).status).toBe(503);
    delete service.injected.settle;
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect(await rows()).toMatchObject([{ state: "expired", payment_id: ID }]);
    const second = await sign("new", { seconds: 3_600 });
    expect((await fetchWithPayment(url("new"), second.header)).status).toBe(200);
    expect(await charges()).toBe(1);
  });
});

describe("with a facilitator that does not respond", () => {
  it("a new authorization under a paid identifier gets 503 in time", async () => {
    const impatient = await stage.serve({ limits: { verifyMs: 300 } });
    const [first, second] = [await sign("silent"), await sign("silent")];
    expect((await fetchWithPayment(url("silent"), first.header)).status).toBe(200);
    impatient.injected.verify = () => () => new Promise(() => {});
    const late = await fetchWithPayment(url("silent", impatient), second.header);
    expect([late.status, late.headers.get("x-error-code")]).toEqual([503, "FACILITATOR_UNAVAILABLE"]);
    expect(await charges()).toBe(1);
  });
});

it("ends at a limit for new authorizations under an identifier whose payment has an unknown outcome", async () => {
  const few = await stage.serve({ limits: { unpaidPerClientPerMinute: 3 } });
  few.injected.settle = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
  const [first, second] = [await sign("free"), await sign("free")];
  const statuses: number[] = [];
  for (const { header } of [first, second, second, second, second, second]) {
    statuses.push((await fetchWithPayment(url("free", few), header)).status);
  }
  // The run of the first, and three rejections: each finds the facilitator called once more.
  expect(statuses).toEqual([503, 503, 503, 503, 429, 429]);
});

describe("with the last of the payer's money", () => {
  it("a new authorization gets no 402, because money moved", async () => {
    payer = await stage.payer(0n);
    await stage.mint(payer.address, TEST_PRICE);
    const [first, second] = [await sign("last"), await sign("last")];
    expect((await fetchWithPayment(url("last"), first.header)).status).toBe(200);
    const rejected = await fetchWithPayment(url("last"), second.header);
    expect([rejected.status, rejected.headers.get("x-error-code")]).toEqual([409, "PAYMENT_CONFLICT"]);
    expect((await fetchWithPayment(url("last"), first.header)).status).toBe(200);
    expect(await charges()).toBe(1);
  });
});

describe("while a payment is worked on", () => {
  it("a new authorization under its identifier waits, and a process that died is replaced once", async () => {
    const [first, second] = [await sign("died"), await sign("died")];
    let finish = () => {};
    service.sold.work = () =>
      new Promise((resolve) => {
        finish = () => resolve({ status: 200, body: { from: "the dead" } });
      });
    const dead = fetchWithPayment(url("died"), first.header);
    await waitFor(() => service.runs.length === 1);
    const impatient = await stage.serve({ limits: { waitMs: 100 } });
    const waited = await fetchWithPayment(url("died", impatient), second.header);
    expect([waited.status, waited.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
    await stage.database.query(
      "update payments set owner = 'a dead process', lease_until = now() - interval '1 second'",
    );
    const other = await stage.serve();
    expect((await fetchWithPayment(url("died", other), second.header)).status).toBe(200);
    expect((await fetchWithPayment(url("died", other), first.header)).status).toBe(200);
    finish();
    expect((await dead).status).toBe(503);
    expect(await charges()).toBe(1);
  });
});

describe("a row that the version before wrote", () => {
  it("gives an old row its identifier back when its payer comes again", async () => {
    const [first, second] = [await sign("old"), await sign("old")];
    service.sold.work = fails;
    expect((await fetchWithPayment(url("old"), first.header)).status).toBe(500);
    service.sold.work = works;
    await stage.database.query("update payments set payment_id = null");
    expect((await fetchWithPayment(url("old"), first.header)).status).toBe(200);
    expect(await rows()).toMatchObject([{ state: "settled", payment_id: ID }]);
    expect((await fetchWithPayment(url("old"), first.unnamed)).status).toBe(409);
    expect((await fetchWithPayment(url("old"), second.header)).status).toBe(200);
    expect(await charges()).toBe(1);
  });

  it("migrates rows of the version before, with their identifiers", async () => {
    const place = await createTestDatabase();
    const given = { schema: "sextant", poolMax: 2, log: silentLog, applicationName: "test" };
    const database = await openDatabase({ ...given, connection: place.connection });
    const key = { network: "eip155:31337", asset: stage.asset, payer: stage.payTo, nonce: "0x01" } as const;
    try {
      await migrate(database, migrations.slice(0, 3), silentLog);
      const old = [
        ["0x01", "settled", ID],
        ["0x02", "settling", `${ID}-2`],
        ["0x03", "released", null],
        ["0x04", "refused", null],
      ] as const;
      for (const [nonce, state, id] of old) {
        await database.query({
          text: `insert into payments (network, asset, payer, nonce, pay_to, amount, valid_before, fingerprint,
            payment_digest, payment_id, payload, terms, state, verified, answer_body)
            values ($1, $2, $3, $4, $3, 10000, 1, 'print', $4, $5, '{}', '{}', $6, true, 'text')`,
          values: [key.network, key.asset, key.payer, nonce, id, state],
        });
      }
      await migrate(database, migrations, silentLog);
      const ledger = new PaymentLedger(openRecordStore(database), { leaseMs: 1_000, failureWindowMs: 1_000 });
      for (const [nonce, state, paymentId] of old) {
        const row = await ledger.find({ ...key, nonce });
        expect(row).toMatchObject({ state, paymentId, amount: 10_000n, digest: nonce, isVerified: true });
        if (paymentId !== null) expect(await ledger.findHolder(key, paymentId)).toEqual(row);
      }
    } finally {
      await database.close();
      await place.drop();
    }
  });
});
