// Before anything is stored: is this server fit for us, and is there a schema to store it in.
import { Fault } from "../../lib/fault.ts";
import { type DatabaseTarget, sqlState } from "./errors.ts";
import type { Session } from "./session.ts";

type Checked = { readonly schema: string; readonly target: DatabaseTarget; readonly query: Session["query"] };

// The oldest version PostgreSQL itself still supports, and the oldest we test the statements against.
const SERVER_VERSION_MIN = 140_000;

export async function assertSupportedServer(database: Checked): Promise<void> {
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

export async function ensureSchema(database: Checked): Promise<void> {
  const { schema, target } = database;
  // Asked first: a user who may not create schemas may well use one that was made for them.
  const { rows } = await database.query({
    text: "SELECT 1 FROM pg_namespace WHERE nspname = $1",
    values: [schema],
  });
  if (rows.length > 0) return;
  try {
    await database.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  } catch (error) {
    // Two processes made it at the same moment: IF NOT EXISTS looks before it leaps, and the other one leapt.
    if (sqlState(error) === "23505" || sqlState(error) === "42P06") return;
    if (sqlState(error) !== "42501") throw error;
    throw new Fault(
      "DATABASE_INCOMPATIBLE",
      `The user "${target.user}" may not create the schema "${schema}" in the database "${target.database}"; create it for them, or grant CREATE.`,
      { cause: error },
    );
  }
}
