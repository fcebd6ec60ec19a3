// A digest per table: two indexes of the same chain are right when these are equal, whatever their histories were.
import type { Table } from "../../src/schema/table.ts";
import type { Session } from "../../src/store/postgres/session.ts";

/**
 * `finalized` bounds what tables of the recent past are compared by: versions that ended before it may or may not
 * have been dropped yet.
 */
export async function digestTables(
  session: Pick<Session, "query">,
  tables: readonly Table[],
  finalized: number,
): Promise<Readonly<Record<string, string>>> {
  const digests: Record<string, string> = {};
  for (const table of tables) {
    const order = [...table.key, "valid_from"].join(", ");
    const recent =
      table.history === "recent" ? "where valid_to is null or valid_to > $1" : "where $1::bigint is not null";
    const { rows } = await session.query<{ count: string; digest: string }>({
      text: `select count(*), md5(coalesce(string_agg(md5(t::text), '' order by ${order}), '')) as digest from ${table.name} t ${recent}`,
      values: [finalized],
    });
    digests[table.name] = `${rows[0]?.count} rows ${rows[0]?.digest}`;
  }
  const { rows } = await session.query<{ count: string; digest: string }>(
    "select count(*), md5(coalesce(string_agg(md5(l::text), '' order by block_number, log_index), '')) as digest from logs l",
  );
  digests.logs = `${rows[0]?.count} rows ${rows[0]?.digest}`;
  return digests;
}
