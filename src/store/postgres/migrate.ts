// Migrations: numbered, applied once and in order; a database that does not match the code is rejected.
import { createHash } from "node:crypto";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { acquireLock } from "./advisory-lock.ts";
import type { Database } from "./database.ts";
import { runWithLockTimeout } from "./lock-timeout.ts";
import { openStatements, type Session } from "./session.ts";

export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /**
   * The name of the index that `sql` builds concurrently, which locks out no writer and cannot run in a transaction.
   * The migration does nothing else.
   */
  readonly concurrentIndex?: string;
  /** Runs after `sql` if this version makes the schema: then no process of an earlier one reads it. */
  readonly sqlIfNew?: string;
  /**
   * Set when comments changed after release: databases hold `checksum`, the sha256 of the released text. It stays
   * valid as long as the text without comment lines has the sha256 `statements`.
   */
  readonly published?: { readonly checksum: string; readonly statements: string };
};

type AppliedMigration = { version: number; name: string; checksum: string };

// Another process may be migrating a large database; a longer wait needs an operator.
const WAIT_MS_MAX = 600_000;
// Building an index over many million rows.
const STATEMENT_MS_MAX = 3_600_000;
// About ten minutes while a backup runs; a supervisor that restarts the process then continues the wait.
const ATTEMPTS_MAX = 120;

/** Migrates the schema to the newest version and returns the number of migrations applied. */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  log: Log,
): Promise<number> {
  assertConsecutive(migrations);
  // Usually nothing is pending, and then the lock is not needed.
  if (findPending(await readApplied(database), migrations).length === 0) return 0;

  const lock = await acquireLock(database, "migrate", { waitMs: WAIT_MS_MAX });
  if (!lock) {
    throw new Fault("TIMED_OUT", "Another process has been migrating the database for over ten minutes.");
  }
  try {
    await lock.transaction((session) =>
      session.query(
        `CREATE TABLE IF NOT EXISTS migrations (
           version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
           applied_at timestamptz NOT NULL DEFAULT now())`,
      ),
    );
    const todo = findPending(await readApplied(database), migrations);
    const commit = (work: (session: Session) => Promise<void>) =>
      runWithLockTimeout(lock, work, { statementTimeoutMs: STATEMENT_MS_MAX, attemptsMax: ATTEMPTS_MAX });
    if (todo.length === migrations.length) {
      logMigrations(log, todo);
      // One transaction: a schema that a killed process left half made would later count as one of another version.
      await commit((session) => makeSchema(session, todo));
      return todo.length;
    }
    for (const migration of todo) {
      logMigrations(log, [migration]);
      if (migration.concurrentIndex !== undefined) await buildIndex(database, migration);
      await commit((session) => apply(session, migration));
    }
    return todo.length;
  } finally {
    await lock.release();
  }
}

/** On a connection of its own. A process that died while it built the index left one that is never used. */
async function buildIndex(database: Database, { concurrentIndex, sql }: Migration): Promise<void> {
  const client = await database.connect("migration", { statementTimeoutMs: STATEMENT_MS_MAX });
  const { target } = database;
  const session = openStatements(client, { target, statementTimeoutMs: STATEMENT_MS_MAX });
  try {
    await session.query(`DROP INDEX CONCURRENTLY IF EXISTS ${concurrentIndex}`);
    await session.query(sql);
  } finally {
    await client.end();
  }
}

function logMigrations(log: Log, migrations: readonly Migration[]): void {
  for (const { version, name } of migrations) {
    log.info({ component: "store", event: "migrating", version, migration: name }, "Migrating the database");
  }
}

async function makeSchema(session: Session, migrations: readonly Migration[]): Promise<void> {
  for (const migration of migrations) {
    const { sql, sqlIfNew, concurrentIndex } = migration;
    // A transaction can build no index concurrently, and a new schema has no writers to wait for.
    if (concurrentIndex !== undefined) await session.query(sql.replace(/ concurrently /i, " "));
    await apply(session, migration);
    if (sqlIfNew !== undefined) await session.query(sqlIfNew);
  }
}

async function apply(session: Session, migration: Migration): Promise<void> {
  const { version, name, sql, concurrentIndex } = migration;
  if (concurrentIndex === undefined) await session.query(sql);
  await session.query({
    text: "INSERT INTO migrations (version, name, checksum) VALUES ($1, $2, $3)",
    values: [version, name, checksumOf(migration)],
  });
}

async function readApplied(database: Database): Promise<AppliedMigration[]> {
  const table = {
    text: "SELECT to_regclass($1) IS NOT NULL AS exists",
    values: [`${database.schema}.migrations`],
  };
  const { rows } = await database.query<{ exists: boolean }>(table);
  if (rows[0]?.exists !== true) return [];
  const applied = await database.query<AppliedMigration>(
    "SELECT version, name, checksum FROM migrations ORDER BY version",
  );
  return applied.rows;
}

function findPending(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): readonly Migration[] {
  for (const { version, name, checksum } of applied) {
    const known = migrations[version - 1];
    if (!known) {
      throw new Fault(
        "DATABASE_INCOMPATIBLE",
        `The database has migration ${version} (${name}), which this version of Sextant does not know; run the newer version, or use another DATABASE_SCHEMA.`,
      );
    }
    if (checksumOf(known) !== checksum) {
      throw new Fault(
        "DATABASE_INCOMPATIBLE",
        `Migration ${version} (${known.name}) is not the one this database was made with; run the version that made it, or use another DATABASE_SCHEMA.`,
      );
    }
  }
  return migrations.slice(applied.length);
}

function assertConsecutive(migrations: readonly Migration[]): void {
  const wrong = migrations.findIndex(({ version }, index) => version !== index + 1);
  if (wrong >= 0) throw new RangeError(`migration ${wrong + 1} has version ${migrations[wrong]?.version}`);
}

/** The checksum that a database records for a migration. */
export function checksumOf({ sql, published }: Migration): string {
  // Line ends depend on the checkout and mean nothing to the database.
  const text = sql.replaceAll("\r\n", "\n");
  return published && sha256(withoutComments(text)) === published.statements
    ? published.checksum
    : sha256(text);
}

/** Drops whole comment lines only: a `--` behind a statement could be part of a string. */
function withoutComments(text: string): string {
  return text
    .split("\n")
    .filter((line) => !/^\s*--/.test(line))
    .join("\n");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
