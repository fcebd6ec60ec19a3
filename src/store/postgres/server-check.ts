// Checks before first use: server version, encoding, and the schema.
import { Fault } from "../../lib/fault.ts";
import { type DatabaseTarget, SQLSTATE, sqlState } from "./errors.ts";
import type { QueryRunner } from "./session.ts";

type CheckedDatabase = QueryRunner & { readonly schema: string; readonly target: DatabaseTarget };

// The oldest version that PostgreSQL supports, and that we test against.
const SERVER_VERSION_MIN = 140_000;

export async function assertSupportedServer(database: CheckedDatabase): Promise<void> {
  const { rows } = await database.query<{ number: string; version: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
            current_setting('server_encoding') AS encoding`,
  );
  const { number = "0", version = "unknown", encoding = "unknown" } = rows[0] ?? {};
  if (Number(number) < SERVER_VERSION_MIN) {
    throw new Fault(
      "DATABASE_INCOMPATIBLE",
      `PostgreSQL at ${database.target.server} is version ${version}; Sextant needs 14 or newer.`,
    );
  }
  if (encoding !== "UTF8") {
    throw new Fault(
      "DATABASE_INCOMPATIBLE",
      `The database "${database.target.database}" has the encoding ${encoding}; create one with ENCODING 'UTF8'.`,
    );
  }
}

export async function ensureSchema(database: CheckedDatabase): Promise<void> {
  const { schema, target } = database;
  // Checked first: a user without the right to create schemas may still use an existing one.
  const { rows } = await database.query({
    text: "SELECT 1 FROM pg_namespace WHERE nspname = $1",
    values: [schema],
  });
  if (rows.length > 0) return;
  try {
    await database.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  } catch (error) {
    // IF NOT EXISTS is not atomic: another process created the schema at the same moment.
    if (sqlState(error) === SQLSTATE.uniqueViolation || sqlState(error) === SQLSTATE.duplicateSchema) return;
    if (sqlState(error) !== SQLSTATE.insufficientPrivilege) throw error;
    throw new Fault(
      "DATABASE_INCOMPATIBLE",
      `The user "${target.user}" may not create the schema "${schema}" in the database "${target.database}"; create it for them, or grant CREATE.`,
      { cause: error },
    );
  }
}
