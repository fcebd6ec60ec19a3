// The set of row tables and their indexes: created from their declarations; indexes are replaced when those change.
import { createHash } from "node:crypto";
import type { Table } from "../../schema/table.ts";
import type { Lock } from "../postgres/advisory-lock.ts";
import { SQLSTATE, sqlState } from "../postgres/errors.ts";
import { runWithLockTimeout } from "../postgres/lock-timeout.ts";
import type { QueryRunner, Session } from "../postgres/session.ts";
import {
  addPrimaryKeySql,
  createBareTableSql,
  createKeyIndexSql,
  createTableSql,
  readIndexes,
  type TableIndex,
  writeIndexes,
} from "./versioned-rows.ts";

/** The sources of the rows: the tables, and the version of the folds that fill them. */
export type RowDeclaration = {
  readonly tables: readonly Table[];
  readonly foldVersion: number | string;
  /** Earlier versions that make exactly the same rows. */
  readonly equivalentFoldVersions?: readonly (number | string)[];
};

function hashRowDeclaration({ tables, foldVersion }: RowDeclaration): string {
  const statements = tables.flatMap((table) => [createTableSql(table), table.history]);
  return createHash("sha256")
    .update(JSON.stringify([foldVersion, statements]))
    .digest("hex");
}

/** `absent`: never created. `stale`: made from other declarations, or from logs that were repaired since. `current`: as declared. */
type RowTablesState = "absent" | "stale" | "current";

export async function readRowTablesState(
  session: QueryRunner,
  declaration: RowDeclaration,
): Promise<RowTablesState> {
  const { rows } = await session.query<{ declaration_hash: string }>(
    "select declaration_hash from row_tables",
  );
  const [made] = rows;
  if (!made) return "absent";
  return isMadeFrom(declaration, made.declaration_hash) ? "current" : "stale";
}

/** Whether rows whose declaration has this hash are those of the declaration. */
export function isMadeFrom(declaration: RowDeclaration, declarationHash: string): boolean {
  const { tables, foldVersion, equivalentFoldVersions = [] } = declaration;
  return [foldVersion, ...equivalentFoldVersions].some(
    (version) => hashRowDeclaration({ tables, foldVersion: version }) === declarationHash,
  );
}

export async function createRowTables(session: Session, tables: readonly Table[]): Promise<void> {
  for (const table of tables) await session.query(createTableSql(table));
}

export async function recordRowTables(session: Session, declaration: RowDeclaration): Promise<void> {
  await session.query({
    text: `insert into row_tables (declaration_hash, names) values ($1, $2)
           on conflict (only_row) do update set declaration_hash = excluded.declaration_hash, names = excluded.names`,
    values: [hashRowDeclaration(declaration), declaration.tables.map(({ name }) => name)],
  });
}

/** The logs that the rows were made from have changed: the next process that opens the tables rebuilds them. */
export async function markRowTablesStale(session: Session): Promise<void> {
  await session.query("update row_tables set declaration_hash = 'stale'");
}

/** Names of the existing row tables, which may differ from the declared ones. */
export async function readRowTableNames(session: QueryRunner): Promise<readonly string[]> {
  const { rows } = await session.query<{ names: string[] }>("select names from row_tables");
  return rows[0]?.names ?? [];
}

/** The statement becomes the comment of the index, so that a later start can compare it with the declaration. */
async function createIndex(session: Session, index: TableIndex, name = index.name): Promise<void> {
  await session.query(index.create(name));
  await session.query(`comment on index ${name} is '${commentOf(index)}'`);
}

const commentOf = ({ name, create }: TableIndex): string => create(name);

/** For tables with a primary key. */
export async function createRowIndexes(session: Session, tables: readonly Table[]): Promise<void> {
  await dropLogIndex(session);
  await session.query(CREATE_LOG_INDEX);
  for (const index of tables.flatMap((table) => [...writeIndexes(table), ...readIndexes(table)]))
    await createIndex(session, index);
}

/** For tables that are filled next: what writing needs, and nothing else. */
export async function createBareRowTables(session: Session, tables: readonly Table[]): Promise<void> {
  for (const table of tables) await session.query(createBareTableSql(table));
  for (const index of tables.flatMap(writeIndexes)) await createIndex(session, index);
}

/**
 * Creates the indexes that reading needs. Building them from complete tables is faster and makes them smaller.
 * `addPrimaryKey` comes after it.
 */
