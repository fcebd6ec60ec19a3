// The statements that bring what our own node shows of channels into their rows.
import type { Hex } from "../../lib/hex.ts";
import type { BlockSummary } from "../../schema/chain-log.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type RawSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import type { ChannelConfig } from "./channel-config.ts";
import type { ChangedChannels, ChannelView } from "./channel-reader.ts";
import { type ChannelState, parseScan, type ScanPosition } from "./channel-row.ts";
import type { CHANNEL_LIMITS } from "./limits.ts";

type IdRow = { readonly channel_id: Hex };

// In the statement that notices it, both times are those of its transaction.
const ELSEWHERE_NOW = rawSql(`returning c.channel_id,
  coalesce(c.claimed_elsewhere_at = now(), false) as is_elsewhere_now`);

// A block that was made so long after a position was seen cannot be below it: the node that named the position was wrong.
// Longer than clocks differ, far shorter than a withdrawal takes.
const REFUTED_AFTER = rawSql("interval '1 minute'");

type RowLimits = Pick<typeof CHANNEL_LIMITS, "channelsPerPayerMax" | "channelsMax">;

export class MirrorRows {
  readonly #store: StatementRunner;
  readonly #network: string;
  readonly #limits: RowLimits;

  constructor(store: StatementRunner, network: string, limits: RowLimits) {
    this.#store = store;
    this.#network = network;
    this.#limits = limits;
  }

