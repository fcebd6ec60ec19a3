// Migrations: numbered, applied once and in order, and a database that does not fit the code is refused.
import { createHash } from "node:crypto";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { acquireLock } from "./advisory-lock.ts";
import type { Database } from "./database.ts";
import { runWithLockTimeout } from "./lock-timeout.ts";
import type { Session } from "./session.ts";

export type Migration = { readonly version: number; readonly name: string; readonly sql: string };

type Applied = { version: number; name: string; checksum: string };

// Another process may be migrating a large database; whoever waits longer than this should be looked at.
const WAIT_MS_MAX = 600_000;
// Building an index over many million rows.
const STATEMENT_MS_MAX = 3_600_000;
// About ten minutes beside a backup; a process that is started again then goes on waiting.
const ATTEMPTS_MAX = 120;

/** Brings the schema to the newest version and tells how many migrations that took. */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  log: Log,
): Promise<number> {
  refuseDisorder(migrations);
  // Mostly there is nothing to do, and then nobody needs the lock.
  if (pending(await readApplied(database), migrations).length === 0) return 0;

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
    const todo = pending(await readApplied(database), migrations);
    for (const migration of todo) {
      log.info({ version: migration.version, migration: migration.name }, "Migrating the database");
      await runWithLockTimeout(lock, (session) => apply(session, migration), {
        statementTimeoutMs: STATEMENT_MS_MAX,
        attemptsMax: ATTEMPTS_MAX,
      });
    }
    return todo.length;
  } finally {
    await lock.release();
  }
}

async function apply(session: Session, { version, name, sql }: Migration): Promise<void> {
  await session.query(sql);
  await session.query({
    text: "INSERT INTO migrations (version, name, checksum) VALUES ($1, $2, $3)",
    values: [version, name, checksumOf(sql)],
  });
}

async function readApplied(database: Database): Promise<Applied[]> {
  const table = {
    text: "SELECT to_regclass($1) IS NOT NULL AS exists",
    values: [`${database.schema}.migrations`],
  };
  const { rows } = await database.query<{ exists: boolean }>(table);
  if (rows[0]?.exists !== true) return [];
  const applied = await database.query<Applied>(
    "SELECT version, name, checksum FROM migrations ORDER BY version",
  );
  return applied.rows;
}

function pending(applied: readonly Applied[], migrations: readonly Migration[]): readonly Migration[] {
  for (const { version, name, checksum } of applied) {
    const known = migrations[version - 1];
    if (!known) {
      throw new Fault(
        "DATABASE_INCOMPATIBLE",
        `The database has migration ${version} (${name}), which this version of Sextant does not know; run the newer version, or use another DATABASE_SCHEMA.`,
      );
    }
    if (checksumOf(known.sql) !== checksum) {
      throw new Fault(
        "DATABASE_INCOMPATIBLE",
        `Migration ${version} (${known.name}) is not the one this database was made with; run the version that made it, or use another DATABASE_SCHEMA.`,
      );
    }
  }
  return migrations.slice(applied.length);
}

function refuseDisorder(migrations: readonly Migration[]): void {
  const wrong = migrations.findIndex(({ version }, index) => version !== index + 1);
  if (wrong >= 0) throw new RangeError(`migration ${wrong + 1} has version ${migrations[wrong]?.version}`);
}

// Line ends depend on how the code was checked out, and mean nothing to the database.
function checksumOf(sql: string): string {
  return createHash("sha256").update(sql.replaceAll("\r\n", "\n")).digest("hex");
}
