// The statements of claims: which channels have vouchers to claim, and which transactions may still be mined.
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { CHANNEL_COLUMNS, type ChannelRow, parseChannelRow } from "./channel-row.ts";

/** A channel, and what of its voucher is not claimed. */
export type UnclaimedChannel = {
  readonly row: ChannelRow;
  readonly ageSeconds: number;
  /** A claim of it alone has failed, so long ago. */
  readonly failedSeconds: number | null;
};

/** A transaction that was sent and whose outcome is not recorded. */
type OpenTransaction = { readonly transaction: Hex; readonly ageSeconds: number };

type ChannelTotals = {
  readonly channels: number;
  /** In the token's units. */
  readonly unclaimed: bigint;
  /** The part of it that the contract holds for us, also if pending withdrawals end first. */
  readonly covered: bigint;
  readonly oldestSeconds: number;
};

export class ClaimRows {
  readonly #store: StatementRunner;
  readonly #network: string;

  constructor(store: StatementRunner, network: string) {
    this.#store = store;
    this.#network = network;
  }

  /** Withdrawals that have started come first, then the largest sums. */
  async findUnclaimed(receiverAuthorizer: Hex, max: number): Promise<readonly UnclaimedChannel[]> {
    const rows =
      await this.#store.run(sql`select ${CHANNEL_COLUMNS}, ${secondsSince("unclaimed_since")} as age,
        ${secondsSince("claim_failed_at")} as failed
      from payment_channels
      where network = ${this.#network} and receiver_authorizer = ${receiverAuthorizer} and charged > total_claimed
      order by withdraw_amount > 0 desc, charged - total_claimed desc limit ${max}::int`);
    return rows.map((row) => ({
      row: parseChannelRow(row),
      ageSeconds: Number(row.age ?? 0),
      failedSeconds: row.failed === null ? null : Number(row.failed),
    }));
  }

  async markFailed(channelId: Hex): Promise<void> {
    await this.#store.run(sql`update payment_channels set claim_failed_at = now()
      where network = ${this.#network} and channel_id = ${channelId}`);
  }

  async addTransaction(transaction: Hex, kind: "claim" | "refund", channels: readonly Hex[]): Promise<void> {
    await this.#store.run(sql`insert into channel_transactions (network, transaction, kind, channels, is_open)
      values (${this.#network}, ${transaction}, ${kind}, ${channels}::text[], true) on conflict do nothing`);
  }

  async closeTransaction(transaction: Hex): Promise<void> {
    await this.#store.run(sql`update channel_transactions set is_open = false
      where network = ${this.#network} and transaction = ${transaction}`);
  }

  async findOpenTransactions(): Promise<readonly OpenTransaction[]> {
    const rows = await this.#store.run<{ transaction: Hex; age: number }>(sql`select transaction,
        ${secondsSince("created_at")} as age
      from channel_transactions where network = ${this.#network} and is_open order by created_at`);
    return rows.map(({ transaction, age }) => ({ transaction, ageSeconds: Number(age) }));
  }

  async readTotals(receiverAuthorizer: Hex): Promise<ChannelTotals> {
    const [row] = await this.#store.run(sql`select count(*)::int as channels,
        coalesce(sum(charged - total_claimed), 0)::text as unclaimed,
        coalesce(sum(greatest(0, least(charged, balance - withdraw_amount) - total_claimed)), 0)::text as covered,
        coalesce(max(${secondsSince("unclaimed_since")}), 0) as oldest
      from payment_channels
      where network = ${this.#network} and receiver_authorizer = ${receiverAuthorizer} and charged > total_claimed`);
    return {
      channels: Number(row?.channels ?? 0),
      unclaimed: BigInt(String(row?.unclaimed ?? 0)),
      covered: BigInt(String(row?.covered ?? 0)),
      oldestSeconds: Number(row?.oldest ?? 0),
    };
  }

  /** Deletes what no retry asks for. */
  async prune(responseRetentionMs: number, transactionRetentionMs: number): Promise<void> {
    const before = (ms: number) => sql`now() - ${ms}::double precision * interval '1 millisecond'`;
    await this.#store.run(sql`delete from channel_purchases
      where network = ${this.#network} and created_at < ${before(responseRetentionMs)}`);
    await this.#store.run(sql`delete from channel_transactions
      where network = ${this.#network} and not is_open and created_at < ${before(transactionRetentionMs)}`);
  }
}

function secondsSince(column: "unclaimed_since" | "claim_failed_at" | "created_at"): SqlText {
  return sql`extract(epoch from now() - ${rawSql(column)})::int`;
}
