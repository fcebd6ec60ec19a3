// The statements of claims: which channels have vouchers to claim, and which transactions may still be mined.
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type RawSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { LEASE_OVER } from "../ledger/lease.ts";
import { fromNow } from "../ledger/statements.ts";
import type { VoucherClaim } from "./channel-config.ts";
import { CHANNEL_COLUMNS, type ChannelRow, parseChannelRow } from "./channel-row.ts";

/** A channel, and what of its voucher is not claimed. */
export type UnclaimedChannel = {
  readonly row: ChannelRow;
  readonly ageSeconds: number;
  /** Our node has shown no block for so long that a withdrawal may have started unseen. */
  readonly isBlind: boolean;
  /** The size of the transaction that it is claimed in, after a larger one with it has reverted; null if any will do. */
  readonly group: number | null;
};

/** The part of a claim that is recorded before it is sent. */
export type SentClaim = {
  readonly channelId: Hex;
  readonly total: bigint;
  readonly claim: Pick<VoucherClaim, "maxClaimable">;
};

/** A transaction that was sent and whose outcome is not recorded. */
type OpenTransaction = { readonly transaction: Hex; readonly ageSeconds: number };

export type ChannelTotals = {
  readonly channels: number;
  /** In the token's units. */
  readonly unclaimed: bigint;
  /** The part of it that channels owe of which a claim is worth its gas. */
  readonly due: bigint;
  /** The part of that which the contract holds for us, also if pending withdrawals end first. */
  readonly covered: bigint;
  /** Age of a voucher that is due; 0 without one. */
  readonly oldestSeconds: number;
  /** The part of what is unclaimed that its channels hold no longer. */
  readonly lost: bigint;
  /** The sum that is owed under keys that this process does not have. */
  readonly keyless: { readonly channels: number; readonly unclaimed: bigint };
  /** Channels that are not served because another database claims on them. */
  readonly elsewhere: number;
};

export type SentTransaction = {
  readonly kind: "claim" | "refund";
  readonly channelIds: readonly Hex[];
  readonly claims: readonly SentClaim[];
};

// Everything is claimed when no block was seen for a third of the delay: the claim has two thirds to be mined.
const BLIND_PER_DELAY = 3;

export class ClaimRows {
  readonly #store: StatementRunner;
  readonly #network: string;

  readonly #retryMs: number;

  constructor(store: StatementRunner, network: string, { claimRetryMs }: { readonly claimRetryMs: number }) {
    this.#store = store;
    this.#network = network;
    this.#retryMs = claimRetryMs;
  }

