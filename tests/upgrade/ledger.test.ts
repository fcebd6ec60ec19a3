// Payments during an upgrade: portfolio services of both versions act on the rows of one ledger.
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import type { Hex } from "../../src/lib/hex.ts";
import { openPaymentLedger, type PaymentLedger } from "../../src/payments/ledger/ledger.ts";
import type { LedgerRow, PaymentKey, StoredResponse } from "../../src/payments/ledger/row.ts";
import type { ReservationInput } from "../../src/payments/ledger/statements.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { createTestDatabase } from "../support/database/test-database.ts";
import { silentLog } from "../support/quiet-log.ts";
import { loadPreviousModule } from "./previous-version.ts";

/** What the test needs of a ledger, in today's terms. */
type LedgerVersion = {
  find(key: PaymentKey): Promise<LedgerRow | null>;
  findHolder(key: PaymentKey, paymentId: string): Promise<LedgerRow | null>;
  reserve(reservation: ReservationInput, owner: string): Promise<boolean>;
  markVerified(key: PaymentKey, owner: string): Promise<boolean>;
  storeResponse(key: PaymentKey, owner: string, response: StoredResponse): Promise<boolean>;
  releaseLease(key: PaymentKey, owner: string): Promise<void>;
  acquireSettling(key: PaymentKey, owner: string): Promise<boolean>;
  recordSettled(key: PaymentKey, owner: string): Promise<boolean>;
  readStoredResponse(key: PaymentKey): Promise<StoredResponse | null>;
};

/** A row as the version before names its fields. */
type RowBefore = Omit<LedgerRow, "isVerified" | "isLeased"> & {
  readonly verified: boolean;
  readonly leased: boolean;
};

/** The ledger of the version before. */
type LedgerBefore = {
  find(key: PaymentKey): Promise<RowBefore | null>;
  holderOf(key: PaymentKey, paymentId: string): Promise<RowBefore | null>;
  reserve(reservation: ReservationInput, owner: string): Promise<boolean>;
  markVerified(key: PaymentKey, owner: string): Promise<boolean>;
  keepAnswer(key: PaymentKey, owner: string, response: StoredResponse): Promise<boolean>;
  giveUp(key: PaymentKey, owner: string): Promise<void>;
  take(key: PaymentKey, owner: string, from: "settling", to: "settling"): Promise<boolean>;
  settle(key: PaymentKey, owner: string, transaction: string, block: typeof BLOCK): Promise<boolean>;
  answerOf(key: PaymentKey): Promise<StoredResponse | null>;
};

type CodeBefore = {
  openDatabase: typeof openDatabase;
  migrate: typeof migrate;
  migrations: typeof migrations;
  openRecordStore: typeof openRecordStore;
  openLedger(store: ReturnType<typeof openRecordStore>, limits: typeof LIMITS): LedgerBefore;
};

const OWNER = "a process";
const LIMITS = { leaseMs: 60_000, failureWindowMs: 60_000 };
const BODY = Buffer.from('{"paid":"response"}');
const BLOCK = { number: 12, hash: `0x${"88".repeat(32)}` } as const;
const TRANSACTION: Hex = `0x${"77".repeat(32)}`;

async function codeBefore(): Promise<CodeBefore> {
  const files = ["database", "migrate", "migrations", "record-store"].map((name) => `src/store/${name}.ts`);
  const modules = await Promise.all(
    [...files, "src/payments/ledger.ts"].map((path) => loadPreviousModule<object>(path)),
  );
  return Object.assign({}, ...modules) as CodeBefore;
}

function fromBefore(row: RowBefore | null): LedgerRow | null {
  if (row === null) return null;
  const { verified: isVerified, leased: isLeased, ...fields } = row;
  return { ...fields, isVerified, isLeased };
}

function adaptBefore(ledger: LedgerBefore): LedgerVersion {
  return {
    find: async (key) => fromBefore(await ledger.find(key)),
    findHolder: async (key, paymentId) => fromBefore(await ledger.holderOf(key, paymentId)),
    reserve: (reservation, owner) => ledger.reserve(reservation, owner),
    markVerified: (key, owner) => ledger.markVerified(key, owner),
    storeResponse: (key, owner, response) => ledger.keepAnswer(key, owner, response),
    releaseLease: (key, owner) => ledger.giveUp(key, owner),
    acquireSettling: (key, owner) => ledger.take(key, owner, "settling", "settling"),
    recordSettled: (key, owner) => ledger.settle(key, owner, TRANSACTION, BLOCK),
    readStoredResponse: (key) => ledger.answerOf(key),
  };
}

