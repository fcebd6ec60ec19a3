// Identifiers of purchases over both schemes: the statements that find a transfer by its name, and that take the name.
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import { LEASE_OVER } from "../ledger/lease.ts";
import { TRANSFER_SCHEME } from "../ledger/statements.ts";
import { NONCE_USED } from "../rejection-reasons.ts";
import type { ChannelConfig } from "./channel-config.ts";
import { CHANNEL_SCHEME } from "./channel-terms.ts";

/** A transfer that was made, or that someone may still make. */
export type NamedTransfer = {
  readonly nonce: Hex;
  readonly fingerprint: string;
  readonly amount: bigint;
  /** Null unless it is settled. */
  readonly transaction: string | null;
};

/** Without transfers that cannot be made: of those, and of what no one has verified, the name is free. */
export function namedTransferSql(name: {
  readonly network: string;
  readonly token: Hex;
  readonly payer: Hex;
  readonly paymentId: string | null;
}): SqlText {
  return sql`select nonce, fingerprint, amount::text as amount,
      case when state = 'settled' then transaction end as transaction
    from payments where network = ${name.network} and asset = ${name.token} and payer = ${name.payer}
      and payment_id = ${name.paymentId}::text and not replaced and state not in ('expired', 'lost')
      and not (state = 'refused' and reason = ${NONCE_USED})
      and not (state in ('reserved', 'released') and not verified and ${LEASE_OVER})`;
}

export function parseNamedTransfer(row: JsonObject): NamedTransfer {
  const { nonce, fingerprint, amount, transaction } = row;
  return {
    nonce: String(nonce) as Hex,
    fingerprint: String(fingerprint),
    amount: BigInt(String(amount)),
    transaction: transaction === null ? null : String(transaction),
  };
}

/**
 * Two parts of the statement that charges: the name of a transfer that cannot be made is freed if no request has taken it
 * since, and the purchase takes it. The insert fails for a name that is taken, and with it the whole statement.
 */
export function takeNameSql(by: {
  readonly network: string;
  readonly config: Pick<ChannelConfig, "token" | "payer">;
  readonly paymentId: string | null;
  readonly formerHolder: string | null;
  readonly owner: string;
}): SqlText {
  const { network, config, paymentId, formerHolder, owner } = by;
  return sql`freed as (delete from payment_names where network = ${network} and token = ${config.token}
      and payer = ${config.payer} and payment_id = ${paymentId}::text and scheme = ${TRANSFER_SCHEME}
      and holder = ${formerHolder}::text returning 1),
    named as (insert into payment_names (network, token, payer, payment_id, scheme, holder)
      select ${network}, ${config.token}, ${config.payer}, ${paymentId}::text, ${CHANNEL_SCHEME}, ${owner}
      -- Counting forces the deletion to run first: until then the key is taken.
      from charged where ${paymentId}::text is not null and (select count(*) from freed) >= 0)`;
}
