// Opening a payment in one statement does what three did before: find the row, count the failures, reserve.
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import {
  insertLedgerRow,
  type LedgerRowColumns,
  TEST_KEY,
  TEST_PAY_TO,
} from "../../../tests/support/payments/ledger-rows.ts";
import { isFullDepth, runsOf } from "../../../tests/support/test-depth.ts";
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { NONCE_UNTRACED, NONCE_USED } from "../rejection-reasons.ts";
import { type OpenedPayment, PaymentLedger } from "./ledger.ts";
import { PAYMENT_STATES, type PaymentState } from "./row.ts";
import { admitSql, fromNow, type ReservationInput } from "./statements.ts";
import { createUnfinishedPayments } from "./unfinished-payments.ts";

const RUNS = 300;
const LIMITS = { leaseMs: 60_000, failureWindowMs: 60_000 };
const FAILURES_MAX = 4;
const OWNER = "this process";
const NONCES: readonly Hex[] = ["01", "02", "03", "04"].map((byte): Hex => `0x${byte.repeat(32)}`);
const IDENTIFIERS = [null, "identifier-aaaaaaaaaaaa", "identifier-bbbbbbbbbbbb"];
const FINGERPRINTS = ["this request", "another request"];

const leases = fc.constantFrom(
  { owner: null, lease_seconds: null },
  { owner: "another process", lease_seconds: 60 },
  { owner: "a stalled process", lease_seconds: -600 },
  { owner: "a dead process", lease_seconds: 3_600 },
);
const rows: fc.Arbitrary<LedgerRowColumns> = fc
  .record({
    nonce: fc.constantFrom(...NONCES),
    payer: fc.constantFrom<Hex>(TEST_KEY.payer, TEST_KEY.payer, TEST_KEY.payer, `0x${"44".repeat(20)}`),
    state: fc.constantFrom(...PAYMENT_STATES),
    lease: leases,
    payment_id: fc.constantFrom(...IDENTIFIERS),
    replaced: fc.constantFrom(false, false, true),
    verified: fc.boolean(),
    fingerprint: fc.constantFrom(...FINGERPRINTS),
    failures: fc.constantFrom(0, 0, 1, 2, 3),
    failed_seconds: fc.constantFrom(-1, -600),
    reason: fc.constantFrom(null, NONCE_USED, NONCE_UNTRACED),
  })
  .map(({ lease, ...columns }) => ({ ...columns, ...lease }));
const requests = fc.record({
  paymentId: fc.constantFrom(...IDENTIFIERS),
  fingerprint: fc.constantFrom(...FINGERPRINTS),
  mayReserve: fc.constantFrom(true, true, true, false),
});

let one: Database;
let three: Database;
const drops: (() => Promise<void>)[] = [];
beforeAll(async () => {
  const opened = await Promise.all([openTestDatabase(), openTestDatabase()]);
  [one, three] = [opened[0].database, opened[1].database];
  drops.push(...opened.map((each) => () => each.drop()));
});
afterAll(() => Promise.all(drops.map((drop) => drop())));

function reservationOf({ paymentId, fingerprint }: { paymentId: string | null; fingerprint: string }) {
  const payment = {
    from: TEST_KEY.payer,
    to: TEST_PAY_TO,
    value: 10_000n,
    validAfter: 0n,
    validBefore: 4_000_000_000n,
    nonce: TEST_KEY.nonce,
    signature: "0x01" as Hex,
    paymentId,
    digest: "digest",
  };
  const payload = { x402Version: 2, accepted: {}, payload: {} } as unknown as ReservationInput["payload"];
  return { key: TEST_KEY, payment, fingerprint, payload, terms: {} as ReservationInput["terms"] };
}

