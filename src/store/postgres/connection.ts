// How a connection is configured, set up and checked, the same for pool, reader and lock.
import { Client, type ClientConfig } from "pg";
import { Fault } from "../../lib/fault.ts";
import type { Secret } from "../../lib/secret.ts";
import { typeParsers } from "../fast/driver-internals.ts";
import { type DatabaseTarget, SQLSTATE, sqlState } from "./errors.ts";
import type { QueryRunner } from "./session.ts";

export type DatabaseConnection =
  | {
      readonly url: Secret<string>;
      readonly connectMsMax?: number;
      /** The setting that the URL is from; DATABASE_URL if absent. */
      readonly variable?: string;
    }
  | { readonly host: string; readonly user: string; readonly database: string };

// Long enough for a busy server on another continent.
const DATABASE_CONNECT_MS_MAX = 10_000;
// A session that is idle inside a transaction holds locks and blocks VACUUM: a defect, ended after two minutes.
const IDLE_IN_TRANSACTION_MS_MAX = 120_000;
// Detects a vanished peer (power, network) after 10 + 3 × 5 seconds instead of two hours.
const KEEPALIVE = { idle: 10, interval: 5, count: 3 };

const URL_EXPECTED =
  "DATABASE_URL must be a PostgreSQL URL such as postgres://user:password@host:5432/database.";

export function createClientConfig(connection: DatabaseConnection, applicationName: string): ClientConfig {
  const shared = {
    application_name: applicationName,
    connectionTimeoutMillis: DATABASE_CONNECT_MS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE.idle * 1000,
    types: typeParsers,
  };
  if ("url" in connection) {
    const url = connection.url.reveal();
    if (!/^postgres(ql)?:\/\//.test(url)) throw new Fault("CONFIG_INVALID", URL_EXPECTED);
    const { connectMsMax = DATABASE_CONNECT_MS_MAX } = connection;
    return { ...shared, connectionTimeoutMillis: connectMsMax, connectionString: url };
  }
  // Explicit port and TLS mode, because the driver would otherwise take them from PGPORT and PGSSLMODE.
  return { ...shared, ...connection, port: 5432, ssl: false };
}

/** Reads the configuration as the driver does, so that messages name the server it connects to. */
export function readDatabaseTarget(config: ClientConfig): DatabaseTarget {
  try {
    const { host, port, database = "", user = "" } = new Client(config);
    return { server: host.startsWith("/") ? host : `${host}:${port}`, database, user };
  } catch (cause) {
    throw new Fault("CONFIG_INVALID", URL_EXPECTED, { cause });
  }
}

// A stock server plans for spinning disks, compiles each plan (`jit`: 160 to 1,450 ms per list) and starts parallel
// workers, but our statements are point reads and short lists. Sorting a page of analytics needs 8 MB, not 4.
const PLANNING: Readonly<Record<string, string>> = {
  jit: "off",
  max_parallel_workers_per_gather: "0",
  random_page_cost: "1.1",
  work_mem: "'8MB'",
};

// An acknowledged commit must survive the loss of the primary if a synchronous standby is configured. A server whose
// default is `off` or `local` acknowledges earlier; other values of the operator stay.
const COMMIT_ON_STANDBY = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') IN ('off', 'local')`;

/** Sent first on every connection; not as startup options, which connection poolers reject. */
export function createSetupSql(
  schema: string,
  statementTimeoutMs: number,
  { keepsCommitSetting = false } = {},
): string {
  return [
    `SET search_path TO "${schema}"`,
    "SET client_encoding TO 'UTF8'",
    "SET timezone TO 'UTC'",
    "SET bytea_output TO hex",
    "SET client_min_messages TO warning",
    ...Object.entries(PLANNING).map(([setting, value]) => `SET ${setting} TO ${value}`),
    ...(keepsCommitSetting ? [] : [COMMIT_ON_STANDBY]),
    `SET statement_timeout TO ${statementTimeoutMs}`,
    `SET idle_in_transaction_session_timeout TO ${IDLE_IN_TRANSACTION_MS_MAX}`,
    `SET tcp_keepalives_idle TO ${KEEPALIVE.idle}`,
    `SET tcp_keepalives_interval TO ${KEEPALIVE.interval}`,
    `SET tcp_keepalives_count TO ${KEEPALIVE.count}`,
  ].join("; ");
}

type CheckedDatabase = QueryRunner & { readonly schema: string; readonly target: DatabaseTarget };

// The oldest version that PostgreSQL supports, and that we test against.
const SERVER_VERSION_MIN = 140_000;

/** Checks version and encoding before first use. */
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
