// Schemas of indexes beside the configured one: which exist, what one has, and dropping it with everything in it.
import { Fault } from "../../lib/fault.ts";
import type { Database } from "./database.ts";
import type { QueryRunner, Session } from "./session.ts";

/** The schemas with an index whose names begin with this one and an underscore, in order. */
export async function listSiblingSchemas(database: Database): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>({
    text: `select n.nspname as name from pg_namespace n
           where starts_with(n.nspname, $1 || '_') and to_regclass(format('%I.deployment', n.nspname)) is not null
           order by 1`,
    values: [database.schema],
  });
  return rows.map(({ name }) => name);
}

// What clients have written, which no chain can bring back.
const WRITTEN_TABLES = [
  "documents",
  "attestation_schemas",
  "intent_metadata",
  "intent_reservations",
  "offchain_bids",
  "webhooks",
];

// Of payments: only a default deployment has them, perhaps that of another installation.
const MONEY_TABLES = ["payments", "facilitator_settlements", "stored_snapshots"];

type SchemaContents = { readonly events: number; readonly written: number; readonly payments: number };

export async function countContents(session: QueryRunner): Promise<SchemaContents> {
  const count = async (table: string) => {
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
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema))
    throw new Fault("CONFIG_INVALID", "The schema has no valid name.");
  await session.query(`drop schema "${schema}" cascade`);
}