/** Opens a payment by three statements: simple ones, that the single one must agree with. */
async function openInThree(
  store: StatementRunner,
  reservation: ReservationInput,
  mayReserve: boolean,
): Promise<OpenedPayment> {
  const { key, payment, fingerprint, payload, terms } = reservation;
  const row = await new PaymentLedger(store, LIMITS).find(key);
  const [failed] = await store.run<{ sum: string }>(
    sql`select coalesce(sum(failures), 0)::text as sum from payments
      where payer = ${key.payer} and failures > 0 and failed_at > ${fromNow(-LIMITS.failureWindowMs)}`,
  );
  const payerFailures = Number(failed?.sum);
  if (row !== null) return { kind: "found", row, payerFailures };
  if (!mayReserve || payerFailures >= FAILURES_MAX) return { kind: "not-reserved", payerFailures };
  const reserved = await store.run(sql`with freed as (
      update payments set replaced = true, owner = null, lease_until = null, updated_at = now()
      where network = ${key.network} and asset = ${key.asset} and payer = ${key.payer} and nonce <> ${key.nonce}
        and payment_id = ${payment.paymentId} and not replaced
        and (owner is null or lease_until <= now() or lease_until > now() + interval '2 minutes')
        and (state in ('reserved', 'released') and not verified
          or state in ('expired', 'lost') or state = 'refused' and reason = ${NONCE_USED})
      returning 1)
    insert into payments (network, asset, payer, nonce, pay_to, amount, valid_before,
      fingerprint, payment_digest, payment_id, payload, terms, state, owner, lease_until)
    select ${key.network}, ${key.asset}, ${key.payer}, ${key.nonce}, ${payment.to},
      ${payment.value.toString()}::numeric, ${payment.validBefore.toString()}::bigint, ${fingerprint},
      ${payment.digest}, ${payment.paymentId}, ${JSON.stringify(payload)}, ${JSON.stringify(terms)},
      'reserved', ${OWNER}, ${fromNow(LIMITS.leaseMs)} where (select count(*) from freed) >= 0
    on conflict do nothing returning 1 as done`);
  return { kind: reserved.length === 1 ? "reserved" : "not-reserved", payerFailures };
}

/** Everything but points in time; of those, whether they are past. */
async function contentOf(database: Database) {
  const { rows: content } = await database.query(`select network, asset, payer, nonce, pay_to, amount::text,
    valid_before::text, fingerprint, payment_digest, payment_id, payload, terms, state, owner,
    lease_until > now() as leased, verified, replaced, final, attempts, failures, reason,
    failed_at > now() - interval '1 minute' as failed_lately from payments order by payer, nonce`);
  return content;
}

it("opens a payment as find, count and reserve would", async () => {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(rows, { maxLength: 5 }), requests, async (ledgerRows, request) => {
      const fill = async (database: Database) => {
        await database.query("delete from payments");
        for (const row of ledgerRows) await insertLedgerRow(database, row);
      };
      await Promise.all([fill(one), fill(three)]);
      const reservation = reservationOf(request);
      const ledger = new PaymentLedger(openRecordStore(one), LIMITS);
      const opened = await ledger.open(reservation, OWNER, {
        mayReserve: request.mayReserve,
        failuresMax: FAILURES_MAX,
      });
      const expected = await openInThree(openRecordStore(three), reservation, request.mayReserve);
      const withoutTime = (result: OpenedPayment) =>
        result.kind === "found" ? { ...result, row: { ...result.row, createdSeconds: 0 } } : result;
      expect(withoutTime(opened)).toEqual(withoutTime(expected));
      expect(await contentOf(one)).toEqual(await contentOf(three));
      kinds.add(opened.kind);
    }),
    { numRuns: runsOf(RUNS) },
  );
  if (isFullDepth()) expect([...kinds].sort()).toEqual(["found", "not-reserved", "reserved"]);
}, 120_000);

it("one of many requests that open a payment at the same time reserves it", async () => {
  const ledger = new PaymentLedger(openRecordStore(one), LIMITS);
  for (let round = 0; round < 20; round += 1) {
    await one.query("delete from payments");
    const reservation = reservationOf({ paymentId: null, fingerprint: "this request" });
    const allowed = { mayReserve: true, failuresMax: FAILURES_MAX };
    const opened = await Promise.all(
      Array.from({ length: 4 }, (_, i) => ledger.open(reservation, `process ${i}`, allowed)),
    );
    const winners = opened.flatMap(({ kind }, i) => (kind === "reserved" ? [`process ${i}`] : []));
    expect(winners).toHaveLength(1);
    expect((await contentOf(one)).map(({ owner }) => owner)).toEqual(winners);
  }
});

