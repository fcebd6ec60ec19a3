// What the indexer last said of itself, kept where the processes that serve its rows can read it.
import type { Session } from "../postgres/session.ts";

type Queries = Pick<Session, "query">;

export async function writeIndexerStatus(session: Queries, report: object): Promise<void> {
  await session.query({
    text: `insert into indexer_status (status, reported_at) values ($1::jsonb, now())
           on conflict (only_row) do update set status = excluded.status, reported_at = excluded.reported_at`,
    values: [JSON.stringify(report)],
  });
}

/** Null when no indexer ever ran; the age tells whether one still does. */
export async function readIndexerStatus(
  session: Queries,
): Promise<{ readonly report: unknown; readonly ageSeconds: number } | null> {
  const { rows } = await session.query<{ status: unknown; age: number }>(
    "select status, extract(epoch from now() - reported_at)::int as age from indexer_status",
  );
  const [row] = rows;
  return row ? { report: row.status, ageSeconds: Number(row.age) } : null;
}
