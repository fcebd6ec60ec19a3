// The table of transitions against the database: every listed change happens, no other one does, and leases are respected.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import {
  insertLedgerRow,
  type LedgerRowColumns,
  TEST_KEY,
  TEST_PAY_TO,
} from "../../../tests/support/payments/ledger-rows.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { GATE_LIMITS } from "../paywall/limits.ts";
import { NONCE_USED } from "../rejection-reasons.ts";
import { PaymentLedger } from "./ledger.ts";
import {
  LEDGER_TRANSITIONS,
  type LedgerState,
  type LedgerTransition,
  type LedgerTransitionName,
  PAYMENT_STATES,
  type PaymentState,
} from "./row.ts";
import type { ReservationInput } from "./statements.ts";
import { createUnfinishedPayments, pruneLedger } from "./unfinished-payments.ts";

const ME = "this process";
const ID = "identifier-0123456789";
const TRANSACTION: Hex = `0x${"77".repeat(32)}`;
const BLOCK = { number: 12, hash: `0x${"88".repeat(32)}` } as const;
const RESPONSE = { status: 200, headers: {}, body: Buffer.from("{}") };

let database: Database;
let drop: () => Promise<void>;
let ledger: PaymentLedger;
beforeAll(async () => {
  const opened = await openTestDatabase();
  ({ database } = opened);
  drop = () => opened.drop();
  ledger = new PaymentLedger(openRecordStore(database), { leaseMs: 60_000, failureWindowMs: 60_000 });
});
afterAll(() => drop());
beforeEach(async () => {
  await database.query("delete from payments");
});

function reservation(nonce: Hex): ReservationInput {
  const payment = {
    from: TEST_KEY.payer,
    to: TEST_PAY_TO,
    value: 10_000n,
    validAfter: 0n,
    validBefore: 4_000_000_000n,
    nonce,
    signature: "0x01" as Hex,
    paymentId: ID,
    digest: "digest",
  };
  return {
    key: { ...TEST_KEY, nonce },
    payment,
    fingerprint: "fingerprint",
    payload: { x402Version: 2, accepted: {}, payload: {} } as unknown as ReservationInput["payload"],
    terms: {} as ReservationInput["terms"],
  };
}

const openNonce = (nonce: Hex) => ledger.open(reservation(nonce), ME, { mayReserve: true, failuresMax: 10 });
const identifier = { paymentId: null };

type Way = {
  readonly run: (state: PaymentState) => Promise<unknown>;
  /** The row before, if it matters for the change. */
  readonly row?: LedgerRowColumns;
};

