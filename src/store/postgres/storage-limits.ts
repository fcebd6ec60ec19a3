// Storage limits: bytes per client and day, and bytes in total, both exact across processes.
import { Fault } from "../../lib/fault.ts";
import type { QueryRunner } from "./session.ts";

export type StorageLimits = {
  /** Bytes that one client may write per day (UTC); 0 is no limit. */
  readonly clientBytesPerDayMax: number;
  /** Bytes of all records; 0 is no limit. */
  readonly totalBytesMax: number;
};

export const NO_STORAGE_LIMITS: StorageLimits = { clientBytesPerDayMax: 0, totalBytesMax: 0 };

/** Must come first in every transaction that writes or deletes records, so that they wait here and cannot deadlock. */
export async function lockStoredTotal(session: QueryRunner): Promise<bigint> {
  const { rows } = await session.query<{ bytes: string }>("select bytes from stored_total for update");
  return BigInt(rows[0]?.bytes ?? 0);
}

/** Counts bytes for a client, in a transaction that has locked the total and stores them next. */
export async function chargeClientBytes(
  session: QueryRunner,
  { client, bytes, total }: { readonly client: string; readonly bytes: number; readonly total: bigint },
  limits: StorageLimits,
): Promise<void> {
  const { clientBytesPerDayMax: clientMax, totalBytesMax: totalMax } = limits;
  if (totalMax > 0 && total + BigInt(bytes) > BigInt(totalMax)) {
    throw new Fault(
      "STORAGE_FULL",
      "The storage of this server is full; nothing was stored. Everything can still be read.",
    );
  }
  const { count } = await session.query({
    text: `insert into client_writes as w (day, client, bytes)
           select (now() at time zone 'UTC')::date, $1, $2::bigint where $3::bigint = 0 or $2::bigint <= $3::bigint
           on conflict (day, client) do update set bytes = w.bytes + excluded.bytes
           where $3::bigint = 0 or w.bytes + excluded.bytes <= $3::bigint`,
    values: [client, bytes, clientMax],
  });
  if (count === 1) return;
  throw new Fault("RATE_LIMITED", `There is a limit of ${clientMax} stored bytes per client and day (UTC).`, {
    retryAfterSeconds: await secondsUntilTomorrow(session),
  });
}

// By the database's clock, so that all processes agree on the day.
async function secondsUntilTomorrow(session: QueryRunner): Promise<number> {
  const { rows } = await session.query<{ seconds: number }>(
    `select ceil(extract(epoch from date_trunc('day', now() at time zone 'UTC') + interval '1 day'
       - (now() at time zone 'UTC')))::int as seconds`,
  );
  return rows[0]?.seconds ?? 1;
}
