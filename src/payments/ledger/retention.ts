// What is kept of payments, and for how long: rows of money for ever, bodies and failures for a while.
import type { StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import { NONCE_USED } from "../facilitator/facilitator.ts";
import type { GateLimits } from "../paywall/limits.ts";
import type { LedgerScope } from "./row.ts";

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