/** Each transition in all its ways; `row` makes the guards true. */
const WAYS: Record<LedgerTransitionName, readonly Way[]> = {
  open: [{ run: () => openNonce(TEST_KEY.nonce) }],
  reclaim: LEDGER_TRANSITIONS.reclaim.changes.map(([from, to]) => ({
    run: () => ledger.reclaim(TEST_KEY, ME, { from, to, ...identifier }),
  })),
  admit: [null, { transaction: TRANSACTION, block: BLOCK }].map((transfer) => ({
    run: () => ledger.admit(TEST_KEY, ME, transfer),
  })),
  deleteReservation: [{}, { failures: 1 }, { transaction: TRANSACTION }].map((row) => ({
    run: () => ledger.deleteReservation(TEST_KEY, ME),
    row,
  })),
  deleteUnverified: [{ run: () => ledger.deleteUnverified(TEST_KEY), row: { verified: false } }],
  recordJobFailure: [{ run: () => ledger.recordJobFailure(TEST_KEY, ME) }],
  storeResponse: [{ run: () => ledger.storeResponse(TEST_KEY, ME, RESPONSE) }],
  acquire: LEDGER_TRANSITIONS.acquire.changes.map(([from, to]) => ({
    run: () => ledger.acquire(TEST_KEY, ME, from, to),
  })),
  startSettling: [{ run: () => ledger.startSettling(TEST_KEY, ME) }],
  recordSettled: [
    { run: () => ledger.recordSettled(TEST_KEY, ME, { transaction: TRANSACTION, block: BLOCK }) },
  ],
  recordUnknownOutcome: [{ run: () => ledger.recordUnknownOutcome(TEST_KEY, ME, TRANSACTION) }],
  recordRejected: [{ run: () => ledger.recordRejected(TEST_KEY, ME, "a reason") }],
  recordExpired: [{ run: () => ledger.recordExpired(TEST_KEY, ME) }],
  recordLost: [{ run: () => ledger.recordLost(TEST_KEY, ME, "expired") }],
  recordBlock: [false, true].map((final) => ({
    run: () => ledger.recordBlock(TEST_KEY, ME, { transaction: TRANSACTION, block: BLOCK, final }),
  })),
  markFinal: [
    {
      run: () =>
        createUnfinishedPayments(openRecordStore(database), TEST_KEY, { recheckMsMin: 0 }).markFinal([
          { ...TEST_KEY, transaction: TRANSACTION, block: BLOCK },
        ]),
      row: { block_number: BLOCK.number, block_hash: BLOCK.hash },
    },
  ],
  markReplaced: [{ run: () => ledger.markReplaced(TEST_KEY, ME) }],
  releaseIdentifier: [
    {
      run: () => openNonce(`0x${"02".repeat(32)}`),
      row: { payment_id: ID, reason: NONCE_USED },
    },
  ],
  prune: [
    {
      run: () =>
        pruneLedger(openRecordStore(database), TEST_KEY, {
          ...GATE_LIMITS,
          responseRetentionMs: 1_000,
          failureWindowMs: 1_000,
        }),
      row: { valid_before: 1, updated_seconds: -60, reason: NONCE_USED },
    },
    // A reserved row without an owner is deleted by what the chain shows.
    {
      run: () =>
        createUnfinishedPayments(openRecordStore(database), TEST_KEY, { recheckMsMin: 0 }).deleteUnclear(
          TEST_KEY,
        ),
    },
  ],
};

const LEASES = {
  owner: { owner: ME, lease_seconds: 60 },
  free: { owner: null, lease_seconds: null },
  "ran out": { owner: "a stalled process", lease_seconds: -1 },
  "of a clock that was set back": { owner: "a dead process", lease_seconds: 3_600 },
  other: { owner: "another process", lease_seconds: 60 },
} as const;

/** The state of the row, and the transaction that wrote it: equal only if the row was not touched. */
async function rowNow(): Promise<{ state: LedgerState; written: string }> {
  const { rows } = await database.query<{ state: PaymentState; final: boolean; written: string }>({
    text: "select state, final, xmin::text as written from payments where nonce = $1",
    values: [TEST_KEY.nonce],
  });
  const [row] = rows;
  if (!row) return { state: "absent", written: "" };
  return { state: row.state === "settled" && row.final ? "final" : row.state, written: row.written };
}

/** Runs a way on a row in a state; returns the change, or null if the row was not touched. */
async function changeOf(way: Way, state: PaymentState | "absent", lease: keyof typeof LEASES) {
  await database.query("delete from payments");
  if (state !== "absent") await insertLedgerRow(database, { ...way.row, ...LEASES[lease], state });
  const before = await rowNow();
  await way.run(state === "absent" ? "reserved" : state);
  const after = await rowNow();
  return before.written === after.written ? null : ([state, after.state] as const);
}

const leasesFor: Record<LedgerTransition["requires"], readonly (keyof typeof LEASES)[]> = {
  owner: ["owner"],
  free: ["free", "ran out", "of a clock that was set back"],
  "owner or free": ["owner", "free", "ran out", "of a clock that was set back"],
  new: ["free"],
};

const names = Object.keys(LEDGER_TRANSITIONS) as LedgerTransitionName[];
const textOf = (changes: Iterable<readonly [string, string]>) =>
  [...new Set([...changes].map(([from, to]) => `${from} → ${to}`))].sort();

