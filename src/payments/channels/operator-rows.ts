// The statements of `sextant channels`: what channels owe and hold, and what the operator wants a running service to do.
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import { LEASE_OVER } from "../ledger/lease.ts";

export type ListedChannel = {
  readonly network: string;
  readonly channel: Hex;
  readonly payer: Hex;
  readonly token: Hex;
  readonly state: "open" | "withdrawing" | "refunding" | "elsewhere";
  /** In the token's smallest units. */
  readonly unclaimed: bigint;
  readonly charged: bigint;
  readonly balance: bigint;
  /** The part that its payer may still spend or take back. */
  readonly free: bigint;
  /** Age of the oldest voucher that is not claimed; null without one. */
  readonly oldestSeconds: number | null;
  /** Until a withdrawal may end; null without one. */
  readonly withdrawSeconds: number | null;
};

/** `refund` without an amount gives everything back. */
type OperatorInstruction =
  | { readonly kind: "claim" }
  | { readonly kind: "refund"; readonly amount: bigint | null };

export type InstructedChannel = {
  readonly channelId: Hex;
  readonly instruction: OperatorInstruction;
  /** Tells it from a later one of the same channel. */
  readonly instructedAt: string;
};

// A run of maintenance carries out a few: each waits for a block.
const INSTRUCTIONS_PER_RUN = 5;
const LISTED_MAX = 10_000;

/** Matches an id or its beginning; everything without one. */
const matching = (id: string | null): SqlText =>
  id === null ? sql`true` : sql`starts_with(channel_id, ${id.toLowerCase()})`;

export async function listChannels(
  store: StatementRunner,
  id: string | null,
): Promise<readonly ListedChannel[]> {
  const rows = await store.run<JsonObject>(sql`select network, channel_id, payer, token,
      case when claimed_elsewhere_at is not null then 'elsewhere' when withdraw_amount > 0 then 'withdrawing'
        when signed_refund_nonce >= refund_nonce then 'refunding' else 'open' end as state,
      charged::text as charged, balance::text as balance, (charged - total_claimed)::text as unclaimed,
      greatest(0, balance - charged)::text as free,
      case when charged > total_claimed then extract(epoch from now() - unclaimed_since)::int end as oldest,
      case when withdraw_amount > 0
        then greatest(0, withdraw_started + withdraw_delay - extract(epoch from now()))::int end as withdraw
    from payment_channels where ${matching(id)}
    order by withdraw_amount > 0 desc, charged - total_claimed desc, channel_id limit ${LISTED_MAX}::int`);
  return rows.map((row) => ({
    network: String(row.network),
    channel: String(row.channel_id) as Hex,
    payer: String(row.payer) as Hex,
    token: String(row.token) as Hex,
    state: row.state as ListedChannel["state"],
    unclaimed: BigInt(String(row.unclaimed)),
    charged: BigInt(String(row.charged)),
    balance: BigInt(String(row.balance)),
    free: BigInt(String(row.free)),
    oldestSeconds: row.oldest === null ? null : Number(row.oldest),
    withdrawSeconds: row.withdraw === null ? null : Number(row.withdraw),
  }));
}

/** Writes down what the operator wants; returns the channels. Those that owe nothing are not claimed. */
export async function instruct(
  store: StatementRunner,
  id: string | null,
  wanted: OperatorInstruction,
): Promise<readonly Hex[]> {
  const amount = wanted.kind === "refund" && wanted.amount !== null ? wanted.amount.toString() : null;
  const rows = await store.run<{
    channel_id: Hex;
  }>(sql`update payment_channels set instruction = ${wanted.kind},
      instruction_amount = ${amount}::numeric, instruction_result = null, instructed_at = clock_timestamp()
    where ${matching(id)} and (${wanted.kind} = 'refund' or charged > total_claimed)
    returning channel_id`);
  return rows.map(({ channel_id }) => channel_id);
}

/** Serves channels again that another database seemed to claim. */
export async function freeChannels(store: StatementRunner, id: string | null): Promise<readonly Hex[]> {
  const rows = await store.run<{
    channel_id: Hex;
  }>(sql`update payment_channels set claimed_elsewhere_at = null
    where ${matching(id)} and claimed_elsewhere_at is not null returning channel_id`);
  return rows.map(({ channel_id }) => channel_id);
}

/** Reads what became of an instruction; null while it is not carried out. */
export async function readInstructionResult(store: StatementRunner, channelId: Hex): Promise<string | null> {
  const [row] = await store.run<{ result: string | null }>(sql`select
      case when instruction is null then coalesce(instruction_result, 'done') end as result
    from payment_channels where channel_id = ${channelId}`);
  return row === undefined ? "The channel is no longer known." : row.result;
}

export class OperatorInstructions {
  readonly #store: StatementRunner;
  readonly #network: string;

  constructor(store: StatementRunner, network: string) {
    this.#store = store;
    this.#network = network;
  }

  /** The oldest first. One of a channel that a request has taken keeps no others back. */
  async find(): Promise<readonly InstructedChannel[]> {
    const rows = await this.#store.run<JsonObject>(sql`select channel_id, instruction,
        instruction_amount::text as amount, instructed_at::text as instructed_at
      from payment_channels where network = ${this.#network} and instruction is not null
        and (instruction = 'claim' or ${LEASE_OVER})
      order by payment_channels.instructed_at limit ${INSTRUCTIONS_PER_RUN}::int`);
    return rows.map(({ channel_id, instruction: kind, amount, instructed_at }) => ({
      channelId: String(channel_id) as Hex,
      instruction:
        kind === "claim"
          ? { kind: "claim" }
          : { kind: "refund", amount: amount === null ? null : BigInt(String(amount)) },
      instructedAt: String(instructed_at),
    }));
  }

  /**
   * Null if the instruction is over, or is no longer the channel's. `signed` is the result of a refund that was signed for it.
   * Only the owner of the channel can rely on it.
   */
  async read({
    channelId,
    instructedAt,
  }: InstructedChannel): Promise<{ readonly signed: string | null } | null> {
    const [row] = await this.#store.run<{ signed: string | null }>(sql`select instruction_result as signed
      from payment_channels where network = ${this.#network} and channel_id = ${channelId}
        and instruction is not null and instructed_at = ${instructedAt}::timestamptz`);
    return row ?? null;
  }

  /** The first of two processes says what became of it; a later instruction of the channel stays. */
  async finish({ channelId, instructedAt }: InstructedChannel, result: string): Promise<void> {
    await this.#store.run(sql`update payment_channels
      set instruction = null, instruction_amount = null, instruction_result = ${result}
      where network = ${this.#network} and channel_id = ${channelId} and instruction is not null
        and instructed_at = ${instructedAt}::timestamptz`);
  }
}
