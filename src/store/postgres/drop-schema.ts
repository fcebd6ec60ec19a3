// Schemas of indexes other than the configured one: which exist, what one has, and dropping it with everything in it.
import { Fault } from "../../lib/fault.ts";
import type { Database } from "./database.ts";
import { isSchemaName } from "./schema-name.ts";
import type { QueryRunner, Session } from "./session.ts";

type SiblingSchema = {
  readonly name: string;
  /** Whether the index is the current user's: one of another user may have views that run functions as their reader. */
  readonly isOwn: boolean;
};

/** The schemas with an index whose names begin with this one and an underscore, in order. */
export async function listSiblingSchemas(database: Database): Promise<readonly SiblingSchema[]> {
  // Reads the catalog, which is open to all: reading a table fails in a schema that is closed to this user.
  const { rows } = await database.query<{ name: string; is_own: boolean }>({
    text: `select n.nspname as name, c.relkind = 'r' and pg_get_userbyid(c.relowner) = current_user as is_own
           from pg_namespace n join pg_class c on c.relnamespace = n.oid
           where starts_with(n.nspname, $1 || '_') and c.relname = 'deployment'
           order by 1`,
    values: [database.schema],
  });
  // A user that may create a schema chooses its name: one that is not ours to give never gets into a statement.
  return rows.filter(({ name }) => isSchemaName(name)).map(({ name, is_own: isOwn }) => ({ name, isOwn }));
}

/** Work on a schema as it is, without a migration, until the transaction ends. */
export async function useSchema(session: Session, schema: string): Promise<void> {
  if (!isSchemaName(schema)) throw new Fault("CONFIG_INVALID", "The schema has no valid name.");
  await session.query(`set local search_path to "${schema}"`);
}

// The records of clients, which no chain can bring back.
const WRITTEN_TABLES = [
  "documents",
  "attestation_schemas",
  "intent_metadata",
  "intent_reservations",
  "offchain_bids",
  "webhooks",
];

// The tables of payments: only a default deployment has them, perhaps that of another installation.
const MONEY_TABLES = ["payments", "payment_channels", "facilitator_settlements", "stored_snapshots"];

type SchemaContents = { readonly events: number; readonly written: number; readonly payments: number };

/** A schema of another version may not have all of the tables. */
export async function countContents(session: QueryRunner): Promise<SchemaContents> {
  const count = async (table: string) => {
    const found = { text: "select to_regclass($1) is not null as found", values: [table] };
    if ((await session.query<{ found: boolean }>(found)).rows[0]?.found !== true) return 0;
    const { rows } = await session.query<{ count: string }>(`select count(*) from ${table}`);
    return Number(rows[0]?.count ?? 0);
  };
  const countAll = async (tables: readonly string[]) => {
    let sum = 0;
    for (const table of tables) sum += await count(table);
    return sum;
  };
  return {
    events: await count("logs"),
    written: await countAll(WRITTEN_TABLES),
    payments: await countAll(MONEY_TABLES),
  };
}

/** In the transaction of the lock of its indexer, so that none writes meanwhile. */
export async function dropSchema(session: Session, schema: string): Promise<void> {
  if (!isSchemaName(schema)) throw new Fault("CONFIG_INVALID", "The schema has no valid name.");
  await session.query(`drop schema "${schema}" cascade`);
}
