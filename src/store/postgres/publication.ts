// A publication of tables for followers by logical replication.
import { Fault } from "../../lib/fault.ts";
import type { Database } from "./database.ts";
import type { QueryRunner } from "./session.ts";

type Publication = {
  /** Tables that this call has added. */
  readonly added: readonly string[];
  /** Whether the server writes what a follower needs. */
  readonly isLogical: boolean;
};

// A name that needs no quoting anywhere.
const NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** Creates the publication, or adds what it lacks: a rebuild replaces tables, and new ones are not members. */
export async function ensurePublication(
  database: Database,
  name: string,
  tables: readonly string[],
): Promise<Publication> {
  if (!NAME.test(name) || name.startsWith("pg_")) {
    throw new Fault(
      "INPUT_INVALID",
      "The name of a publication must be 1 to 63 lower-case letters, digits and underscores, not start with a digit, and not with pg_.",
    );
  }
  return database.transaction(async (session) => {
    await assertComplete(session, database.schema, tables);
    const { rows } = await session.query({
      text: "select from pg_publication where pubname = $1",
      values: [name],
    });
    if (rows.length === 0) await session.query(`create publication ${name}`);
    const { rows: members } = await session.query<{ tablename: string }>({
      text: "select tablename from pg_publication_tables where pubname = $1 and schemaname = $2",
      values: [name, database.schema],
    });
    const known = new Set(members.map(({ tablename }) => tablename));
    const added = tables.filter((table) => !known.has(table));
    if (added.length > 0) {
      const list = added.map((table) => `${database.schema}.${table}`).join(", ");
      await session.query(`alter publication ${name} add table ${list}`);
    }
    const { rows: settings } = await session.query<{ wal_level: string }>("show wal_level");
    return { added, isLogical: settings[0]?.wal_level === "logical" };
  });
}

/** A follower that copies a table without its primary key could not apply an update once the table has it. */
async function assertComplete(
  session: QueryRunner,
  schema: string,
  tables: readonly string[],
): Promise<void> {
  const { rows } = await session.query({
    text: `select from pg_class t where t.relnamespace = $1::regnamespace and t.relname = any($2)
      and not exists (select from pg_index x where x.indrelid = t.oid and x.indisprimary)`,
    values: [schema, tables],
  });
  if (rows.length === 0) return;
  throw new Fault("INDEX_EMPTY", "The tables are being filled for the first time; retry when /ready is 200.");
}
