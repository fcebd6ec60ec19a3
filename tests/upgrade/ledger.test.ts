// Payments during an upgrade: portfolios of both versions act on the rows of one ledger.
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import type { Hex } from "../../src/lib/hex.ts";
import { openPaymentLedger, type PaymentLedger } from "../../src/payments/ledger/ledger.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { createTestDatabase } from "../support/database/test-database.ts";
import { silentLog } from "../support/quiet-log.ts";
import { loadPreviousModule } from "./previous-version.ts";

type Code = {
  openDatabase: typeof openDatabase;
  migrate: typeof migrate;
  migrations: typeof migrations;
  openRecordStore: typeof openRecordStore;
  openLedger: typeof openPaymentLedger;
};

const NOW: Code = { openDatabase, migrate, migrations, openRecordStore, openLedger: openPaymentLedger };
const OWNER = "a process";
const LIMITS = { leaseMs: 60_000, failureWindowMs: 60_000 };
const BODY = Buffer.from('{"paid":"response"}');

async function codeBefore(): Promise<Code> {
  const files = ["database", "migrate", "migrations", "record-store"].map((name) => `src/store/${name}.ts`);
  const modules = await Promise.all(
    [...files, "src/payments/ledger.ts"].map((path) => loadPreviousModule<object>(path)),
  );
  return Object.assign({}, ...modules) as Code;
}

/** A payment up to the point where its response is stored and its transfer may be sent. */
async function begin(ledger: PaymentLedger, paymentId: string) {
  const hex = (bytes: number): Hex => `0x${randomBytes(bytes).toString("hex")}`;
  const key = { network: "eip155:31337", asset: hex(20), payer: hex(20), nonce: hex(32) };
  const payment = {
    from: key.payer,
    to: hex(20),
    value: 10_000n,
    validAfter: 0n,
    validBefore: 4_000_000_000n,
    nonce: key.nonce,
    signature: hex(65),
    paymentId,
    digest: hex(32),
  };
  const terms = { scheme: "exact", network: "eip155:31337", amount: "10000" };
  const payload = { x402Version: 2, accepted: terms, payload: {} };
  const wanted = { key, payment, fingerprint: hex(32), payload, terms } as unknown as Parameters<
    PaymentLedger["reserve"]
  >[0];
  expect(await ledger.reserve(wanted, OWNER)).toBe(true);
  expect(await ledger.markVerified(key, OWNER)).toBe(true);
  const stored = { status: 200, headers: { "content-type": "application/json" }, body: BODY };
  expect(await ledger.storeResponse(key, OWNER, stored)).toBe(true);
  return { key, wanted };
}

/** Where the ledger of the version before differs in form. */
type LedgerBefore = {
  findById(...key: Parameters<PaymentLedger["findHolder"]>): ReturnType<PaymentLedger["findHolder"]>;
  settle(...payment: [...Parameters<PaymentLedger["find"]>, string, string, number]): Promise<boolean>;
};

const BLOCK = { number: 12, hash: `0x${"88".repeat(32)}` } as const;
const TRANSACTION = `0x${"77".repeat(32)}`;

/** The identifier's row and the last step, in the form of whichever version it is. */
function formOf(ledger: PaymentLedger) {
  if ("holderOf" in ledger) {
    return {
      byId: ledger.findHolder,
      settle: (...key: Parameters<PaymentLedger["find"]>) =>
        ledger.recordSettled(...key, "another", TRANSACTION, BLOCK),
    };
  }
  const before = ledger as unknown as LedgerBefore;
  return {
    byId: before.findById,
    settle: (...key: Parameters<PaymentLedger["find"]>) =>
      before.settle(...key, "another", TRANSACTION, BLOCK.number),
  };
}

/** What another process does with it after the one that began has left. */
async function finish(ledger: PaymentLedger, { key, wanted }: Awaited<ReturnType<typeof begin>>) {
  expect(await ledger.reserve(wanted, "another")).toBe(false);
  const { byId, settle } = formOf(ledger);
  expect(await byId(key, wanted.payment.paymentId ?? "")).toMatchObject({
    ...key,
    state: "settling",
    amount: 10_000n,
    verified: true,
    fingerprint: wanted.fingerprint,
    digest: wanted.payment.digest,
  });
  expect(await ledger.acquire(key, "another", "settling", "settling")).toBe(true);
  expect(await settle(key)).toBe(true);
  expect((await ledger.readStoredResponse(key))?.body.equals(BODY)).toBe(true);
}

it("a payment that one version began is finished by the other, once", async () => {
  const before = await codeBefore();
  const place = await createTestDatabase();
  const open = (code: Code) =>
    code.openDatabase({
      connection: place.connection,
      schema: "sextant",
      poolMax: 2,
      log: silentLog,
      applicationName: "test",
    });
  const [databaseBefore, database] = await Promise.all([open(before), open(NOW)]);
  try {
    await before.migrate(databaseBefore, before.migrations, silentLog);
    const ledgerBefore = before.openLedger(before.openRecordStore(databaseBefore), LIMITS);
    const settled = await begin(ledgerBefore, "settled before the upgrade");
    await ledgerBefore.releaseLease(settled.key, OWNER);
    await finish(ledgerBefore, settled);
    const open1 = await begin(ledgerBefore, "open when the upgrade began");
    await ledgerBefore.releaseLease(open1.key, OWNER);

    await migrate(database, migrations, silentLog);
    const ledger = openPaymentLedger(openRecordStore(database), LIMITS);
    expect(await ledger.find(settled.key)).toMatchObject({ state: "settled", amount: 10_000n });
    expect((await ledger.readStoredResponse(settled.key))?.body.equals(BODY)).toBe(true);
    await finish(ledger, open1);

    // The version before still runs beside it: what either begins, the other finishes.
    const byBefore = await begin(ledgerBefore, "by the version before");
    await ledgerBefore.releaseLease(byBefore.key, OWNER);
    await finish(ledger, byBefore);
    const byNow = await begin(ledger, "by the new version");
    await ledger.releaseLease(byNow.key, OWNER);
    await finish(ledgerBefore, byNow);

    const { rows } = await database.query("select 1 from payments where state = 'settled'");
    expect(rows).toHaveLength(4);
  } finally {
    await databaseBefore.close();
    await database.close();
    await place.drop();
  }
});