export async function createReadIndexes(session: Session, table: Table): Promise<void> {
  await session.query(createKeyIndexSql(table));
  for (const index of readIndexes(table)) await createIndex(session, index);
}

export async function addPrimaryKey(session: Session, table: Table): Promise<void> {
  await session.query(addPrimaryKeySql(table));
}

const LOG_INDEX = "logs_by_tx_hash";
// Seven bytes of a hash are as good as unique, and with their length take no more room than four would.
const CREATE_LOG_INDEX = `create index ${LOG_INDEX} on logs (substring(tx_hash from 1 for 7))`;

/** Before the first logs are written; `makeLogIndex` makes it once they are there. */
export async function dropLogIndex(session: Session): Promise<void> {
  await session.query(`drop index if exists ${LOG_INDEX}`);
}

/** Makes the index of logs by transaction unless one exists: those of whole hashes that earlier versions made serve as well. */
export async function makeLogIndex(lock: Lock, update: Omit<IndexUpdate, "tables">): Promise<void> {
  const { statementTimeoutMs, signal, onIndex } = update;
  signal.throwIfAborted();
  const found = await lock.transaction(async (session) => {
    const { rows } = await session.query<{ index: string | null }>(
      `select to_regclass('${LOG_INDEX}') as index`,
    );
    return rows[0]?.index ?? null;
  });
  if (found !== null) return;
  onIndex({ name: LOG_INDEX, number: 1, count: 1 });
  await lock.transaction((session) => session.query(CREATE_LOG_INDEX), { statementTimeoutMs });
}

/** Our indexes of the tables by name, with the statements that made them; those of operators have no such comment. */
async function readMadeIndexes(session: QueryRunner, tables: readonly Table[]): Promise<Map<string, string>> {
  const { rows } = await session.query<{ name: string; made_from: string }>({
    text: `select i.relname as name, obj_description(i.oid, 'pg_class') as made_from
      from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      where t.relnamespace = current_schema()::regnamespace and t.relname = any($1)
        and obj_description(i.oid, 'pg_class') ~ '^create (unique )?index '`,
    values: [tables.map(({ name }) => name)],
  });
  return new Map(rows.map(({ name, made_from }) => [name, made_from]));
}

/** The tables that have no primary key yet. */
export async function findBareTables(session: QueryRunner, tables: readonly Table[]): Promise<Table[]> {
  const { rows } = await session.query<{ name: string }>({
    text: `select t.relname as name from pg_class t
      where t.relnamespace = current_schema()::regnamespace and t.relkind = 'r' and t.relname = any($1)
        and not exists (select from pg_index x where x.indrelid = t.oid and x.indisprimary)`,
    values: [tables.map(({ name }) => name)],
  });
  const bare = new Set(rows.map(({ name }) => name));
  return tables.filter(({ name }) => bare.has(name));
}

type IndexUpdate = {
  readonly tables: readonly Table[];
  readonly statementTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Called before each index. */
  readonly onIndex: (index: IndexProgress) => void;
};

export type IndexProgress = { readonly name: string; readonly number: number; readonly count: number };

/** Gives bare tables what reading needs, table by table: a process that dies leaves whole tables done. */
export async function finishRowTables(lock: Lock, update: IndexUpdate): Promise<void> {
  const { statementTimeoutMs, signal, onIndex } = update;
  const tables = await lock.transaction((session) => findBareTables(session, update.tables));
  const count = tables.length + tables.flatMap(readIndexes).length;
  let number = 0;
  for (const table of tables) {
    signal.throwIfAborted();
    const { unfit, missing } = await lock.transaction((session) => inspectFirstIndexes(session, table));
    const attempts = { statementTimeoutMs, attemptsMax: Number.POSITIVE_INFINITY, signal };
    for (const name of unfit)
      await runWithLockTimeout(lock, (session) => session.query(`drop index if exists ${name}`), attempts);
    const makeIndexes = async (session: Session) => {
      for (const index of missing) {
        onIndex({ name: index.name, number: number + 1, count });
        number += 1;
        await index.make(session);
      }
    };
    await lock.transaction(makeIndexes, { statementTimeoutMs });
    await addPrimaryKeyIfFree(lock, table, update);
  }
}

type FirstIndex = { readonly name: string; readonly make: (session: Session) => Promise<void> };