function adaptNow(ledger: PaymentLedger): LedgerVersion {
  return {
    find: (key) => ledger.find(key),
    findHolder: (key, paymentId) => ledger.findHolder(key, paymentId),
    reserve: async (reservation, owner) =>
      (await ledger.open(reservation, owner, { mayReserve: true, failuresMax: 10 })).kind === "reserved",
    markVerified: async (key, owner) => (await ledger.admit(key, owner)).isMarked,
    storeResponse: async (key, owner, response) =>
      (await ledger.storeResponse(key, owner, response))?.state === "settling",
    releaseLease: (key, owner) => ledger.releaseLease(key, owner),
    acquireSettling: async (key, owner) =>
      (await ledger.acquire(key, owner, "settling", "settling"))?.state === "settling",
    recordSettled: (key, owner) =>
      ledger.recordSettled(key, owner, { transaction: TRANSACTION, block: BLOCK }),
    readStoredResponse: (key) => ledger.readStoredResponse(key),
  };
}

/** A payment up to the point where its response is stored and its transfer may be sent. */
async function begin(ledger: LedgerVersion, paymentId: string) {
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
  const reservation = { key, payment, fingerprint: hex(32), payload, terms } as unknown as ReservationInput;
  expect(await ledger.reserve(reservation, OWNER)).toBe(true);
  expect(await ledger.markVerified(key, OWNER)).toBe(true);
  const response = { status: 200, headers: { "content-type": "application/json" }, body: BODY };
  expect(await ledger.storeResponse(key, OWNER, response)).toBe(true);
  await ledger.releaseLease(key, OWNER);
  return { key, reservation };
}

/** What another process does with the payment after the first one has stopped. */
async function finish(ledger: LedgerVersion, { key, reservation }: Awaited<ReturnType<typeof begin>>) {
  expect(await ledger.reserve(reservation, "another")).toBe(false);
  expect(await ledger.findHolder(key, reservation.payment.paymentId ?? "")).toMatchObject({
    ...key,
    state: "settling",
    amount: 10_000n,
    isVerified: true,
    fingerprint: reservation.fingerprint,
    digest: reservation.payment.digest,
  });
  expect(await ledger.acquireSettling(key, "another")).toBe(true);
  expect(await ledger.recordSettled(key, "another")).toBe(true);
  expect((await ledger.readStoredResponse(key))?.body.equals(BODY)).toBe(true);
}

it("a payment that one version began is finished by the other, once", async () => {
  const before = await codeBefore();
  const place = await createTestDatabase();
  const open = (code: Pick<CodeBefore, "openDatabase">) =>
    code.openDatabase({
      connection: place.connection,
      schema: "sextant",
      poolMax: 2,
      log: silentLog,
      applicationName: "test",
    });
  const [databaseBefore, database] = await Promise.all([open(before), open({ openDatabase })]);
  try {
    await before.migrate(databaseBefore, before.migrations, silentLog);
    const ledgerBefore = adaptBefore(before.openLedger(before.openRecordStore(databaseBefore), LIMITS));
    const settled = await begin(ledgerBefore, "settled before the upgrade");
    await finish(ledgerBefore, settled);
    const unsettled = await begin(ledgerBefore, "open when the upgrade began");

    await migrate(database, migrations, silentLog);
    const ledger = adaptNow(openPaymentLedger(openRecordStore(database), LIMITS));
    for (const { key } of [settled, unsettled]) {
      expect(await ledger.find(key)).toEqual(await ledgerBefore.find(key));
      expect(await ledger.readStoredResponse(key)).toEqual(await ledgerBefore.readStoredResponse(key));
    }
    expect(await ledger.find(settled.key)).toMatchObject({ state: "settled", amount: 10_000n });
    expect((await ledger.readStoredResponse(settled.key))?.body.equals(BODY)).toBe(true);
    await finish(ledger, unsettled);

    // The version before still runs beside it: what either begins, the other finishes.
    await finish(ledger, await begin(ledgerBefore, "by the version before"));
    await finish(ledgerBefore, await begin(ledger, "by the new version"));

    const { rows } = await database.query("select 1 from payments where state = 'settled'");
    expect(rows).toHaveLength(4);
  } finally {
    await databaseBefore.close();
    await database.close();
    await place.drop();
  }
});