  async readScan(): Promise<(ScanPosition & { readonly blockAgeMs: number }) | null> {
    const [row] = await this.#store.run(sql`select block_number::text as block_number, block_hash,
        block_time::text as block_time, final_number::text as final_number,
        abs((extract(epoch from now()) - block_time) * 1000)::bigint::text as block_age
      from channel_scans where network = ${this.#network}`);
    return row ? { ...parseScan(row), blockAgeMs: Number(row.block_age) } : null;
  }

  /** Whether a head below the scan shows that no chain has the scan's block: a node had named a head that is too high. */
  async isRefutedBy({ timestamp }: BlockSummary): Promise<boolean> {
    const rows = await this.#store.run(sql`select 1 as one from channel_scans
      where network = ${this.#network} and ${refutes(timestamp, rawSql("read_at"))}`);
    return rows.length > 0;
  }

  /**
   * Finds channels to read again: those that have changed, those whose state a reorg may have undone, those that were read
   * at a later block than the scan, those that were added while the last scan may have run, and a few others that wait
   * longest to be read, in case a node left their events out.
   */
  async findToRead(
    { ids, isReorg, isBehind }: ChangedChannels,
    since: ScanPosition,
    oldestMax: number,
  ): Promise<readonly Hex[]> {
    const network = this.#network;
    const aboveFinal = sql`block_number > ${since.finalNumber}::bigint`;
    const any = isBehind ? sql`true` : isReorg ? aboveFinal : sql`false`;
    const rows = await this.#store.run<IdRow>(sql`select channel_id from payment_channels
        where network = ${network} and (channel_id = any(${[...ids]}::text[]) or seen_block > ${since.number}::bigint
          or created_at > now() - interval '2 minutes' or ${any})
      union (select channel_id from payment_channels where network = ${network} and charged > total_claimed
          and seen_block <= ${since.number}::bigint
        order by seen_at limit ${oldestMax}::int)`);
    return rows.map(({ channel_id }) => channel_id);
  }

  /** How far from now a block is by the database's clock, which all processes share. */
  async readBlockAgeMs({ timestamp }: BlockSummary): Promise<number> {
    const [row] = await this.#store.run<{ age: string }>(
      sql`select abs((extract(epoch from now()) - ${timestamp}::bigint) * 1000)::bigint::text as age`,
    );
    return Number(row?.age);
  }

  async findAll(): Promise<readonly Hex[]> {
    const rows = await this.#store.run<IdRow>(
      sql`select channel_id from payment_channels where network = ${this.#network}`,
    );
    return rows.map(({ channel_id }) => channel_id);
  }

  /**
   * Moves the scan to the block of the view and writes the states, both or neither; neither if another process has moved the
   * scan since it was read: its view counts. Returns the channels of which more was claimed than charged since then.
   */
  async move(
    from: ScanPosition | null,
    view: ChannelView,
    { isReorg }: { readonly isReorg: boolean },
  ): Promise<readonly Hex[]> {
    const { at, finalNumber } = view;
    const network = this.#network;
    const position = sql`block_number = ${at.number}::bigint, block_hash = ${at.hash},
      block_time = ${at.timestamp}::bigint, final_number = ${finalNumber}::bigint, read_at = now()`;
    const moved =
      from === null
        ? sql`insert into channel_scans (network, block_number, block_hash, block_time, final_number, read_at)
            values (${network}, ${at.number}::bigint, ${at.hash}, ${at.timestamp}::bigint, ${finalNumber}::bigint, now())
            on conflict (network) do nothing returning 1`
        : sql`update channel_scans set ${position} where network = ${network}
            and block_number = ${from.number}::bigint and block_hash = ${from.hash} returning 1`;
    // A row of a higher block that never was is taken back here only: the next events are read from this very block on.
    const mayGoBack = isReorg ? sql`true` : refutes(at.timestamp, rawSql("c.seen_at"));
    const guard = sql`exists (select 1 from moved)`;
    const rows = await this.#store.run<IdRow>(sql`with moved as (${moved}),
        updated as (${this.#update(view, mayGoBack, guard)} ${ELSEWHERE_NOW})
      select channel_id from updated where is_elsewhere_now`);
    return rows.map(({ channel_id }) => channel_id);
  }

  /** Writes states that were read apart from the scan; returns what `move` does. */
  async write(view: ChannelView): Promise<readonly Hex[]> {
    const rows =
      await this.#store.run<IdRow>(sql`with updated as (${this.#update(view, sql`false`, sql`true`)}
        ${ELSEWHERE_NOW})
      select channel_id from updated where is_elsewhere_now`);
    return rows.map(({ channel_id }) => channel_id);
  }

  /**
   * Adds a channel; says which limit keeps it out. What it holds may still be undone, whatever the view says: only time
   * makes it final.
   */
  async insert(
    channelId: Hex,
    config: ChannelConfig,
    state: ChannelState,
    { at }: ChannelView,
  ): Promise<"added" | "payer" | "all"> {
    const { channelsPerPayerMax, channelsMax } = this.#limits;
    const network = this.#network;
    const { balance, totalClaimed, withdrawAmount, withdrawStarted, refundNonce } = state;
    const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt } = config;
    const [row] = await this.#store.run<{ of_payer: number; of_all: number }>(sql`with counted as (select
          (select count(*) from (select 1 from payment_channels where network = ${network} and payer = ${payer}
            and payer_authorizer = ${payerAuthorizer} limit ${channelsPerPayerMax}::int) p)::int as of_payer,
          (select count(*) from (select 1 from payment_channels where network = ${network}
            limit ${channelsMax}::int) a)::int as of_all),
      added as (insert into payment_channels (network, channel_id, payer, payer_authorizer, receiver,
        receiver_authorizer, token, withdraw_delay, salt, balance, final_balance, total_claimed, withdraw_amount,
        withdraw_started, refund_nonce, block_number, seen_block, charged)
      select ${network}, ${channelId}, ${payer}, ${payerAuthorizer}, ${receiver}, ${receiverAuthorizer},
        ${token}, ${withdrawDelay}::int, ${salt}, ${balance.toString()}::numeric, 0, ${totalClaimed.toString()}::numeric,
        ${withdrawAmount.toString()}::numeric, ${withdrawStarted}::bigint, ${refundNonce.toString()}::numeric,
        ${at.number}::bigint, ${at.number}::bigint, ${totalClaimed.toString()}::numeric
      from counted where of_payer < ${channelsPerPayerMax}::int and of_all < ${channelsMax}::int
      on conflict do nothing)
      select of_payer, of_all from counted`);
    if (Number(row?.of_payer) >= channelsPerPayerMax) return "payer";
    return Number(row?.of_all) >= channelsMax ? "all" : "added";
  }

  /**
   * A view of an earlier block than the row has already changes nothing, unless it `mayGoBack`. A claim that a reorg has
   * undone may be sent again at once.
   */
  #update({ at, finalNumber, states }: ChannelView, mayGoBack: SqlText, guard: SqlText): SqlText {
    const list = [...states];
    const texts = (of: (state: ChannelState) => bigint | number) =>
      list.map(([, state]) => String(of(state)));
    return sql`update payment_channels c set
        final_balance = least(n.balance,
          case when c.block_number <= ${finalNumber}::bigint then c.balance else c.final_balance end),
        block_number = case when c.balance = n.balance and c.total_claimed = n.total_claimed
            and c.withdraw_amount = n.withdraw_amount and c.withdraw_started = n.withdraw_started
            and c.refund_nonce = n.refund_nonce then least(c.block_number, ${at.number}::bigint)
          else ${at.number}::bigint end,
        balance = n.balance, total_claimed = n.total_claimed, withdraw_amount = n.withdraw_amount,
        withdraw_started = n.withdraw_started, refund_nonce = n.refund_nonce,
        charged = greatest(c.charged, n.total_claimed),
        claimed_elsewhere_at = case when n.total_claimed > c.charged then coalesce(c.claimed_elsewhere_at, now())
          else c.claimed_elsewhere_at end,
        signature = case when n.total_claimed > c.charged then null else c.signature end,
        unclaimed_since = case when n.total_claimed >= c.charged then null
          when n.total_claimed > c.total_claimed then now() else coalesce(c.unclaimed_since, now()) end,
        claim_failed_at = case when n.total_claimed > c.total_claimed then null else c.claim_failed_at end,
        claim_sent = case when n.total_claimed < c.total_claimed then null else c.claim_sent end,
        seen_block = ${at.number}::bigint, seen_at = now()
      from unnest(${list.map(([id]) => id)}::text[], ${texts(({ balance }) => balance)}::numeric[],
        ${texts(({ totalClaimed }) => totalClaimed)}::numeric[], ${texts(({ withdrawAmount }) => withdrawAmount)}::numeric[],
        ${texts(({ withdrawStarted }) => withdrawStarted)}::bigint[], ${texts(({ refundNonce }) => refundNonce)}::numeric[])
        as n (id, balance, total_claimed, withdraw_amount, withdraw_started, refund_nonce)
      where c.network = ${this.#network} and c.channel_id = n.id
        and (c.seen_block <= ${at.number}::bigint or ${mayGoBack}) and ${guard}`;
  }
}

/**
 * Whether a block of that time was made after something was seen of a block above it. A node that lags has older blocks, so
 * it refutes nothing. A time that is still to come is from a clock that was set back since.
 */
function refutes(timestamp: number, seenAt: RawSql): SqlText {
  return sql`(${seenAt} > now() + ${REFUTED_AFTER} or ${seenAt} < now() - ${REFUTED_AFTER}
    and to_timestamp(${timestamp}::bigint) > ${seenAt} + ${REFUTED_AFTER})`;
}
