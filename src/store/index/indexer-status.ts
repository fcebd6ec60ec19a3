// The last status of the indexer, stored for the processes that serve its rows.
import type { QueryRunner } from "../postgres/session.ts";

export async function writeIndexerStatus(session: QueryRunner, status: object): Promise<void> {
  await session.query({
    text: `insert into indexer_status (status, reported_at) values ($1::jsonb, now())
           on conflict (only_row) do update set status = excluded.status, reported_at = excluded.reported_at`,
    values: [JSON.stringify(status)],
  });
}

/** Null if no indexer ever ran; the age shows whether one still does. */
export async function readIndexerStatus(
  session: QueryRunner,
): Promise<{ readonly report: unknown; readonly ageSeconds: number } | null> {
  const { rows } = await session.query<{ status: unknown; age: number }>(
    "select status, extract(epoch from now() - reported_at)::int as age from indexer_status",
  );
  const [row] = rows;
  return row ? { report: row.status, ageSeconds: Number(row.age) } : null;
}
