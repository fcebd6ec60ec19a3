// The payments that are not final, as reconciliation reads and writes them: several at a time, each under a renewed lease.

import { randomUUID } from "node:crypto";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { BlockId } from "../../schema/chain-log.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import type { GateLimits } from "../paywall/limits.ts";
import { TRACED_SECONDS_MAX } from "../paywall/payment.ts";
import { NONCE_UNTRACED, NONCE_USED } from "../rejection-reasons.ts";
import { LEASE_OVER } from "./lease.ts";
import type { PaymentLedger } from "./ledger.ts";
import {
  type LedgerRow,
  type LedgerScope,
  type PaymentKey,
  parseLedgerRow,
  ROW_COLUMNS,
  whereKey,
} from "./row.ts";
import { FREE_LEASE, fromNow } from "./statements.ts";

/**
 * A request left it with 503, because no node could tell whether its money has arrived. Whatever else frees such a row
 * deletes it, or gives it another state.
 */
const UNCLEAR = sql`(state = 'reserved' and owner is null and transaction is null and not replaced)`;

/**
 * Removes what is no longer needed. A settled row stays without its body: it proves that its signature was used. A row
 * that was never charged goes when its signature cannot be charged, and is no longer traced; an unclear one only when
 * the chain shows that.
 */
export async function pruneLedger(
  store: StatementRunner,
  { network, asset }: LedgerScope,
  { responseRetentionMs, failureWindowMs }: GateLimits,
): Promise<void> {
  const inScope = sql`network = ${network} and asset = ${asset}`;
  const retainedSince = fromNow(-responseRetentionMs);
  await store.run(sql`update payments set answer_body = null, answer_headers = null
    where ${inScope} and answer_body is not null and settled_at < ${retainedSince}`);
  await store.run(sql`delete from payments where ${inScope} and ${LEASE_OVER}
    and valid_before < extract(epoch from now()) and (state in ('reserved', 'released') and transaction is null and not ${UNCLEAR}
      and valid_before < extract(epoch from now()) - ${TRACED_SECONDS_MAX}::int
      and updated_at < ${fromNow(-failureWindowMs)}
      or updated_at < ${retainedSince} and (state = 'expired' or state = 'refused' and reason = ${NONCE_USED}))`);
}

// The longest that a payment on our terms is valid.
const UNCLEAR_SECONDS_MAX = 86_400;

/** When an unclear row is over: from then on its payment cannot be carried out, or it is too old to be traced. */
export function expiryOfUnclear({ validBefore, createdSeconds }: LedgerRow): number {
  return Math.min(validBefore, createdSeconds + UNCLEAR_SECONDS_MAX);
}

/** A block, and how many payments in it wait to become final. */
export type UnfinishedBlock = BlockId & { readonly paymentCount: number };

export type ProvenTransfer = Pick<PaymentKey, "payer" | "nonce"> & {
  readonly transaction: Hex;
  readonly block: BlockId;
};

// With these two reasons a final block used the nonce, and nothing can change that. Every other transfer that a
// facilitator rejected can still be carried out.
const UNRESOLVED = sql`(state = 'settling' or (state = 'refused' and reason is distinct from ${NONCE_USED}
  and reason is distinct from ${NONCE_UNTRACED}))`;
// A payment may be valid for longer than our terms allow, and then nothing of it stays for longer than they do.
const OVER_BY_CLOCK = sql`least(valid_before, extract(epoch from created_at) + ${UNCLEAR_SECONDS_MAX}::int)
  < extract(epoch from now()) - ${TRACED_SECONDS_MAX}::int`;
// Most payments end within the minute for which our offers are valid; after it the pauses grow with the age, by a quarter
// of it. No client waits for the result: a client that sends the signature again has it looked up. A signature may be valid
// for a day, which then takes about 80 reads.
const FREQUENT_MS = 60_000;
const RECHECK_MS_MAX = 1_800_000;

/** A payment whose transfer a reorg removed must be sent again before it expires. */
const isDue = (recheckMsMin: number) => sql`(settled_at is not null or updated_at <= now() - greatest(
  ${recheckMsMin}::double precision * interval '1 millisecond', least(
    ${RECHECK_MS_MAX}::double precision * interval '1 millisecond',
    (updated_at - created_at - ${FREQUENT_MS}::double precision * interval '1 millisecond') / 4)))`;
const NOT_FINAL = sql`state = 'settled' and not final`;

/** Reads rows after a key, ordered by key. */
type ReadPage = (after: PaymentKey | null, limit: number) => Promise<readonly LedgerRow[]>;

export type UnfinishedPayments = ReturnType<typeof createUnfinishedPayments>;

