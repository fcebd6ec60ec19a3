// Free calls by channel: counted by the statement that charges, in one row of the key that signs vouchers and one of all keys.
import type { Hex } from "../../lib/hex.ts";
import { type RawSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";

/**
 * The parts of a statement whose result `free` has a row if the call is within both quotas. Channels of one signer share
 * its quota: a channel costs nothing to open, and anyone can name a payer in the channel of a key of its own. Once all
 * quotas of the hour are given out, a signer may lose the rest of its own.
 */
export function takeFreeCallSql(
  network: string,
  signer: Hex,
  { perSigner, quotasMax }: { readonly perSigner: number; readonly quotasMax: number },
): SqlText {
  // The hour begins with its first call.
  const isOver = rawSql("known.since <= now() - interval '1 hour'");
  const count = (by: string, max: number, from: RawSql) => sql`insert into channel_free_calls as known
      (network, signer, since, calls) select ${network}, ${by}, now(), 1 ${from}
    on conflict (network, signer) do update set since = case when ${isOver} then now() else known.since end,
      calls = case when ${isOver} then 1 else known.calls + 1 end
    where ${isOver} or known.calls < ${max}::int returning calls`;
  return sql`own as (${count(signer, perSigner, rawSql(""))}),
    everyone as (${count("", perSigner * quotasMax, rawSql("from own"))}),
    free as (select ${perSigner}::int - own.calls as calls_left from own, everyone),`;
}
