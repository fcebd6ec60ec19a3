// The part of the ledger that reconciliation works on: payments of one network and asset that are not final.

import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { NONCE_USED } from "../facilitator/facilitator.ts";
import type { GateLimits } from "../paywall/limits.ts";
import type { BlockId } from "../settlement/lookup.ts";
import { NONCE_UNTRACED } from "../settlement/settle.ts";
import { type LedgerRow, type LedgerScope, type PaymentKey, parseLedgerRow, ROW_COLUMNS } from "./row.ts";

// What is kept of payments, and for how long: rows of money for ever, bodies and failures for a while.

/**
 * A settled row stays without its body: it is the proof that its signature has bought something already. A row that was
 * never charged goes once its signature can not be charged any more.
 */
export async function pruneLedger(
  store: StatementRunner,
  { network, asset }: LedgerScope,
  { responseRetentionMs: answersKeptMs, failureWindowMs }: GateLimits,
): Promise<void> {
  const ours = sql`network = ${network} and asset = ${asset}`;
  const kept = sql`now() - ${answersKeptMs}::double precision * interval '1 millisecond'`;
  await store.run(sql`update payments set answer_body = null, answer_headers = null
    where ${ours} and answer_body is not null and settled_at < ${kept}`);
  await store.run(sql`delete from payments where ${ours} and (owner is null or lease_until <= now())
    and valid_before < extract(epoch from now()) and (state in ('reserved', 'released')
      and updated_at < now() - ${failureWindowMs}::double precision * interval '1 millisecond'
      or updated_at < ${kept} and (state = 'expired' or state = 'refused' and reason = ${NONCE_USED}))`);
}

/** A block, and how many payments in it wait to become final. */
export type UnfinishedBlock = BlockId & { readonly paymentCount: number };

export type ProvenTransfer = Pick<PaymentKey, "payer" | "nonce"> & {
  readonly transaction: Hex;
  readonly block: BlockId;
};

export type UnfinishedPayments = {
  /** Outcome unknown: the rows after a key, in the order of keys. */
  listUnresolved(after: PaymentKey | null, limit: number): Promise<readonly LedgerRow[]>;
  /** Settled, with their block stored: the blocks, oldest first. */
  listBlocks(): Promise<readonly UnfinishedBlock[]>;
  /** Settled, in one of these blocks. */
  listInBlocks(blocks: readonly BlockId[]): Promise<readonly LedgerRow[]>;
  /** Settled without a stored block, as versions before stored them; the rows after a key. */
  listWithoutBlock(after: PaymentKey | null, limit: number): Promise<readonly LedgerRow[]>;
  /** Makes payments final whose transfer is proven to be in a final block; returns how many. */
  markFinal(proven: readonly ProvenTransfer[]): Promise<number>;
};

// A final block took the nonce, for something else or for what no log shows: nothing can change that. Every other
// transfer that a facilitator refused can still be carried out.
const UNRESOLVED = sql`(state = 'settling' or (state = 'refused' and reason is distinct from ${NONCE_USED}
  and reason is distinct from ${NONCE_UNTRACED}))`;
const NOT_FINAL = sql`state = 'settled' and not final`;
const IDLE = rawSql("(owner is null or lease_until <= now())");

export function createUnfinishedPayments(
  store: StatementRunner,
  { network, asset }: LedgerScope,
): UnfinishedPayments {
  const ours = sql`network = ${network} and asset = ${asset}`;
  const from = (after: PaymentKey | null) => {
    const { payer, nonce } = after ?? { payer: "", nonce: "" };
    return sql`(payer, nonce) > (${payer}, ${nonce})`;
  };
  const page = async (which: SqlText, after: PaymentKey | null, limit: number) =>
    (
      await store.run(sql`select ${ROW_COLUMNS} from payments where ${ours} and ${which} and ${IDLE} and ${from(after)}
        order by payer, nonce limit ${limit}`)
    ).map(parseLedgerRow);

  return {
    listUnresolved: (after, limit) => page(UNRESOLVED, after, limit),
    listWithoutBlock: (after, limit) =>
      page(sql`${NOT_FINAL} and (block_number is null or block_hash is null)`, after, limit),
    async listBlocks() {
      const rows = await store.run<{ number: string; hash: Hex; rows: string }>(
        sql`select block_number::text as number, block_hash as hash, count(*)::text as rows from payments
          where ${ours} and ${NOT_FINAL} and block_number is not null and block_hash is not null and ${IDLE}
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
        await store.run(sql`select ${ROW_COLUMNS} from payments where ${ours} and ${NOT_FINAL} and ${IDLE}
          and block_number = any(${blocks.map(({ number }) => number)}::bigint[])
          and block_hash = any(${blocks.map(({ hash }) => hash)})`)
      ).map(parseLedgerRow),
    async markFinal(proven) {
      const column = (value: (each: ProvenTransfer) => string) => proven.map(value);
      const done = await store.run(sql`update payments set final = true, transaction = proven.transaction,
          owner = null, lease_until = null, updated_at = now()
        from unnest(${column(({ payer }) => payer)}::text[], ${column(({ nonce }) => nonce)}::text[],
          ${column(({ transaction }) => transaction)}::text[], ${column(({ block }) => block.hash)}::text[])
          as proven (payer, nonce, transaction, block_hash)
        where ${ours} and payments.payer = proven.payer and payments.nonce = proven.nonce
          and payments.block_hash = proven.block_hash and ${NOT_FINAL} and ${IDLE} returning 1 as done`);
      return done.length;
    },
  };
}
