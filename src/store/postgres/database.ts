// The database as the rest of Sextant sees it: a checked server with a schema, statements and transactions.
import { Client } from "pg";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { createThreadedClient } from "../fast/threaded-socket.ts";
import {
  assertSupportedServer,
  createSetupSql,
  type DatabaseConnection,
  ensureSchema,
} from "./connection.ts";
import type { DatabaseTarget } from "./errors.ts";
import { ConnectionPool } from "./pool.ts";
import { ServerList } from "./server-list.ts";
import {
  runStatement,
  runTransaction,
  type Session,
  type SqlStatement,
  type StatementResult,
  type TransactionOptions,
} from "./session.ts";

export type Database = {
  readonly schema: string;
  readonly target: DatabaseTarget;
  /** Whether the URL names several servers, of which one is the primary. */
  readonly hasFailOver: boolean;
  readonly pool: { readonly total: number; readonly idle: number; readonly waiting: number };
  /** Runs one statement on any free connection. */
  query<R extends object = Record<string, unknown>>(
    statement: string | SqlStatement,
  ): Promise<StatementResult<R>>;
  /** Commits when `work` resolves; rolls back when it rejects. */
  transaction<T>(work: (session: Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** A connection outside the pool, set up the same way; the caller ends it. */
  connect(purpose: string, options?: ConnectOptions): Promise<Client>;
  close(): Promise<void>;
};

type ConnectOptions = {
  readonly pipeline?: boolean;
  readonly statementTimeoutMs?: number;
  /** For large writes by a process that is busy meanwhile: a thread sends them. */
  readonly bulkWrites?: boolean;
  /** Changes the client before it connects. */
  readonly beforeConnect?: (client: Client) => void;
};

type DatabaseOptions = {
  readonly connection: DatabaseConnection;
  readonly schema: string;
  readonly poolMax: number;
  readonly log: Log;
  readonly applicationName: string;
  readonly statementTimeoutMs?: number;
};

// No request waits this long; longer work (a rebuild, a migration) sets its own limit.
const STATEMENT_MS_MAX = 30_000;
// A name that needs no quoting anywhere, with room for suffixes below PostgreSQL's 63 bytes.
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const database = createDatabase(options);
  try {
    await assertSupportedServer(database);
    await ensureSchema(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** Without any statement: for a server that may be down now, and that cannot be written to. */
export function createDatabase(options: DatabaseOptions): Database {
  const { schema, log, applicationName, statementTimeoutMs = STATEMENT_MS_MAX } = options;
  assertSchemaName(schema);
  const servers = new ServerList(options.connection, applicationName, log);
  const { target } = servers;
  const limits = { target, statementTimeoutMs };
  const setupSql = createSetupSql(schema, statementTimeoutMs);
  const pool = new ConnectionPool({ servers, setupSql, connectionsMax: options.poolMax, log });
  return {
    schema,
    target,
    hasFailOver: servers.isList,
    pool,
    query: (statement) => pool.withClient((client) => runStatement(client, statement, limits)),
    transaction: (work, chosen = {}) =>
      pool.withClient((client) => runTransaction(client, work, { ...limits, ...chosen })),
    connect: (purpose, chosen = {}) =>
      connectClient({
        servers,
        applicationName: `${applicationName} ${purpose}`,
        // What the indexer writes can be read from the chain again: the server's own setting decides.
        setupSql: createSetupSql(schema, chosen.statementTimeoutMs ?? statementTimeoutMs, {
          keepsCommitSetting: chosen.bulkWrites ?? false,
        }),
        log,
        purpose,
        options: chosen,
      }),
    close: () => pool.close(),
  };
}

function assertSchemaName(schema: string): void {
  if (SCHEMA_NAME.test(schema) && !schema.startsWith("pg_")) return;
  throw new Fault(
    "CONFIG_INVALID",
    "DATABASE_SCHEMA must be 1 to 48 lower-case letters, digits and underscores, not start with a digit, and not with pg_.",
  );
}

type ClientOptions = {
  readonly servers: ServerList;
  readonly applicationName: string;
  readonly setupSql: string;
  readonly log: Log;
  readonly purpose: string;
  readonly options: ConnectOptions;
};

function connectClient({ servers, ...given }: ClientOptions): Promise<Client> {
  const { applicationName, setupSql, log, purpose, options } = given;
  return servers.connect(async (config) => {
    const named = { ...config, application_name: applicationName, pipeline: options.pipeline ?? false };
    const client = options.bulkWrites ? createThreadedClient(named) : new Client(named);
    options.beforeConnect?.(client);
    // For callers that do not listen: an unhandled error event would end the process.
    client.on("error", ({ message }) =>
      log.warn(
        { component: "store", event: "connection_lost", reason: message, purpose },
        "A database connection was lost",
      ),
    );
    try {
      await client.connect();
      await servers.setUp(client, setupSql);
      return client;
    } catch (error) {
      // It may be half open; the failure to end it adds nothing to the error below.
      await client.end().catch(() => undefined);
      throw error;
    }
  });
}
