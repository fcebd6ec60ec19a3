// Payments during an upgrade: portfolio services of both versions act on the rows of one ledger.
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import type { Hex } from "../../src/lib/hex.ts";
import { PaymentLedger } from "../../src/payments/ledger/ledger.ts";
import type { ReservationInput } from "../../src/payments/ledger/statements.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { createTestDatabase } from "../support/database/test-database.ts";
import { silentLog } from "../support/quiet-log.ts";
import { loadPreviousModule } from "./previous-version.ts";

type Code = {
  readonly openDatabase: typeof openDatabase;
  readonly migrate: typeof migrate;
  readonly migrations: typeof migrations;
  readonly openRecordStore: typeof openRecordStore;
  readonly PaymentLedger: typeof PaymentLedger;
};

const OWNER = "a process";
const LIMITS = { leaseMs: 60_000, failureWindowMs: 60_000 };
const BODY = Buffer.from('{"paid":"response"}');
const TRANSFER = {
  transaction: `0x${"77".repeat(32)}`,
  block: { number: 12, hash: `0x${"88".repeat(32)}` },
} as const;

async function loadCodeBefore(): Promise<Code> {
  const files = ["database", "migrate", "migrations", "record-store"].map(
    (name) => `src/store/postgres/${name}.ts`,
  );
  const modules = await Promise.all(
    [...files, "src/payments/ledger/ledger.ts"].map((path) => loadPreviousModule<object>(path)),
  );
  return Object.assign({}, ...modules) as Code;
}

async function reserve(
  ledger: PaymentLedger,
  reservation: ReservationInput,
  owner: string,
): Promise<boolean> {
  const opened = await ledger.open(reservation, owner, { mayReserve: true, failuresMax: 10 });
  return opened.kind === "reserved";
}

/** A payment up to the point at which its response is stored and its transfer may be sent. */
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
  const reservation = { key, payment, fingerprint: hex(32), payload, terms } as unknown as ReservationInput;
  expect(await reserve(ledger, reservation, OWNER)).toBe(true);
  expect((await ledger.admit(key, OWNER)).isMarked).toBe(true);
  const response = { status: 200, headers: { "content-type": "application/json" }, body: BODY };
  expect((await ledger.storeResponse(key, OWNER, response))?.state).toBe("settling");
  await ledger.releaseLease(key, OWNER);
  return { key, reservation };
}

/** The step of another process with the payment after the first one has stopped. */
async function finish(ledger: PaymentLedger, { key, reservation }: Awaited<ReturnType<typeof begin>>) {
  expect(await reserve(ledger, reservation, "another")).toBe(false);
  expect(await ledger.findHolder(key, reservation.payment.paymentId ?? "")).toMatchObject({
    ...key,
    state: "settling",
    amount: 10_000n,
    isVerified: true,
    fingerprint: reservation.fingerprint,
    digest: reservation.payment.digest,
  });
  expect((await ledger.acquire(key, "another", "settling", "settling"))?.state).toBe("settling");
  expect(await ledger.recordSettled(key, "another", TRANSFER)).toBe(true);
  expect((await ledger.readStoredResponse(key))?.body.equals(BODY)).toBe(true);
}

it("a payment that one version began is finished by the other, once", async () => {
  const before = await loadCodeBefore();
  const place = await createTestDatabase();
  const open = (code: Pick<Code, "openDatabase">) =>
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
    const ledgerBefore = new before.PaymentLedger(before.openRecordStore(databaseBefore), LIMITS);
    const settled = await begin(ledgerBefore, "settled before the upgrade");
    await finish(ledgerBefore, settled);
    const unsettled = await begin(ledgerBefore, "open when the upgrade began");

    await migrate(database, migrations, silentLog);
    const ledger = new PaymentLedger(openRecordStore(database), LIMITS);
    for (const { key } of [settled, unsettled]) {
      expect(await ledger.find(key)).toEqual(await ledgerBefore.find(key));
      expect(await ledger.readStoredResponse(key)).toEqual(await ledgerBefore.readStoredResponse(key));
    }
    expect(await ledger.find(settled.key)).toMatchObject({ state: "settled", amount: 10_000n });
    expect((await ledger.readStoredResponse(settled.key))?.body.equals(BODY)).toBe(true);
    await finish(ledger, unsettled);

    // The version before still runs alongside it: what either begins, the other finishes.
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
