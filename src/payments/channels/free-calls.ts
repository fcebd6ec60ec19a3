// Free calls of payers by channel: counted by the statement that charges, in one row of the payer and one of all payers.
import type { Hex } from "../../lib/hex.ts";
import { type RawSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";

/**
 * The parts of a statement whose result `free` has a row if the call is within both quotas. Channels of one payer share
 * its quota: a channel costs nothing to open. Once all quotas of the hour are given out, a payer may lose the rest of its own.
 */
export function takeFreeCallSql(
  network: string,
  payer: Hex,
  { perPayer, quotasMax }: { readonly perPayer: number; readonly quotasMax: number },
): SqlText {
  // The hour begins with its first call.
  const isOver = rawSql("known.since <= now() - interval '1 hour'");
  const count = (by: string, max: number, from: RawSql) => sql`insert into channel_free_calls as known
      (network, payer, since, calls) select ${network}, ${by}, now(), 1 ${from}
    on conflict (network, payer) do update set since = case when ${isOver} then now() else known.since end,
      calls = case when ${isOver} then 1 else known.calls + 1 end
    where ${isOver} or known.calls < ${max}::int returning calls`;
  return sql`own as (${count(payer, perPayer, rawSql(""))}),
    everyone as (${count("", perPayer * quotasMax, rawSql("from own"))}),
    free as (select ${perPayer}::int - own.calls as calls_left from own, everyone),`;
}
