// Which row an identifier belongs to: one at a time, and it changes hands only where the row before cannot be charged.
import { type SqlText, sql } from "../../schema/sql.ts";
import { NONCE_USED } from "../facilitator/facilitator.ts";
import type { PaymentKey } from "./row.ts";

/**
 * Takes an identifier away from the row that holds it, where nothing of that row was sent or can be: work that failed or
 * whose process died, for the same request or never verified, and authorizations that are over. The row loses its owner
 * with it, so a process that stalled cannot go on. A transfer that was sent or rejected is not here: the chain must be read first.
 */
export function releaseIdentifierSql(
  key: PaymentKey,
  paymentId: string | null,
  fingerprint: string,
): SqlText {
  return sql`update payments set replaced = true, owner = null, lease_until = null, updated_at = now()
    where network = ${key.network} and asset = ${key.asset} and payer = ${key.payer} and nonce <> ${key.nonce}
      and payment_id = ${paymentId} and not replaced and (owner is null or lease_until <= now())
      and (state in ('reserved', 'released') and (fingerprint = ${fingerprint} or not verified)
        or state in ('expired', 'lost') or state = 'refused' and reason = ${NONCE_USED})
    returning 1`;
}

const UNIQUE_VIOLATION = "23505";

/** Another row got the identifier between our reading and our writing. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION;
}
