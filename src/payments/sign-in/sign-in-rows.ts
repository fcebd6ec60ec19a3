// Statements of sign-in: the key of nonces, and what a payer has bought, which uses the nonce up.
import { randomBytes } from "node:crypto";
import type { Hex } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { Secret } from "../../lib/secret.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { prepareSql, type SqlText, sql } from "../../schema/sql.ts";
import { HELD, LEASE_OVER } from "../ledger/lease.ts";
import type { LedgerScope } from "../ledger/row.ts";
import { NONCE_UNTRACED, NONCE_USED, NONCE_USED_NOT_FINAL } from "../rejection-reasons.ts";

/** A purchase whose response is stored, by either scheme. */
export type StoredPurchase =
  | { readonly scheme: "exact"; readonly nonce: Hex }
  | {
      readonly scheme: "batch-settlement";
      readonly channelId: Hex;
      readonly cumulative: bigint;
      readonly amount: bigint;
    };

/** The outcome of a sign-in. Only `found` has used the nonce up. */
type SignedIn =
  | { readonly kind: "found"; readonly purchase: StoredPurchase }
  | { readonly kind: "in-progress" }
  | { readonly kind: "nothing" }
  | { readonly kind: "nonce-used" }
  | { readonly kind: "too-many" };

/** An attempt to sign in, whose signature was checked. */
type SignInAttempt = { readonly payer: Hex; readonly fingerprint: string; readonly nonce: string };

const KEY_BYTES = 32;
// Each may read a response of some megabytes. A client that lost its journal asks once for each purchase.
const PER_PAYER_AND_HOUR = 100;
// Ten times as long as a nonce is valid: also if the clock of a process differs by as much, none is used twice.
const USED_FOR = sql`interval '1 hour'`;
const PRUNE_EVERY_MS = 600_000;

/** The key of all processes of the database. It is made by the first one. */
export async function openSignInKey(store: StatementRunner): Promise<Secret<Buffer>> {
  await store.run(
    sql`insert into sign_in_key (key) values (${randomBytes(KEY_BYTES)}) on conflict do nothing`,
  );
  const [row] = await store.run<{ key: Hex }>(sql`select key from sign_in_key`);
  if (row === undefined) throw new Error("sign_in_key has no row");
  return new Secret(Buffer.from(row.key.slice(2), "hex"));
}

export class SignInRows {
  readonly #store: StatementRunner;
  readonly #scope: LedgerScope;
  #prunedMs = Number.NEGATIVE_INFINITY;

  constructor(store: StatementRunner, { network, asset }: LedgerScope) {
    this.#store = store;
    this.#scope = { network, asset };
  }

  /** Finds the newest stored purchase of the request by the payer, and uses the nonce up for it, in one statement. */
  async signIn({ payer, fingerprint, nonce }: SignInAttempt): Promise<SignedIn> {
    const statement = sql`with bought as (${this.#boughtSql(payer, fingerprint)}),
      used as (select count(*) as signed_in from sign_ins where payer = ${payer} and used_at > now() - ${USED_FOR}),
      taken as (insert into sign_ins (nonce, payer)
        select ${nonce}, ${payer} from bought, used where signed_in < ${PER_PAYER_AND_HOUR}::int
        on conflict do nothing returning 1)
      select (select row_to_json(bought) from bought) as bought, exists (select from taken) as is_taken,
        signed_in >= ${PER_PAYER_AND_HOUR}::int as is_full, ${this.#inProgressSql(payer, fingerprint)} as in_progress
      from used`;
    const [row] = await this.#store.run(prepareSql("sign_in", statement));
    const { bought, is_taken, is_full, in_progress } = row ?? {};
    if (!isJsonObject(bought)) return { kind: in_progress === true ? "in-progress" : "nothing" };
    if (is_taken === true) return { kind: "found", purchase: parsePurchase(bought) };
    return { kind: is_full === true ? "too-many" : "nonce-used" };
  }

  #boughtSql(payer: Hex, fingerprint: string): SqlText {
    const { network, asset } = this.#scope;
    const isOurs = sql`network = ${network} and payer = ${payer} and fingerprint = ${fingerprint}`;
    return sql`select * from (
        (select nonce, null as channel_id, null as cumulative, null as amount, settled_at as bought_at from payments
          where ${isOurs} and asset = ${asset} and state = 'settled' and transaction is not null
            and answer_body is not null
          order by settled_at desc limit 1)
        union all (select null, channel_id, cumulative::text, amount::text, created_at from channel_purchases
          where ${isOurs} and token = ${asset} and answer_body <> ''
          order by created_at desc limit 1)) each
      order by bought_at desc limit 1`;
  }

  /** Whether the payer may be charged, or was, for a response that is not there yet: it must not be invited to pay again. */
  #inProgressSql(payer: Hex, fingerprint: string): SqlText {
    const { network, asset } = this.#scope;
    const isOurs = sql`network = ${network} and payer = ${payer}`;
    return sql`(exists (select from payments where ${isOurs} and asset = ${asset} and fingerprint = ${fingerprint}
          and verified and (answer_body is not null or state <> 'settled') -- as the index says it
          and (state = 'settling'
            or transaction is not null and state in ('reserved', 'released') and updated_at > now() - interval '1 day'
            or state = 'reserved' and ${HELD}
            or state = 'refused' and not replaced and valid_before > extract(epoch from now())
              and (reason is null or reason <> all(${UNCHARGEABLE}))))
        or exists (select from payment_channels where ${isOurs} and payer_authorizer = payer -- by its own key
          and kept_for = ${fingerprint} and owner_works and not ${LEASE_OVER}))`;
  }

  /** Forgets nonces that are over. To be called every few seconds, in any number of processes. */
  async prune(): Promise<void> {
    if (performance.now() - this.#prunedMs < PRUNE_EVERY_MS) return;
    this.#prunedMs = performance.now();
    await this.#store.run(sql`delete from sign_ins where used_at < now() - ${USED_FOR}`);
  }
}

const UNCHARGEABLE = [NONCE_USED, NONCE_USED_NOT_FINAL, NONCE_UNTRACED];

function parsePurchase({ nonce, channel_id, cumulative, amount }: JsonObject): StoredPurchase {
  if (typeof nonce === "string") return { scheme: "exact", nonce: nonce as Hex };
  return {
    scheme: "batch-settlement",
    channelId: String(channel_id) as Hex,
    cumulative: BigInt(String(cumulative)),
    amount: BigInt(String(amount)),
  };
}
