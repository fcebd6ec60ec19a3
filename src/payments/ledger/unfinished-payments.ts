// What reconciliation reads and writes of the ledger: the payments of one network and asset that are not final.

import type { Hex } from "../../lib/hex.ts";
import type { BlockId } from "../../schema/chain-log.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import type { GateLimits } from "../paywall/limits.ts";
import { TRACED_SECONDS_MAX } from "../paywall/payment.ts";
import { NONCE_UNTRACED, NONCE_USED } from "../rejection-reasons.ts";
import { type LedgerRow, type LedgerScope, type PaymentKey, parseLedgerRow, ROW_COLUMNS } from "./row.ts";
import { FREE_LEASE, fromNow, NOT_LEASED } from "./statements.ts";

/**
 * Removes what is no longer needed. A settled row stays without its body: it proves that its signature was used. A row
 * that was never charged goes when its signature cannot be charged, and is no longer traced.
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
  await store.run(sql`delete from payments where ${inScope} and ${NOT_LEASED}
    and valid_before < extract(epoch from now()) and (state in ('reserved', 'released') and transaction is null
      and valid_before < extract(epoch from now()) - ${TRACED_SECONDS_MAX}::int
      and updated_at < ${fromNow(-failureWindowMs)}
      or updated_at < ${retainedSince} and (state = 'expired' or state = 'refused' and reason = ${NONCE_USED}))`);
}

/** A block, and how many payments in it wait to become final. */
export type UnfinishedBlock = BlockId & { readonly paymentCount: number };

export type ProvenTransfer = Pick<PaymentKey, "payer" | "nonce"> & {
  readonly transaction: Hex;
  readonly block: BlockId;
};

export type UnfinishedPayments = {
  /** Rows of unknown outcome after a key, ordered by key. */
  listUnresolved(after: PaymentKey | null, limit: number): Promise<readonly LedgerRow[]>;
  /** The blocks of settled rows, oldest first. */
  listBlocks(): Promise<readonly UnfinishedBlock[]>;
  /** Settled rows in these blocks. */
  listInBlocks(blocks: readonly BlockId[]): Promise<readonly LedgerRow[]>;
  /** Settled rows without a block, as earlier versions wrote them, after a key. */
  listWithoutBlock(after: PaymentKey | null, limit: number): Promise<readonly LedgerRow[]>;
  /** Marks payments as final whose transfer is proven to be in a final block; returns how many. */
  markFinal(proven: readonly ProvenTransfer[]): Promise<number>;
};

// With these two reasons a final block used the nonce, and nothing can change that. Every other transfer that a
// facilitator rejected can still be carried out.
const UNRESOLVED = sql`(state = 'settling' or (state = 'refused' and reason is distinct from ${NONCE_USED}
  and reason is distinct from ${NONCE_UNTRACED}))`;
const NOT_FINAL = sql`state = 'settled' and not final`;

export function createUnfinishedPayments(
  store: StatementRunner,
  { network, asset }: LedgerScope,
): UnfinishedPayments {
  const inScope = sql`network = ${network} and asset = ${asset}`;
  const readPage = async (which: SqlText, after: PaymentKey | null, limit: number) => {
    const { payer, nonce } = after ?? { payer: "", nonce: "" };
    const rows = await store.run(sql`select ${ROW_COLUMNS} from payments
      where ${inScope} and ${which} and ${NOT_LEASED} and (payer, nonce) > (${payer}, ${nonce})
      order by payer, nonce limit ${limit}`);
    return rows.map(parseLedgerRow);
  };

  return {
    listUnresolved: (after, limit) => readPage(UNRESOLVED, after, limit),
    listWithoutBlock: (after, limit) =>
      readPage(sql`${NOT_FINAL} and (block_number is null or block_hash is null)`, after, limit),
    async listBlocks() {
      const rows = await store.run<{ number: string; hash: Hex; rows: string }>(
        sql`select block_number::text as number, block_hash as hash, count(*)::text as rows from payments
          where ${inScope} and ${NOT_FINAL} and block_number is not null and block_hash is not null and ${NOT_LEASED}
          group by block_number, block_hash order by payments.block_number`,
      );
      return rows.map(({ number, hash, rows: count }) => ({
        number: Number(number),
        hash,
        paymentCount: Number(count),
      }));
    },
    listInBlocks: async (blocks) =>
      (
        await store.run(sql`select ${ROW_COLUMNS} from payments where ${inScope} and ${NOT_FINAL} and ${NOT_LEASED}
          and block_number = any(${blocks.map(({ number }) => number)}::bigint[])
          and block_hash = any(${blocks.map(({ hash }) => hash)})`)
      ).map(parseLedgerRow),
    async markFinal(proven) {
      const column = (value: (each: ProvenTransfer) => string) => proven.map(value);
      const done = await store.run(sql`update payments set final = true, transaction = proven.transaction,
          ${FREE_LEASE}, updated_at = now()
        from unnest(${column(({ payer }) => payer)}::text[], ${column(({ nonce }) => nonce)}::text[],
          ${column(({ transaction }) => transaction)}::text[], ${column(({ block }) => block.hash)}::text[])
          as proven (payer, nonce, transaction, block_hash)
        where ${inScope} and payments.payer = proven.payer and payments.nonce = proven.nonce
          and payments.block_hash = proven.block_hash and ${NOT_FINAL} and ${NOT_LEASED} returning 1 as done`);
      return done.length;
    },
  };
}
