// Copies all primary data from one database into an empty schema of another, and compares the two.
import { pipeline } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "./database.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations.ts";

type CopiedTable = { readonly name: string; readonly rows: number };

type CopySchemaOptions = {
  readonly source: Database;
  readonly target: Database;
  readonly log: Log;
  /** Called after each table. */
  readonly onTableCopied: (copied: CopiedTable) => void;
  /** Called with rows that are copied and compared, each of which is half of the work; rows are counted only for it. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
};

// Tables about the database itself: its migrations, and the sessions that hold its locks.
const OWN_TABLES = ["migrations", "lock_holders"];
// Migrations insert rows into these tables; the condition selects other rows.
const OWN_ROWS: Readonly<Record<string, string>> = {
  attestation_schemas: "not built_in",
  log_storage: "false",
  stored_total: "false",
};
// A table of many million logs over a slow network.
const STATEMENT_MS_MAX = 0;

/**
 * Copies all tables except derived rows, which are rebuilt from the logs, in one transaction on either side: the target
 * has all of it afterwards, or nothing.
 */
export async function copySchema(options: CopySchemaOptions): Promise<readonly CopiedTable[]> {
  const { source, target, log } = options;
  await assertTargetEmpty(target);
  await migrate(target, migrations, log);
  const reading = await source.connect("move", { statementTimeoutMs: STATEMENT_MS_MAX });
  const writing = await target.connect("move", { statementTimeoutMs: STATEMENT_MS_MAX });
  try {
    // One side is idle in its transaction while the other computes the digest of a large table.
    for (const client of [reading, writing])
      await client.query("SET idle_in_transaction_session_timeout TO 0");
    const names = await listTables(reading, source.schema);
    const all = names.map((name) => `"${name}"`).join(", ");
    await reading.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await writing.query("BEGIN");
    // Before anything else: the next statement takes the snapshot, which then contains everything that was committed
    // before the lock, and writers wait from here on.
    await reading.query(`LOCK TABLE ${all} IN SHARE MODE`);
    // Migrations insert rows into some tables; the source has the same rows.
    await writing.query(`TRUNCATE ${all}`);
    const total = options.onProgress === undefined ? 0 : await countRows(reading, names);
    const copied: CopiedTable[] = [];
    let before = 0;
    for (const name of names) {
      const onRows = (rows: number) => options.onProgress?.(before + rows, total);
      const table = await copyTable(name, { reading, writing }, onRows);
      copied.push(table);
      options.onTableCopied(table);
      before += table.rows;
    }
    await copySequences(source.schema, reading, writing);
    // Marks the rows as outdated, so that the next step rebuilds them.
    await writing.query("UPDATE row_tables SET declaration_hash = 'moved', names = '{}'");
    await writing.query("COMMIT");
    return copied;
  } finally {
    await reading.end();
    await writing.end();
  }
}

/** A move never overwrites rows. A schema that is only migrated is fine: an earlier move may have failed. */
async function assertTargetEmpty(target: Database): Promise<void> {
  const { rows } = await target.query<{ name: string }>({
    text: "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> ALL ($2)",
    values: [target.schema, OWN_TABLES],
  });
  const filled = rows.map(({ name }) => `EXISTS (SELECT FROM "${name}" WHERE ${OWN_ROWS[name] ?? "true"})`);
  if (filled.length === 0) return;
  const { rows: found } = await target.query<{ filled: boolean }>(`SELECT ${filled.join(" OR ")} AS filled`);
  if (found[0]?.filled === false) return;
  throw new Fault(
    "DATABASE_INCOMPATIBLE",
    `The schema "${target.schema}" of the database "${target.target.database}" is not empty; drop it, or set DATABASE_SCHEMA to another name.`,
  );
}

async function listTables(client: Client, schema: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> ALL ($2)
       AND tablename <> ALL (coalesce((SELECT names FROM row_tables), '{}')) ORDER BY tablename`,
    [schema, OWN_TABLES],
  );
  return rows.map(({ name }) => name);
}

async function countRows(client: Client, names: readonly string[]): Promise<number> {
  const counts = names.map((name) => `(SELECT count(*) FROM "${name}")`).join(" + ");
  const { rows } = await client.query<{ total: string }>(`SELECT (${counts || "0"})::text AS total`);
  return Number(rows[0]?.total ?? 0);
}

async function copyTable(
  name: string,
  { reading, writing }: { readonly reading: Client; readonly writing: Client },
  onRows: (done: number) => void,
): Promise<CopiedTable> {
  let passed = 0;
  await pipeline(
    reading.query(copyTo(`COPY "${name}" TO STDOUT`)),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        // The text format ends each row with a line break, and escapes those in values.
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) passed += 1;
        onRows(passed / 2);
        yield chunk;
      }
    },
    writing.query(copyFrom(`COPY "${name}" FROM STDIN`)),
  );
  const [before, after] = [await digestTable(reading, name), await digestTable(writing, name)];
  if (before.rows !== after.rows || before.digest !== after.digest) {
    throw new Fault(
      "INTERNAL",
      `The copy of the table ${name} differs from the original; nothing was moved.`,
    );
  }
  const rows = Number(after.rows);
  onRows(rows);
  return { name, rows };
}

/** The number of rows, and a sum of digests that does not depend on their order. */
async function digestTable(client: Client, name: string): Promise<{ rows: string; digest: string }> {
  const { rows } = await client.query<{ rows: string; digest: string }>(
    `SELECT count(*)::text AS rows,
       coalesce(sum(('x' || left(md5(t::text), 15))::bit(60)::bigint), 0)::text AS digest FROM "${name}" t`,
  );
  return rows[0] ?? { rows: "0", digest: "0" };
}

async function copySequences(schema: string, reading: Client, writing: Client): Promise<void> {
  const { rows } = await reading.query<{ name: string; last: string | null }>(
    "SELECT sequencename AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = $1",
    [schema],
  );
  for (const { name, last } of rows) {
    if (last !== null) await writing.query("SELECT setval($1::regclass, $2::bigint)", [`"${name}"`, last]);
  }
}
