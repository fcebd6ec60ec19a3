// The rows of channels and of what they bought: each change is one statement, whose predicate names what it expects.
import type { Hex } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { prepareSql, type RawSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { LEASE_OVER } from "../ledger/lease.ts";
import type { PaymentKey, StoredResponse } from "../ledger/row.ts";
import { fromNow, TRANSFER_SCHEME } from "../ledger/statements.ts";
import type { ChannelConfig } from "./channel-config.ts";
import {
  type AgedScan,
  CHANNEL_COLUMNS,
  type ChannelRow,
  PURCHASE_COLUMNS,
  type Purchase,
  parseAgedScan,
  parseChannelRow,
  parsePurchase,
} from "./channel-row.ts";
import { takeFreeCallSql } from "./free-calls.ts";
import { type NamedTransfer, namedTransferSql, parseNamedTransfer, takeNameSql } from "./purchase-names.ts";

/** State in which a request finds its channel. */
export type OpenedChannel = {
  /** Null if the channel is not known. */
  readonly row: ChannelRow | null;
  /** The purchase with the same identifier, or else with the same voucher. */
  readonly purchase: Purchase | null;
  /** The transfer under the same identifier, if it was or may be made. */
  readonly transfer: NamedTransfer | null;
  /** The transfer that had the identifier last, and cannot be made; null if none had it. */
  readonly formerHolder: string | null;
  /** "work": the channel is the request's. "correct": it waits for the client to sign again. Null: another one's. */
  readonly turn: "work" | "correct" | null;
  /** Failures of its handlers within the window. */
  readonly failures: number;
  readonly scan: AgedScan | null;
};

export type FoundChannel = { readonly row: ChannelRow; readonly scan: AgedScan | null };

type OpenRequest = {
  readonly channelId: Hex;
  readonly maxClaimable: bigint;
  readonly amount: bigint;
  readonly payer: Hex;
  readonly token: Hex;
  readonly fingerprint: string;
  readonly paymentId: string | null;
};

/** Everything that is stored when a purchase is charged. */
type Charge = {
  readonly config: ChannelConfig;
  readonly signature: Hex;
  readonly purchase: Purchase;
  readonly response: StoredResponse;
  /** How long it is stored; null if as long as the purchase. */
  readonly responseMs: number | null;
  /** As the channel was opened with it: a transfer that took the identifier meanwhile has it. */
  readonly formerHolder: string | null;
  /** The payer's quota of free calls; 0 if this call is charged in any case. */
  readonly freeCallsPerHour: number;
};

/** The cost of a purchase, and the free calls that its payer has left; null if the call was charged in any case. */
type Charged = { readonly amount: bigint; readonly freeCallsLeft: number | null };

type ChannelTimes = {
  readonly leaseMs: number;
  /** How long the turn is kept for a client that was corrected. */
  readonly correctionMs: number;
  readonly failureWindowMs: number;
  readonly failuresMax: number;
  readonly sponsoredFreeMax: number;
  readonly sponsoredNewPerHourMax: number;
  readonly freeQuotasPerHourMax: number;
};

const FREE = rawSql("owner = null, owner_works = false, lease_until = null");
// The statement does not wait for its commit to reach the disk or a standby. A turn that a crash takes away charges nothing: the
// statement that charges, which waits, finds no owner then.
const UNFLUSHED = rawSql("set_config('synchronous_commit', 'off', true)");
const UNIQUE_VIOLATION = "23505";

export class ChannelRows {
  readonly #store: StatementRunner;
  readonly #network: string;
  readonly #times: ChannelTimes;

  constructor(store: StatementRunner, network: string, times: ChannelTimes) {
    this.#store = store;
    this.#network = network;
    this.#times = times;
  }

  #where(channelId: Hex): SqlText {
    return sql`network = ${this.#network} and channel_id = ${channelId}`;
  }

  /**
   * Reads all that decides about a voucher, and takes the channel unless another request acts on it or the purchase was
   * made: to work if the voucher is the next one, otherwise to correct the client. A client that was corrected finds
   * its turn kept. A voucher that anyone may have takes no turn.
   */
  async open(request: OpenRequest, owner: string): Promise<OpenedChannel> {
    const { channelId, maxClaimable, amount, payer, token, fingerprint, paymentId } = request;
    const { leaseMs, correctionMs, failureWindowMs, failuresMax } = this.#times;
    const network = this.#network;
    const max = sql`${maxClaimable.toString()}::numeric`;
    const isNext = sql`charged + ${amount.toString()}::numeric = ${max}`;
    const failures = sql`case when failed_at > ${fromNow(-failureWindowMs)} then failures else 0 end`;
    const id = sql`${paymentId}::text`;
    const statement = sql`with
      bought as (select ${PURCHASE_COLUMNS} from channel_purchases where network = ${network}
          and (channel_id = ${channelId} and cumulative = ${max}
            or token = ${token} and payer = ${payer} and payment_id = ${id})
        order by payment_id is not distinct from ${id} desc limit 1),
      named as (${namedTransferSql({ network, token, payer, paymentId })}),
      taken as (update payment_channels set owner = ${owner}, owner_works = ${isNext}, kept_for = ${fingerprint},
          lease_until = case when ${isNext} then ${fromNow(leaseMs)} else ${fromNow(correctionMs)} end
        where ${this.#where(channelId)} and (${LEASE_OVER}
            or ${isNext} and not owner_works and kept_for = ${fingerprint})
          and claimed_elsewhere_at is null
          and (${max} > greatest(total_claimed, published) or ${max} = 0) and ${failures} < ${failuresMax}::int and not exists (select 1 from named)
          and not exists (select 1 from bought where payment_id is not distinct from ${id}
            and (${id} is not null or fingerprint = ${fingerprint}))
        returning owner_works, charged)
      select row_to_json(known) as channel, row_to_json(bought) as purchase, row_to_json(scan) as scan,
        (select owner_works from taken) as works, (select charged::text from taken) as taken_charged,
        (select row_to_json(named) from named) as transfer,
        (select holder from payment_names where network = ${network} and token = ${token} and payer = ${payer}
          and payment_id = ${id} and scheme = ${TRANSFER_SCHEME}) as former_holder,
        coalesce(known.failures, 0) as failures, ${UNFLUSHED}
      from (select 1) one
        left join (select ${CHANNEL_COLUMNS}, ${failures} as failures from payment_channels
          where ${this.#where(channelId)}) known on true
        left join bought on true
        left join (${this.#scan()}) scan on true`;
    const run = prepareSql("channel_open", statement);
    const [found] = await this.#store.run<Record<string, unknown>>(run);
    const opened = parseOpened(found ?? {});
    const takenCharged = found?.taken_charged ?? null;
    if (takenCharged === null || takenCharged === opened.row?.charged.toString()) return opened;
    // Another request charged the channel while this statement waited for its row: what else was read is older, and the
    // purchase may be this very one.
    await this.release(channelId, owner, { hasFailed: false });
    return this.open(request, owner);
  }

  /** A channel, and how far all of them were read; null if it is not known. */
  async find(channelId: Hex): Promise<FoundChannel | null> {
    const [found] = await this.#store.run<Record<string, unknown>>(sql`select row_to_json(known) as channel,
        row_to_json(scan) as scan
      from (select ${CHANNEL_COLUMNS} from payment_channels where ${this.#where(channelId)}) known
        left join (${this.#scan()}) scan on true`);
    const { row, scan } = parseOpened(found ?? {});
    return row && { row, scan };
  }

  /** A read or a block in the future is as old: the clock was set back, and tells no age. */
  #scan(): SqlText {
    return sql`select block_number, block_hash, block_time, final_number,
        abs(extract(epoch from now() - read_at) * 1000)::bigint as age_ms,
        abs((extract(epoch from now()) - block_time) * 1000)::bigint as block_age_ms
      from channel_scans where network = ${this.#network}`;
  }

  /** The purchase that an identifier names, and the state of a transfer's own row; null without a purchase. */
  async findNamed({
    asset,
    payer,
    nonce,
    paymentId,
  }: Pick<PaymentKey, "asset" | "payer" | "nonce"> & { readonly paymentId: string }): Promise<{
    readonly purchase: Purchase;
    readonly transferState: string | null;
  } | null> {
    const [row] = await this.#store.run<JsonObject>(sql`select ${PURCHASE_COLUMNS},
        (select state from payments where network = ${this.#network} and asset = ${asset} and payer = ${payer}
          and nonce = ${nonce}) as state
      from channel_purchases where network = ${this.#network} and token = ${asset} and payer = ${payer}
        and payment_id = ${paymentId}`);
    if (!row) return null;
    return { purchase: parsePurchase(row), transferState: row.state === null ? null : String(row.state) };
  }

  /** Takes the channel to work on it without a voucher; false while another request has it. */
  async take(channelId: Hex, owner: string): Promise<boolean> {
    const rows = await this.#store.run(sql`update payment_channels set owner = ${owner}, owner_works = true,
        kept_for = null, lease_until = ${fromNow(this.#times.leaseMs)}
      where ${this.#where(channelId)} and ${LEASE_OVER} returning 1 as done`);
    return rows.length === 1;
  }

  /** Extends the turn of a request that works. */
  async renew(channelId: Hex, owner: string): Promise<void> {
    await this.#store.run(sql`update payment_channels set lease_until = ${fromNow(this.#times.leaseMs)}
      where ${this.#where(channelId)} and owner = ${owner} and owner_works`);
  }

  /**
   * Records a refund before it is signed, as the owner: from then on its amount covers no voucher. False if the turn was
   * lost, if the channel has changed, or if another refund may still be used. The operator's instruction for it gets its
   * result at once: no process may carry it out again.
   */
  async recordRefund(
    row: ChannelRow,
    amount: bigint,
    owner: string,
    instructed: { readonly instructedAt: string; readonly result: string } | null = null,
  ): Promise<boolean> {
    const nonce = sql`${row.refundNonce.toString()}::numeric`;
    const rows = await this.#store.run(sql`update payment_channels
      set signed_refund = ${amount.toString()}::numeric, signed_refund_nonce = ${nonce},
        instruction_result = case when instructed_at = ${instructed?.instructedAt ?? null}::timestamptz
          then ${instructed?.result ?? null} else instruction_result end
      where ${this.#where(row.channelId)} and owner = ${owner} and owner_works and lease_until > now()
        and refund_nonce = ${nonce} and charged = ${row.charged.toString()}::numeric
        and charged + ${amount.toString()}::numeric <= balance
        and (signed_refund_nonce is null or signed_refund_nonce < ${nonce})
      returning 1 as done`);
    return rows.length === 1;
  }

  /**
   * Counts a deposit or refund at our cost, once for the same purpose, as the owner. False if the payer's signer has had more
   * of them than its purchases are worth, or the payer more deposits within the hour, or if too many new channels cost us gas
   * within the hour.
   */
  async takeSponsored(
    by: {
      readonly channelId: Hex;
      /** Anyone may name a payer in the channel of a key of its own. */
      readonly config: Pick<ChannelConfig, "payer" | "payerAuthorizer">;
      readonly purpose: string;
      /** Only a deposit that its payer has signed. */
      readonly isDeposit: boolean;
      /** The sum that a payer must have bought for one more. */
      readonly worth: bigint;
    },
    owner: string,
  ): Promise<boolean> {
    const { sponsoredFreeMax, sponsoredNewPerHourMax } = this.#times;
    const { payer, payerAuthorizer } = by.config;
    const network = this.#network;
    const worth = sql`${by.worth.toString()}::numeric`;
    const max = sql`${sponsoredFreeMax}::int + floor(sum(charged) / ${worth})`;
    const ofPayer = sql`from payment_channels p where p.network = ${network} and p.payer = ${payer}`;
    const isOwned = sql`${this.#where(by.channelId)} and owner = ${owner}`;
    const isAllowed = sql`(select sum(sponsored) < ${max} ${ofPayer} and p.payer_authorizer = ${payerAuthorizer})
      and (c.charged >= ${worth} or (select count(*) from payment_channels n where n.network = ${network}
        and n.sponsored_at > now() - interval '1 hour' and n.charged < ${worth}) < ${sponsoredNewPerHourMax}::int)`;
    const isOver = rawSql("known.since <= now() - interval '1 hour'");
    // The row of the payer makes processes wait for each other.
    const counted = sql`with counted as (insert into channel_deposits as known (network, payer, since, deposits)
        select ${network}, ${payer}, now(), 1 from payment_channels c
          where ${isOwned} and sponsored_for is distinct from ${by.purpose} and ${isAllowed}
        on conflict (network, payer) do update set since = case when ${isOver} then now() else known.since end,
          deposits = case when ${isOver} then 1 else known.deposits + 1 end
        where ${isOver} or known.deposits < (select ${max} ${ofPayer}) returning 1) `;
    const rows =
      await this.#store.run(sql`${by.isDeposit ? counted : rawSql("")}update payment_channels c set sponsored_for = ${by.purpose},
        sponsored = sponsored + case when sponsored_for is distinct from ${by.purpose} then 1 else 0 end,
        sponsored_at = case when sponsored_for is distinct from ${by.purpose} then now() else sponsored_at end
      where ${isOwned} and (sponsored_for is not distinct from ${by.purpose}
        or ${by.isDeposit ? rawSql("exists (select from counted)") : isAllowed})
      returning 1 as done`);
    return rows.length === 1;
  }

  /** Forgets a channel that never held or bought anything, as the owner; not one with more transactions at our cost. */
  async dropUnused(channelId: Hex, owner: string, most: { readonly sponsored: number }): Promise<void> {
    await this.#store.run(sql`delete from payment_channels where ${this.#where(channelId)} and owner = ${owner}
      and charged = 0 and balance = 0 and signed_refund is null and sponsored <= ${most.sponsored}::int`);
  }

  /** Gives the turn back; nothing was charged. */
  async release(
    channelId: Hex,
    owner: string,
    { hasFailed }: { readonly hasFailed: boolean },
  ): Promise<void> {
    const window = fromNow(-this.#times.failureWindowMs);
    await this.#store.run(sql`update payment_channels set ${FREE},
        failures = case when not ${hasFailed}::boolean then failures when failed_at > ${window} then failures + 1
          else 1 end,
        failed_at = case when ${hasFailed}::boolean then now() else failed_at end
      where ${this.#where(channelId)} and owner = ${owner}`);
  }

  /**
   * Charges the purchase and stores its response, both or neither. Null if the turn was lost meanwhile, or if the identifier
   * was used for another purchase: nothing is charged. Nor is a call within the quota of free calls: its voucher is still
   * the next one, so that the purchase is stored below all vouchers.
   */
  async charge(
    { config, signature, purchase, response, responseMs, formerHolder, freeCallsPerHour }: Charge,
    owner: string,
  ): Promise<Charged | null> {
    const { channelId, cumulative, amount, fingerprint, paymentId, depositTransaction, depositAmount } =
      purchase;
    const { status, headers, body } = response;
    const total = sql`${cumulative.toString()}::numeric`;
    const price = sql`${amount.toString()}::numeric`;
    const network = this.#network;
    const quota = { perSigner: freeCallsPerHour, quotasMax: this.#times.freeQuotasPerHourMax };
    const isFree = freeCallsPerHour > 0;
    const ifPaid = (then: SqlText | RawSql, otherwise: RawSql) =>
      isFree ? sql`case when exists (select from free) then ${otherwise} else ${then} end` : then;
    const since = sql`coalesce(unclaimed_since, now())`;
    try {
      const statement = sql`with ${isFree ? takeFreeCallSql(network, config.payerAuthorizer, quota) : rawSql("")}
        charged as (update payment_channels set charged = ${ifPaid(total, rawSql("charged"))},
            signature = ${ifPaid(sql`${signature}`, rawSql("signature"))},
            unclaimed_since = ${ifPaid(since, rawSql("unclaimed_since"))}, ${FREE}
          where ${this.#where(channelId)} and owner = ${owner} and owner_works and charged + ${price} = ${total}
          returning 1),
        ${takeNameSql({ network, config, paymentId, formerHolder, owner })}
        insert into channel_purchases (network, channel_id, cumulative, amount, token, payer, fingerprint, payment_id,
          deposit_transaction, deposit_amount, answer_status, answer_headers, answer_body, answer_until)
        select ${network}, ${channelId}, ${ifPaid(total, rawSql("- floor(extract(epoch from now()) * 1000000)"))},
          ${ifPaid(price, rawSql("0"))}, ${config.token},
          ${config.payer}, ${fingerprint}, ${paymentId}, ${depositTransaction},
          ${depositAmount === null ? null : depositAmount.toString()}::numeric, ${status}::int,
          ${JSON.stringify(headers)}, ${body}::bytea,
          ${responseMs === null ? rawSql("null::timestamptz") : fromNow(responseMs)}
        from charged returning amount::text as amount, ${rawSql(isFree ? "(select calls_left from free)" : "null")} as calls_left`;
      const name = `channel_charge${isFree ? "_free" : ""}${responseMs === null ? "" : "_briefly"}`;
      const [row] = await this.#store.run(prepareSql(name, statement));
      if (row === undefined) return null;
      const freeCallsLeft = isFree ? Number(row.calls_left ?? 0) : null;
      return { amount: BigInt(String(row.amount)), freeCallsLeft };
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION) return null;
      throw error;
    }
  }

  async readStoredResponse(channelId: Hex, cumulative: bigint): Promise<StoredResponse | null> {
    const [row] = await this.#store.run<{ status: number; headers: string; body: Hex }>(
      sql`select answer_status as status, answer_headers as headers, answer_body as body from channel_purchases
        where ${this.#where(channelId)} and cumulative = ${cumulative.toString()}::numeric
          and answer_body <> ''`,
    );
    if (!row) return null;
    const headers: unknown = JSON.parse(row.headers);
    if (!isJsonObject(headers)) throw new Error("channel_purchases.answer_headers is not an object");
    const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    const { status, body } = row;
    return { status, headers: Object.fromEntries(texts), body: Buffer.from(body.slice(2), "hex") };
  }
}

function parseOpened(found: Readonly<Record<string, unknown>>): OpenedChannel {
  const { channel, purchase, scan, works, transfer, failures } = found;
  return {
    row: isJsonObject(channel) ? parseChannelRow(channel) : null,
    purchase: isJsonObject(purchase) ? parsePurchase(purchase) : null,
    transfer: isJsonObject(transfer) ? parseNamedTransfer(transfer) : null,
    formerHolder: typeof found.former_holder === "string" ? found.former_holder : null,
    turn: works === true ? "work" : works === false ? "correct" : null,
    failures: Number(failures ?? 0),
    scan: isJsonObject(scan) ? parseAgedScan(scan) : null,
  };
}