it("one of two authorizations that open under one identifier at the same time reserves it", async () => {
  const ledger = new PaymentLedger(openRecordStore(one), LIMITS);
  const allowed = { mayReserve: true, failuresMax: FAILURES_MAX };
  for (let round = 0; round < 20; round += 1) {
    await one.query("delete from payments");
    // An authorization that is over holds the identifier: both try to take it.
    const id = IDENTIFIERS[1] ?? null;
    await insertLedgerRow(one, { nonce: `0x${"09".repeat(32)}`, state: "expired", payment_id: id });
    const opened = await Promise.all(
      NONCES.slice(0, 2).map((nonce, i) => {
        const { payment, ...rest } = reservationOf({ paymentId: id, fingerprint: "this request" });
        const reservation = { ...rest, key: { ...TEST_KEY, nonce }, payment: { ...payment, nonce } };
        return ledger.open(reservation, `process ${i}`, allowed);
      }),
    );
    expect(opened.filter(({ kind }) => kind === "reserved")).toHaveLength(1);
    const holders = (await contentOf(one)).filter(
      ({ payment_id, replaced }) => payment_id === id && !replaced,
    );
    expect(holders).toHaveLength(1);
  }
});

/** The rows that the scans of a plan read, also those that a filter removes. */
function rowsReadBy(plan: ExplainedNode): number {
  const children = plan.Plans ?? [];
  const own = (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
  return children.reduce(
    (sum, child) => sum + rowsReadBy(child),
    plan["Relation Name"] === undefined ? 0 : own,
  );
}

type ExplainedNode = {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly ExplainedNode[];
};

/** Explains each statement instead of running it alone, and counts the rows that they read. */
function countReadRows(database: Database): { readonly store: StatementRunner; rows(): number } {
  let rows = 0;
  const run: StatementRunner["run"] = async (statement) => {
    const explained = await openRecordStore(database).run<{ "QUERY PLAN": { Plan: ExplainedNode }[] }>(
      sql`explain (analyze, format json) ${statement}`,
    );
    const [plan] = explained[0]?.["QUERY PLAN"] ?? [];
    rows += rowsReadBy(plan?.Plan as ExplainedNode);
    return [];
  };
  return { store: { run }, rows: () => rows };
}

/** Replaces the ledger by 4,000 payments in this state, every second one of the same payer. */
async function fillLedger(database: Database, state: PaymentState): Promise<void> {
  await database.query("delete from payments");
  await database.query(`insert into payments (network, asset, payer, nonce, pay_to, amount, valid_before, fingerprint,
      payment_digest, payload, terms, state, verified, settled_at, final, transaction, reason)
    select '${TEST_KEY.network}', '${TEST_KEY.asset}', case when i % 2 = 0 then '${TEST_KEY.payer}'
        else '0x' || lpad(to_hex(i), 40, '0') end, '0x' || lpad(to_hex(i), 64, '0'), '${TEST_PAY_TO}', 10000, 1, '', '',
      '', '', '${state}', true, now() - interval '1 hour' - i * interval '1 second', true, '0x', '${NONCE_USED}'
    from generate_series(1, 4000) i`);
}

it.each([
  ["no unpaid one", []],
  ["an unpaid one just now", [{ state: "refused", failures: 1, failed_seconds: 0, reason: "a reason" }]],
])("reads few rows to admit a payment of a payer with thousands of settled ones and %s", async (_, more) => {
  await fillLedger(one, "settled");
  for (const row of more) await insertLedgerRow(one, row);
  await one.query("analyze payments");
  const { store, rows } = countReadRows(one);
  await store.run(admitSql({ key: { ...TEST_KEY, nonce: `0x${"ff".repeat(32)}` }, owner: OWNER }, null, 30));
  expect(rows()).toBeLessThan(100);
});

it.each(["settled", "refused", "expired"] as const)(
  "reads few rows to find unclear payments among thousands that are %s",
  async (state) => {
    await fillLedger(one, state);
    await insertLedgerRow(one, { state: "reserved", owner: null, valid_before: 1 });
    await one.query("analyze payments");
    const { store, rows } = countReadRows(one);
    await createUnfinishedPayments(store, TEST_KEY, { recheckMsMin: 0 }).claimUnclear(null, 100);
    expect(rows()).toBeGreaterThan(0);
    expect(rows()).toBeLessThan(100);
  },
);