describe.each(names)("%s", (name) => {
  const { changes, requires }: LedgerTransition = LEDGER_TRANSITIONS[name];

  it("makes the transition's changes in the table and no others", async () => {
    for (const lease of leasesFor[requires]) {
      const found: (readonly [string, string])[] = [];
      for (const way of WAYS[name]) {
        for (const state of ["absent", ...PAYMENT_STATES] as const) {
          const change = await changeOf(way, state, lease);
          if (change !== null) found.push(change);
        }
      }
      expect([lease, textOf(found)]).toEqual([lease, textOf(changes)]);
    }
  });

  it("changes no row with another lease than the transition requires", async () => {
    const others = (Object.keys(LEASES) as (keyof typeof LEASES)[]).filter(
      (lease) => !leasesFor[requires].includes(lease),
    );
    for (const lease of others) {
      for (const way of WAYS[name]) {
        for (const state of PAYMENT_STATES) {
          expect([lease, state, await changeOf(way, state, lease)]).toEqual([lease, state, null]);
        }
      }
    }
  });

  it("takes, keeps or frees the lease as the table says", async () => {
    const { lease } = LEDGER_TRANSITIONS[name];
    for (const way of WAYS[name]) {
      for (const state of ["absent", ...PAYMENT_STATES] as const) {
        const change = await changeOf(way, state, leasesFor[requires][0] ?? "free");
        if (change === null || change[1] === "absent") continue;
        const { rows } = await database.query<{ owner: string | null }>({
          text: "select owner from payments where nonce = $1",
          values: [TEST_KEY.nonce],
        });
        expect([change, rows[0]?.owner]).toEqual([change, lease === "frees" ? null : ME]);
      }
    }
  });
});

it("keeps a row whose money has arrived, and any row for as long as its payment is traced", async () => {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const old = { updated_seconds: -3_600, state: "released" } as const;
  const arrived = {
    ...old,
    valid_before: 1,
    transaction: TRANSACTION,
    nonce: `0x${"01".repeat(32)}` as const,
  };
  const traced = { ...old, valid_before: nowSeconds - 590, nonce: `0x${"02".repeat(32)}` as const };
  const over = { ...old, valid_before: nowSeconds - 610, nonce: `0x${"03".repeat(32)}` as const };
  for (const row of [arrived, traced, over]) await insertLedgerRow(database, row);
  await pruneLedger(openRecordStore(database), TEST_KEY, GATE_LIMITS);
  const { rows } = await database.query<{ nonce: Hex }>("select nonce from payments order by nonce");
  expect(rows.map(({ nonce }) => nonce)).toEqual([arrived.nonce, traced.nonce]);
});

it("renews no lease that other payments of the payer no longer wait for", async () => {
  const renewals: unknown[] = [];
  for (const lease_seconds of [-1, -31, 3_600]) {
    for (const state of ["reserved", "settling"] as const) {
      await database.query("delete from payments");
      await insertLedgerRow(database, { owner: ME, lease_seconds, state });
      renewals.push([lease_seconds, state, await ledger.renewLease(TEST_KEY, ME)]);
    }
  }
  // A payment that is settling counts until it expires, with or without an owner.
  expect(renewals).toEqual([
    [-1, "reserved", true],
    [-1, "settling", true],
    [-31, "reserved", false],
    [-31, "settling", true],
    // The clock of the database was set back.
    [3_600, "reserved", false],
    [3_600, "settling", true],
  ]);
});

it("waits for no process that died before the clock of the database was set back by hours", async () => {
  await insertLedgerRow(database, { owner: "a dead process", lease_seconds: 3_600, verified: true });
  const next = { ...TEST_KEY, nonce: `0x${"02".repeat(32)}` as const };
  await expect(ledger.findOpenPayments(next)).resolves.toEqual([]);
  await expect(ledger.find(TEST_KEY)).resolves.toMatchObject({ state: "reserved", isLeased: false });
  await expect(ledger.storeResponse(TEST_KEY, "a dead process", RESPONSE)).resolves.toBeNull();
  const reclaimed = ledger.reclaim(TEST_KEY, ME, { from: "reserved", to: "reserved", ...identifier });
  await expect(reclaimed).resolves.toMatchObject({ isLeased: true });
});

it("a change that the table does not list cannot be requested", async () => {
  await insertLedgerRow(database, { state: "settled" });
  await expect(
    ledger.reclaim(TEST_KEY, ME, { from: "settled", to: "reserved", ...identifier }),
  ).rejects.toThrow("reclaim does not lead from settled to reserved");
  await expect(ledger.acquire(TEST_KEY, ME, "released", "settling")).rejects.toThrow("acquire does not lead");
});