  /**
   * Finds channels with anything to claim that was neither sent nor rejected a short time ago. Withdrawals that have started
   * come first, then the largest sums.
   */
  async findUnclaimed(
    receiverAuthorizers: readonly Hex[],
    max: number,
    rowMin: bigint = 0n,
  ): Promise<readonly UnclaimedChannel[]> {
    const isRecent = (column: "claim_sent_at" | "claim_failed_at") => isWithin(rawSql(column), this.#retryMs);
    const sent = sql`case when ${isRecent("claim_sent_at")} then coalesce(claim_sent, 0) else 0 end`;
    const rows =
      await this.#store.run(sql`select ${CHANNEL_COLUMNS}, claim_group, ${secondsSince("unclaimed_since")} as age,
        abs(extract(epoch from now()) - coalesce(block_time, 0)) > withdraw_delay / ${BLIND_PER_DELAY}::int as blind
      from payment_channels left join (select block_time from channel_scans where network = ${this.#network}) s on true
      where network = ${this.#network} and receiver_authorizer = any(${receiverAuthorizers}::text[]) and charged > total_claimed
        and least(charged, balance) > greatest(total_claimed, ${sent})
        and least(charged, balance) - total_claimed >= ${rowMin.toString()}::numeric
        and ${isRecent("claim_failed_at")} is not true
      order by withdraw_amount > 0 desc, charged - total_claimed desc limit ${max}::int`);
    return rows.map((row) => ({
      row: parseChannelRow(row),
      ageSeconds: Number(row.age ?? 0),
      isBlind: row.blind === true,
      group: row.claim_group === null ? null : Number(row.claim_group),
    }));
  }

  /**
   * Finds other channels, or `only` one, with a refund that was recorded, may still be used, and was not sent a short time ago, the largest
   * first.
   */
  async findOpenRefunds(
    receiverAuthorizers: readonly Hex[],
    { max, except, only }: { readonly max: number; readonly except: readonly Hex[]; readonly only?: Hex },
  ): Promise<readonly ChannelRow[]> {
    const rows = await this.#store.run(sql`select ${CHANNEL_COLUMNS} from payment_channels c
      where network = ${this.#network} and receiver_authorizer = any(${receiverAuthorizers}::text[])
        and channel_id <> all(${except}::text[]) and channel_id = coalesce(${only ?? null}::text, channel_id)
        and signed_refund_nonce >= refund_nonce and ${LEASE_OVER}
        and not exists (select 1 from channel_transactions t where t.network = c.network and t.kind = 'refund'
          and c.channel_id = any(t.channels) and ${isWithin(rawSql("t.created_at"), this.#retryMs)})
      order by signed_refund desc limit ${max}::int`);
    return rows.map(parseChannelRow);
  }

  async markFailed(channelIds: readonly Hex[]): Promise<void> {
    await this.#store.run(sql`update payment_channels set claim_failed_at = now()
      where network = ${this.#network} and channel_id = any(${channelIds}::text[])`);
  }

  /** Records a transaction with its channels and what it claims of them, all or nothing, before it is sent. */
  async addTransaction(transaction: Hex, { kind, channelIds, claims }: SentTransaction): Promise<void> {
    const ids = claims.map(({ channelId }) => channelId);
    const totals = claims.map(({ total }) => total.toString());
    const vouchers = claims.map(({ claim }) => claim.maxClaimable.toString());
    await this.#store.run(sql`with recorded as (insert into channel_transactions
          (network, transaction, kind, channels, is_open)
        values (${this.#network}, ${transaction}, ${kind}, ${channelIds}::text[], true) on conflict do nothing)
      update payment_channels c set claim_sent = n.total, claim_sent_at = now(),
        published = greatest(c.published, n.voucher)
      from unnest(${ids}::text[], ${totals}::numeric[], ${vouchers}::numeric[]) as n (id, total, voucher)
      where c.network = ${this.#network} and c.channel_id = n.id`);
  }

  /**
   * Ends the wait for a transaction. Claims of one that is gone may be sent again at once, those of a refund that has reverted,
   * because anyone who has seen its signature can use it first, and those of several channels that have reverted for one: in
   * two halves.
   */
  async closeTransaction(transaction: Hex, outcome: "mined" | "reverted" | "gone"): Promise<void> {
    const isReverted = sql`(${outcome}::text = 'reverted' and kind = 'claim')`;
    const isMined = sql`${outcome}::text = 'mined'`;
    await this.#store.run(sql`with closed as (update channel_transactions set is_open = false,
          reverted_at = case when ${isReverted} then now() end
        where network = ${this.#network} and transaction = ${transaction}
        returning channels, cardinality(channels) as size, kind)
      update payment_channels c
      set claim_sent = case when ${isMined} or ${isReverted} and size = 1 then claim_sent end,
        claim_group = case when ${isReverted} then (size + 1) / 2 when ${isMined} then null else claim_group end
      from closed where c.network = ${this.#network} and c.channel_id = any(channels)
        and (not ${isMined} or claim_group is not null)`);
  }

  /** Counts transactions of claims that have reverted within the time in which a claim is not sent again. */
  async countReverted(): Promise<number> {
    const [row] = await this.#store.run<{ count: number }>(sql`select count(*)::int as count
      from channel_transactions where network = ${this.#network} and ${isWithin(rawSql("reverted_at"), this.#retryMs)}`);
    return Number(row?.count ?? 0);
  }

  async findOpenTransactions(): Promise<readonly OpenTransaction[]> {
    const rows = await this.#store.run<{ transaction: Hex; age: number }>(sql`select transaction,
        ${secondsSince("created_at")} as age
      from channel_transactions where network = ${this.#network} and is_open order by created_at`);
    return rows.map(({ transaction, age }) => ({ transaction, ageSeconds: Number(age) }));
  }

  /** Sums up all channels, also those whose keys this process does not have. */
  async readTotals(receiverAuthorizers: readonly Hex[], rowMin: bigint = 0n): Promise<ChannelTotals> {
    const isDue = sql`filter (where least(charged, balance) > total_claimed
      and least(charged, balance) - total_claimed >= ${rowMin.toString()}::numeric)`;
    const isKeyless = sql`filter (where receiver_authorizer <> all(${receiverAuthorizers}::text[]))`;
    const [row] = await this.#store.run(sql`select count(*)::int as channels,
        coalesce(sum(charged - total_claimed), 0)::text as unclaimed,
        coalesce(sum(charged - total_claimed) ${isDue}, 0)::text as due,
        coalesce(sum(greatest(0, least(charged, balance - withdraw_amount) - total_claimed)) ${isDue}, 0)::text as covered,
        coalesce(max(${secondsSince("unclaimed_since")}) ${isDue}, 0) as oldest,
        coalesce(sum(greatest(0, charged - greatest(balance, total_claimed))), 0)::text as lost,
        (count(*) ${isKeyless})::int as keyless_channels,
        coalesce(sum(charged - total_claimed) ${isKeyless}, 0)::text as keyless,
        (select count(*) from payment_channels where network = ${this.#network}
          and claimed_elsewhere_at is not null)::int as elsewhere
      from payment_channels where network = ${this.#network} and charged > total_claimed`);
    const units = (column: string) => BigInt(String(row?.[column] ?? 0));
    return {
      channels: Number(row?.channels ?? 0),
      unclaimed: units("unclaimed"),
      due: units("due"),
      covered: units("covered"),
      oldestSeconds: Number(row?.oldest ?? 0),
      lost: units("lost"),
      keyless: { channels: Number(row?.keyless_channels ?? 0), unclaimed: units("keyless") },
      elsewhere: Number(row?.elsewhere ?? 0),
    };
  }

  /**
   * Deletes channels without a purchase or a transaction of late of which the final chain shows nothing left to claim, because
   * all is claimed or their payers have taken the rest back: a voucher adds them again as the chain has them. What a refund may
   * still take is known only here.
   */
  async dropIdle(idleMs: number, max: number): Promise<{ readonly channels: number; readonly lost: bigint }> {
    const nothingLeft = rawSql("(charged = total_claimed or balance <= total_claimed)");
    const idleSince = fromNow(-idleMs);
    const rows = await this.#store.run(sql`delete from payment_channels where network = ${this.#network}
        and channel_id in (select channel_id from payment_channels c
          join channel_scans s on s.network = c.network and c.block_number <= s.final_number
          where c.network = ${this.#network} and ${nothingLeft} and c.created_at < ${idleSince}
            and (c.sponsored_at is null or c.sponsored_at < ${idleSince}) and c.claimed_elsewhere_at is null
            and (c.signed_refund_nonce is null or c.signed_refund_nonce < c.refund_nonce)
            and ${LEASE_OVER}
            and not exists (select 1 from channel_purchases p where p.network = c.network
              and p.channel_id = c.channel_id and p.created_at >= ${idleSince})
          limit ${max}::int)
        and ${nothingLeft} and ${LEASE_OVER}
      returning (charged - total_claimed)::text as lost`);
    return { channels: rows.length, lost: rows.reduce((sum, { lost }) => sum + BigInt(String(lost)), 0n) };
  }

  /** Drops responses that are stored for a short time; their purchases stay, so that no voucher buys twice. */
  async dropResponses(max: number): Promise<void> {
    await this.#store.run(sql`update channel_purchases set answer_body = '', answer_until = null
      where network = ${this.#network} and (channel_id, cumulative) in (select channel_id, cumulative
        from channel_purchases where network = ${this.#network} and answer_until < now()
        limit ${max}::int for update skip locked)`);
  }

  /** Deletes what no retry asks for. */
  async prune(responseRetentionMs: number, transactionRetentionMs: number): Promise<void> {
    const before = (ms: number) => sql`now() - ${ms}::double precision * interval '1 millisecond'`;
    await this.#store.run(sql`delete from channel_purchases
      where network = ${this.#network} and created_at < ${before(responseRetentionMs)}`);
    // Transfers find their names in their own rows.
    await this.#store.run(sql`delete from payment_names
      where network = ${this.#network} and created_at < ${before(responseRetentionMs)}`);
    for (const table of ["channel_free_calls", "channel_deposits"]) {
      await this.#store.run(sql`delete from ${rawSql(table)}
        where network = ${this.#network} and since < ${before(responseRetentionMs)}`);
    }
    await this.#store.run(sql`delete from channel_transactions
      where network = ${this.#network} and not is_open and created_at < ${before(transactionRetentionMs)}`);
  }
}

// A later time than that is from a clock that was set back since: it would hold claims for hours.
const CLOCK_TOLERANCE = rawSql("interval '1 minute'");

function isWithin(column: RawSql, ms: number): SqlText {
  return sql`(${column} > ${fromNow(-ms)} and ${column} < now() + ${CLOCK_TOLERANCE})`;
}

/** A time in the future counts as long ago: the clock was set back. */
function secondsSince(column: "unclaimed_since" | "created_at"): SqlText {
  return sql`abs(extract(epoch from now() - ${rawSql(column)}))::int`;
}