export function createUnfinishedPayments(
  store: StatementRunner,
  { network, asset }: LedgerScope,
  { recheckMsMin }: Pick<GateLimits, "recheckMsMin">,
) {
  const inScope = sql`network = ${network} and asset = ${asset}`;
  const keysAfter = (after: PaymentKey | null) =>
    sql`(payer, nonce) > (${after?.payer ?? ""}, ${after?.nonce ?? ""})`;
  const readRows = async (statement: SqlText) => (await store.run(statement)).map(parseLedgerRow);
  const listPage =
    (which: SqlText): ReadPage =>
    (after, limit) =>
      readRows(sql`select ${ROW_COLUMNS} from payments
        where ${inScope} and ${which} and ${LEASE_OVER} and ${keysAfter(after)}
        order by payer, nonce limit ${limit}`);
  /** Reads rows that are due; no process gets them again before they are. */
  const claimPage =
    (which: SqlText): ReadPage =>
    (after, limit) =>
      readRows(sql`with claimed as (update payments set updated_at = now()
        where (network, asset, payer, nonce) in (select network, asset, payer, nonce from payments
          where ${inScope} and ${which} and ${LEASE_OVER} and ${isDue(recheckMsMin)} and ${keysAfter(after)}
          order by payer, nonce limit ${limit} for update skip locked)
        returning ${ROW_COLUMNS})
        select * from claimed order by payer, nonce`);

  return {
    /** Rows of unknown outcome. */
    claimUnresolved: claimPage(UNRESOLVED),
    /** Unclear rows that are over by the clock. */
    claimUnclear: claimPage(sql`${UNCLEAR} and ${OVER_BY_CLOCK}`),
    /** Deletes the row if it is still unclear. */
    async deleteUnclear(key: PaymentKey): Promise<void> {
      await store.run(sql`delete from payments where ${whereKey(key)} and ${UNCLEAR}`);
    },
    /** Settled rows without a block, as earlier versions wrote them. */
    listWithoutBlock: listPage(sql`${NOT_FINAL} and (block_number is null or block_hash is null)`),
    /** The blocks of settled rows, oldest first. */
    async listBlocks(): Promise<readonly UnfinishedBlock[]> {
      const rows = await store.run<{ number: string; hash: Hex; rows: string }>(
        sql`select block_number::text as number, block_hash as hash, count(*)::text as rows from payments
          where ${inScope} and ${NOT_FINAL} and block_number is not null and block_hash is not null and ${LEASE_OVER}
          group by block_number, block_hash order by payments.block_number`,
      );
      return rows.map(({ number, hash, rows: count }) => ({
        number: Number(number),
        hash,
        paymentCount: Number(count),
      }));
    },
    /** Settled rows in these blocks. */
    listInBlocks: (blocks: readonly BlockId[]) =>
      readRows(sql`select ${ROW_COLUMNS} from payments
        where ${inScope} and ${NOT_FINAL} and ${LEASE_OVER}
          and block_number = any(${blocks.map(({ number }) => number)}::bigint[])
          and block_hash = any(${blocks.map(({ hash }) => hash)})`),
    /** Marks payments as final whose transfer is proven to be in a final block; returns how many. */
    async markFinal(proven: readonly ProvenTransfer[]): Promise<number> {
      const column = (value: (each: ProvenTransfer) => string) => proven.map(value);
      const done = await store.run(sql`update payments set final = true, transaction = proven.transaction,
          ${FREE_LEASE}, updated_at = now()
        from unnest(${column(({ payer }) => payer)}::text[], ${column(({ nonce }) => nonce)}::text[],
          ${column(({ transaction }) => transaction)}::text[], ${column(({ block }) => block.hash)}::text[])
          as proven (payer, nonce, transaction, block_hash)
        where ${inScope} and payments.payer = proven.payer and payments.nonce = proven.nonce
          and payments.block_hash = proven.block_hash and ${NOT_FINAL} and ${LEASE_OVER} returning 1 as done`);
      return done.length;
    },
  };
}

export type ReconcileCounts = {
  /** Payments whose transfer was found although no facilitator reported it. */
  readonly found: number;
  /** Payments that are now final. */
  readonly final: number;
  /** Payments that a reorg had removed and that were sent again. */
  readonly resent: number;
};

/** Handles one row as its owner, and returns what to count. */
export type ReconcileTask = (row: LedgerRow, owner: string) => Promise<keyof ReconcileCounts | null>;

export type ReconcileRunner = {
  readonly counts: ReconcileCounts;
  count(what: keyof ReconcileCounts, rows: number): void;
  /** Resolves when all rows are handled; starts none after the signal aborts. */
  run(rows: readonly LedgerRow[], task: ReconcileTask): Promise<void>;
};

export function createReconcileRunner(
  options: { readonly ledger: PaymentLedger; readonly log: Log; readonly limits: GateLimits },
  signal: AbortSignal | undefined,
): ReconcileRunner {
  const { ledger, log, limits } = options;
  const counts = { found: 0, final: 0, resent: 0 };
  const slots = createConcurrencyLimit({
    runningMax: limits.reconcileConcurrency,
    waitingMax: Number.MAX_SAFE_INTEGER,
  });

  /** One failing row does not stop the others. */
  async function runTask(row: LedgerRow, task: ReconcileTask): Promise<keyof ReconcileCounts | null> {
    const owner = randomUUID();
    const lease = ledger.startRenewal(row, owner, log);
    try {
      return await task(row, owner);
    } catch (err) {
      log.warn(
        { component: "payments", event: "reconcile_row_failed", err, payer: row.payer, nonce: row.nonce },
        "Reconciliation of a payment failed",
      );
      await ledger.releaseLease(row, owner).catch(() => undefined);
      return null;
    } finally {
      await lease.stop();
    }
  }

  return {
    counts,
    count(what, rows) {
      counts[what] += rows;
    },
    async run(rows, task) {
      const handle = async (row: LedgerRow) => {
        const what = signal?.aborted ? null : await runTask(row, task);
        if (what !== null) counts[what] += 1;
      };
      await Promise.all(rows.map((row) => slots.run(() => handle(row))));
    },
  };
}
