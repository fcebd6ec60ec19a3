// Stores what the facilitator sent and what became of it, so that both survive a restart.
import type { Clock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import { type PaymentKey, whereKey } from "../ledger/row.ts";
import type { TransactionLookup, TransactionStatus } from "./transaction-lookup.ts";

/** One signed payload: the nonce it uses, and the digest that identifies it among payloads with that nonce. */
export type SettlementKey = PaymentKey & { readonly digest: string };

/** Whether the payer is a contract account. */
type SettledPayment = SettlementKey & { readonly isContract: boolean };

export type SettlementRecord = SettledPayment & {
  /** Its transactions, the newest first: a dropped one is sent again as another. Empty until one is about to be sent. */
  readonly transactions: readonly Hex[];
  /** Gas limit of the newest transaction. */
  readonly gas: bigint;
  /** Null for an account with code, which is served one payment at a time, and when an earlier version recorded it. */
  readonly amount: bigint | null;
  readonly updatedMs: number;
};

type RevertRecord = {
  readonly network: string;
  readonly transaction: Hex;
  readonly payer: Hex;
  readonly isContract: boolean;
  readonly gasUsed: bigint;
  /** False if the payer did not cause the revert. */
  readonly blocksPayer: boolean;
};

type ContractPayer = { readonly network: string; readonly payer: Hex; readonly codeHash: Hex };

/** "proven": its last transfer settled. "known code": that of another account with the same code did. */
export type ContractStanding = "proven" | "known code" | "unknown code";

/**
 * Each known code has a budget of its own, and so have all others together: accounts that revert do not keep accounts
 * of another kind from being served. A proven account needs none: it reverts once, and has paid before.
 */
export type RevertedGas = {
  readonly ofUnknownCode: bigint;
  readonly ofKnownCode: bigint;
  readonly ofThisCode: bigint;
};

// A day, as the rejection message says.
const BLOCKED_MS = 86_400_000;
const BUDGET_WINDOW_MS = 3_600_000;
const DEPOSITS_WINDOW_MS = 3_600_000;
// A signature is valid for a day at most, and no server repeats a settlement later than a day after that.
const RETENTION_MS = 2 * 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
// A wallet that pays once a season is still known; a row has about a hundred bytes.
const CONTRACT_PAYER_MS = 90 * 86_400_000;
// Each is looked up before another payment is sent; more than a few are pending only while the chain is stuck.
const UNRESOLVED_MAX = 50;
// More than all processes settle at once, at a hundred each.
const UNRESOLVED_OF_PAYER_MAX = 2_000;
// A payload is sent again only when its transaction was dropped.
const TRANSACTIONS_MAX = 10;

type Row = {
  network: string;
  asset: Hex;
  payer: Hex;
  nonce: Hex;
  payment_digest: string;
  transactions: Hex[];
  is_contract: boolean;
  gas: string;
  amount: string | null;
  updated_ms: string;
};

const samePayload = (key: SettlementKey) => sql`${whereKey(key)} and payment_digest = ${key.digest}`;

export class SettlementRecords {
  readonly #store: StatementRunner;
  readonly #clock: Clock;
  #prunedMs = Number.NEGATIVE_INFINITY;

  constructor(store: StatementRunner, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  #ago(ms: number): SqlText {
    return sql`to_timestamp(${(this.#clock.nowMs() - ms) / 1_000}::double precision)`;
  }

  async #select(where: SqlText): Promise<readonly SettlementRecord[]> {
    const rows =
      await this.#store.run<Row>(sql`select network, asset, payer, nonce, payment_digest, transactions,
        is_contract, gas::text as gas, amount::text as amount, (extract(epoch from updated_at) * 1000)::bigint::text as updated_ms from facilitator_settlements where ${where}`);
    return rows.map(readRecord);
  }

  async #prune(): Promise<void> {
    if (this.#clock.nowMs() - this.#prunedMs < PRUNE_EVERY_MS) return;
    this.#prunedMs = this.#clock.nowMs();
    const store = this.#store;
    const retained = this.#ago(RETENTION_MS);
    await store.run(sql`delete from facilitator_settlements where updated_at < ${retained}`);
    await store.run(sql`delete from facilitator_reverts where reverted_at < ${retained}`);
    await store.run(sql`delete from facilitator_deposits where since < ${this.#ago(DEPOSITS_WINDOW_MS)}`);
    await store.run(sql`delete from facilitator_contract_payers where seen_at < ${this.#ago(CONTRACT_PAYER_MS)}
      or settled_at is null and seen_at < ${retained}`);
  }

  /** All payloads sent for one nonce. */
  find(key: PaymentKey): Promise<readonly SettlementRecord[]> {
    return this.#select(whereKey(key));
  }

  /** Counts a deposit that is about to be sent; false if the account has had as many within the hour, in all processes. */
  async takeDeposit({ network, payer }: PaymentKey, perHourMax: number): Promise<boolean> {
    const now = this.#ago(0);
    const isOver = sql`known.since <= ${this.#ago(DEPOSITS_WINDOW_MS)}`;
    const rows =
      await this.#store.run(sql`insert into facilitator_deposits as known (network, payer, since, deposits)
      values (${network}, ${payer}, ${now}, 1)
      on conflict (network, payer) do update set since = case when ${isOver} then ${now} else known.since end,
        deposits = case when ${isOver} then 1 else known.deposits + 1 end
      where ${isOver} or known.deposits < ${perHourMax}::int returning 1 as done`);
    return rows.length === 1;
  }

  /** Undoes the count of a deposit that was not sent. */
  async giveBackDeposit({ network, payer }: PaymentKey): Promise<void> {
    await this.#store.run(sql`update facilitator_deposits set deposits = deposits - 1
      where network = ${network} and payer = ${payer} and deposits > 0`);
  }

  /** Counts a payment of a plain key against its balance, in every process, before its transaction is known. */
  async addReservation({ amount, ...key }: SettlementKey & { readonly amount: bigint }): Promise<void> {
    const now = this.#ago(0);
    // Takes the time of now even if its transaction was dropped long ago: it is about to be sent again, and other
    // processes must not take it for gone.
    await this.#store.run(sql`insert into facilitator_settlements (network, asset, payer, nonce, payment_digest,
        transactions, is_open, is_contract, gas, amount, created_at, updated_at)
      values (${key.network}, ${key.asset}, ${key.payer}, ${key.nonce}, ${key.digest},
        '{}', true, false, 0, ${amount.toString()}::numeric, ${now}, ${now})
      on conflict (network, asset, payer, nonce, payment_digest)
        do update set is_open = true, amount = excluded.amount, updated_at = excluded.updated_at`);
  }

  /** Removes a payment for which nothing was sent. */
  async removeReservation(key: SettlementKey): Promise<void> {
    await this.#store.run(
      sql`delete from facilitator_settlements where ${samePayload(key)} and transactions = '{}'`,
    );
  }

  /** Records a transaction before it is broadcast, through the store of the turn in which it is sent. */
  async addTransaction(
    { isContract, ...key }: SettledPayment,
    { transaction, gas }: { readonly transaction: Hex; readonly gas: bigint },
    turn: StatementRunner,
  ): Promise<void> {
    await this.#prune();
    const now = this.#ago(0);
    await turn.run(sql`insert into facilitator_settlements as known (network, asset, payer, nonce, payment_digest,
        transactions, is_open, is_contract, gas, created_at, updated_at)
      values (${key.network}, ${key.asset}, ${key.payer}, ${key.nonce}, ${key.digest},
        array[${transaction}::text], true, ${isContract}, ${gas.toString()}::bigint, ${now}, ${now})
      on conflict (network, asset, payer, nonce, payment_digest) do update set
        transactions = (array[${transaction}::text] || known.transactions)[1:${TRANSACTIONS_MAX}::integer],
        is_open = true, is_contract = ${isContract}, gas = ${gas.toString()}::bigint, updated_at = ${now}`);
  }

  /** The node rejected a recorded transaction: it was never in a mempool. */
  async removeTransaction(key: SettlementKey, transaction: Hex): Promise<void> {
    await this.#store.run(sql`update facilitator_settlements
      set transactions = array_remove(transactions, ${transaction}::text) where ${samePayload(key)}`);
  }

  /** The outcome of its newest transaction is known. */
  async markResolved(key: SettlementKey): Promise<void> {
    await this.#store.run(sql`update facilitator_settlements set is_open = false, updated_at = ${this.#ago(0)}
      where ${samePayload(key)} and is_open`);
  }

  /** It is a success. */
  async markSettled(key: SettlementKey): Promise<void> {
    const now = this.#ago(0);
    await this.#store.run(sql`with settled as (update facilitator_settlements set is_open = false, updated_at = ${now}
        where ${samePayload(key)} and is_open returning is_contract)
      update facilitator_contract_payers set settled_at = ${now}
      where network = ${key.network} and payer = ${key.payer} and (select bool_or(is_contract) from settled)`);
  }

  /** Payloads whose outcome is not known, the oldest first. */
  findUnresolved(
    network: string,
    whose: { readonly payer: Hex } | "contracts",
  ): Promise<readonly SettlementRecord[]> {
    const [owner, rowsMax] =
      whose === "contracts"
        ? [sql`is_contract`, UNRESOLVED_MAX]
        : [sql`payer = ${whose.payer}`, UNRESOLVED_OF_PAYER_MAX];
    return this.#select(
      sql`is_open and network = ${network} and ${owner} order by updated_at limit ${rowsMax}::integer`,
    );
  }

  async addRevert(revert: RevertRecord): Promise<void> {
    const { network, transaction, payer, isContract, gasUsed, blocksPayer } = revert;
    const codeHash = sql`(select code_hash from facilitator_contract_payers
      where network = ${network} and payer = ${payer})`;
    const budget = sql`case ${standingOf(network, payer, codeHash)} when 'proven' then ${PROVEN}
      when 'known code' then ${codeHash} end`;
    await this.#store.run(sql`with added as (insert into facilitator_reverts
        (network, transaction, payer, is_contract, gas_used, bars_payer, reverted_at, budget)
      values (${network}, ${transaction}, ${payer}, ${isContract}, ${gasUsed.toString()}::bigint, ${blocksPayer},
        ${this.#ago(0)}, ${budget})
      on conflict (network, transaction) do nothing)
      update facilitator_contract_payers set settled_at = null
      where network = ${network} and payer = ${payer} and ${blocksPayer}`);
  }

  async isPayerBlocked(network: string, payer: Hex): Promise<boolean> {
    const rows =
      await this.#store.run(sql`select 1 as found from facilitator_reverts where network = ${network}
      and payer = ${payer} and bars_payer and reverted_at > ${this.#ago(BLOCKED_MS)} limit 1`);
    return rows.length > 0;
  }

  /** Gas of reverted transfers of contract accounts within the last hour; of one code among them, if it is given. */
  async sumRevertedGas(network: string, codeHash: Hex | null): Promise<RevertedGas> {
    const [row] = await this.#store.run<Record<"unknown" | "known" | "same", string>>(sql`select
        coalesce(sum(gas_used) filter (where budget is null), 0)::text as unknown,
        coalesce(sum(gas_used) filter (where budget <> ${PROVEN}), 0)::text as known,
        coalesce(sum(gas_used) filter (where budget = ${codeHash}), 0)::text as same
      from facilitator_reverts where network = ${network} and is_contract
      and reverted_at > ${this.#ago(BUDGET_WINDOW_MS)}`);
    return {
      ofUnknownCode: BigInt(row?.unknown ?? 0),
      ofKnownCode: BigInt(row?.known ?? 0),
      ofThisCode: BigInt(row?.same ?? 0),
    };
  }

  /** Records a contract account before its transfer is sent; returns what is known of it. */
  addContractPayer(account: ContractPayer): Promise<ContractStanding> {
    const { network, payer, codeHash } = account;
    const added = sql`with added as (insert into facilitator_contract_payers as known
        (network, payer, code_hash, seen_at) values (${network}, ${payer}, ${codeHash}, ${this.#ago(0)})
      -- An account whose code has changed must prove itself again.
      on conflict (network, payer) do update set seen_at = excluded.seen_at, code_hash = excluded.code_hash,
        settled_at = case when known.code_hash = excluded.code_hash then known.settled_at end) `;
    return this.#readStanding(added, account);
  }

  findContractStanding(account: ContractPayer): Promise<ContractStanding> {
    return this.#readStanding(sql``, account);
  }

  async #readStanding(
    before: SqlText,
    { network, payer, codeHash }: ContractPayer,
  ): Promise<ContractStanding> {
    const standing = standingOf(network, payer, sql`${codeHash}`);
    const [row] = await this.#store.run<{ standing: ContractStanding }>(
      sql`${before}select ${standing} as standing`,
    );
    return row?.standing ?? "unknown code";
  }
}

// Stands in the column in which other payers have the hash of their code.
const PROVEN = "proven";

function standingOf(network: string, payer: Hex, codeHash: SqlText): SqlText {
  const settled = sql`select 1 from facilitator_contract_payers
    where network = ${network} and code_hash = ${codeHash} and settled_at is not null`;
  return sql`case when exists (${settled} and payer = ${payer}) then 'proven'
    when exists (${settled}) then 'known code' else 'unknown code' end`;
}

function readRecord(row: Row): SettlementRecord {
  const { network, asset, payer, nonce, transactions } = row;
  return {
    network,
    asset,
    payer,
    nonce,
    transactions,
    digest: row.payment_digest,
    isContract: row.is_contract,
    gas: BigInt(row.gas),
    amount: row.amount === null ? null : BigInt(row.amount),
    updatedMs: Number(row.updated_ms),
  };
}

// After this time its account nonce has been used for another transaction.
const GONE_MS = 60_000;

type SettlementOutcomesOptions = {
  readonly records: SettlementRecords;
  readonly lookup: TransactionLookup;
  readonly clock: Clock;
};

/** The outcome of payloads that were sent: read from the chain, written into the records. */
export class SettlementOutcomes {
  readonly #options: SettlementOutcomesOptions;

  constructor(options: SettlementOutcomesOptions) {
    this.#options = options;
  }

  #isPending({ kind }: TransactionStatus, { updatedMs }: SettlementRecord): boolean {
    return kind === "pending" || (kind === "missing" && this.#options.clock.nowMs() - updatedMs < GONE_MS);
  }

  /** Records a mined revert and whether it blocks its payer. */
  async recordRevert(payment: SettledPayment, transaction: Hex): Promise<void> {
    const { records, lookup } = this.#options;
    const state = await lookup.readStatus(transaction, payment);
    // A reorg may have undone it meanwhile.
    if (state.kind !== "reverted") return;
    const { network, payer, isContract } = payment;
    const { gasUsed, blockNumber } = state;
    // Anyone may carry out an authorization: a payer whose money moved as signed is not blocked for our revert. Nor is
    // one whose transfer stayed pending until it expired because of our own fee limit.
    const blocksPayer =
      !(await lookup.hasExpiredInMempool(transaction, blockNumber)) &&
      !(await lookup.wasAuthorizationUsed(payment, blockNumber));
    // A reorg may have undone the revert and its cause while they were read.
    const now = blocksPayer ? await lookup.readStatus(transaction, payment) : state;
    if (now.kind !== "reverted" || now.blockNumber !== blockNumber) return;
    await records.addRevert({ network, transaction, payer, isContract, gasUsed, blocksPayer });
    await records.markResolved(payment);
  }

  /** The transaction that carried out a payload and is still on chain; null without one. */
  async findSuccess(record: SettlementRecord): Promise<Hex | null> {
    const { records, lookup } = this.#options;
    for (const transaction of record.transactions) {
      if ((await lookup.readStatus(transaction, record)).kind !== "succeeded") continue;
      await records.markSettled(record);
      return transaction;
    }
    return null;
  }

  /** True while any transaction of a payload may still be mined; changes no record. */
  async mayBeMined(record: SettlementRecord): Promise<boolean> {
    const { lookup } = this.#options;
    const states = await Promise.all(record.transactions.map((each) => lookup.readStatus(each, record)));
    return states.some((state) => this.#isPending(state, record));
  }

  /** True while the newest transaction of a payload may still be mined. */
  async isNewestPending(record: SettlementRecord): Promise<boolean> {
    const { records, lookup } = this.#options;
    const [newest] = record.transactions;
    const state: TransactionStatus = newest ? await lookup.readStatus(newest, record) : { kind: "missing" };
    if (newest && state.kind === "reverted") await this.recordRevert(record, newest);
    if (this.#isPending(state, record)) return true;
    if (state.kind === "succeeded") await records.markSettled(record);
    else if (state.kind !== "reverted") await records.markResolved(record);
    return false;
  }
}