/** The indexes that a bare table lacks, and the names among theirs that another index uses. */
async function inspectFirstIndexes(
  session: QueryRunner,
  table: Table,
): Promise<{ readonly unfit: readonly string[]; readonly missing: readonly FirstIndex[] }> {
  const keyIndex: FirstIndex = {
    name: `${table.name}_pkey`,
    make: async (making) => void (await making.query(createKeyIndexSql(table))),
  };
  const indexes = readIndexes(table).map((index) => ({
    ...index,
    make: (making: Session) => createIndex(making, index),
  }));
  const { rows } = await session.query<{ name: string; comment: string | null; is_key: boolean }>({
    text: `select c.relname as name, obj_description(c.oid, 'pg_class') as comment,
        x.indisunique and x.indisvalid and pg_get_indexdef(c.oid) like $2 as is_key
      from pg_class c join pg_index x on x.indexrelid = c.oid
      where c.relnamespace = current_schema()::regnamespace and c.relname = any($1)`,
    values: [[keyIndex, ...indexes].map(({ name }) => name), `%(${table.key.join(", ")}, valid_from)`],
  });
  const found = new Map(rows.map((row) => [row.name, row]));
  const isFit = ({ name }: FirstIndex) => {
    const index = indexes.find((each) => each.name === name);
    return index ? found.get(name)?.comment === commentOf(index) : found.get(name)?.is_key === true;
  };
  const missing = [keyIndex, ...indexes].filter((index) => !isFit(index));
  return { missing, unfit: missing.map(({ name }) => name).filter((name) => found.has(name)) };
}

// Readers finish within these attempts. A backup may hold the table for hours; the key then waits for the next start,
// because reads have its index already and new blocks must not wait.
const KEY_ATTEMPTS_MAX = 3;

async function addPrimaryKeyIfFree(lock: Lock, table: Table, update: IndexUpdate): Promise<void> {
  const { statementTimeoutMs, signal } = update;
  const attempts = { statementTimeoutMs, attemptsMax: KEY_ATTEMPTS_MAX, signal };
  await runWithLockTimeout(lock, (session) => addPrimaryKey(session, table), attempts).catch((error) => {
    if (sqlState(error) !== SQLSTATE.lockNotAvailable) throw error;
  });
}

/**
 * Makes the indexes as declared without touching a row. Readers go on: an index is made next to the old one, and both
 * are swapped at the end. The next update uses what an interrupted one has made, unless the declaration has changed.
 */
export async function updateRowIndexes(lock: Lock, update: IndexUpdate): Promise<void> {
  const { tables, statementTimeoutMs, signal } = update;
  const declared = tables.flatMap((table) => [...writeIndexes(table), ...readIndexes(table)]);
  const made = await lock.transaction((session) => readMadeIndexes(session, tables));
  const changed = declared.filter((index) => made.get(index.name) !== commentOf(index));
  const kept = new Set(declared.filter((index) => !changed.includes(index)).map(({ name }) => name));
  const replacing = new Set(changed.map(newName));
  const dropped = [...made.keys()].filter((name) => !kept.has(name) && !replacing.has(name));
  if (changed.length === 0 && dropped.length === 0) return;
  // An index and its comment are committed together: one with the right comment is complete.
  const missing = changed.filter((index) => made.get(newName(index)) !== commentOf(index));
  for (const [at, index] of missing.entries()) {
    signal.throwIfAborted();
    update.onIndex({ name: index.name, number: at + 1, count: missing.length });
    await makeReplacement(lock, index, update);
  }
  const swap = async (session: Session) => {
    // Every read locks the checkpoint first; without this lock, dropping one index after the other could deadlock with it.
    await session.query("lock table checkpoint in access exclusive mode");
    for (const name of [...dropped, ...changed.map((index) => index.name)])
      await session.query(`drop index if exists ${name}`);
    for (const index of changed) await session.query(`alter index ${newName(index)} rename to ${index.name}`);
  };
  await runWithLockTimeout(lock, swap, { statementTimeoutMs, attemptsMax: Number.POSITIVE_INFINITY, signal });
}

/** Dropping locks readers out until its transaction ends, so it must not wait for the build, which may take hours. */
async function makeReplacement(lock: Lock, index: TableIndex, update: IndexUpdate): Promise<void> {
  const { statementTimeoutMs, signal } = update;
  const attempts = { statementTimeoutMs, attemptsMax: Number.POSITIVE_INFINITY, signal };
  await runWithLockTimeout(
    lock,
    (session) => session.query(`drop index if exists ${newName(index)}`),
    attempts,
  );
  signal.throwIfAborted();
  await lock.transaction((session) => createIndex(session, index, newName(index)), { statementTimeoutMs });
}

const newName = ({ name }: TableIndex): string => `${name}_new`;
