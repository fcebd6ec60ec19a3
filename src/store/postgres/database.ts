// The database as the rest of Sextant sees it: a checked server with a schema, statements and transactions.
import { Client } from "pg";
import { assertDefined } from "../../lib/assert-defined.ts";
import type { Log } from "../../lib/log.ts";
import {
  assertSupportedServer,
  createSetupSql,
  type DatabaseConnection,
  ensureSchema,
} from "./connection.ts";
import type { DatabaseTarget } from "./errors.ts";
import { ConnectionPool } from "./pool.ts";
import { assertSchemaName } from "./schema-name.ts";
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
  /** Keeps the server's own commit setting: what the indexer writes can be read from the chain again. */
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

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const [database] = await openDatabases(options, [options.schema]);
  return assertDefined(database, "the database of a schema");
}

/** Several schemas of one server with one pool for all of them: a session can change its schema. */
export async function openDatabases(
  options: Omit<DatabaseOptions, "schema">,
  schemas: readonly string[],
): Promise<readonly Database[]> {
  const databases = createDatabases(options, schemas);
  try {
    for (const database of databases) {
      await assertSupportedServer(database);
      await ensureSchema(database);
    }
  } catch (error) {
    for (const database of databases) await database.close();
    throw error;
  }
  return databases;
}

/** Without any statement: for a server that may be down now, and that cannot be written to. */
export function createDatabase(options: DatabaseOptions): Database {
  const [database] = createDatabases(options, [options.schema]);
  return assertDefined(database, "the database of a schema");
}

function createDatabases(
  options: Omit<DatabaseOptions, "schema">,
  schemas: readonly string[],
): readonly Database[] {
  const { log, applicationName, statementTimeoutMs = STATEMENT_MS_MAX } = options;
  for (const schema of schemas) assertSchemaName(schema);
  const servers = new ServerList(options.connection, applicationName, log);
  const [schema = ""] = schemas;
  const setupSql = createSetupSql(schema, statementTimeoutMs);
  const pool = new ConnectionPool({ servers, schema, setupSql, connectionsMax: options.poolMax, log });
  const open = new Set(schemas);
  // The last one that closes takes the pool with it.
  const close = async (each: string) => {
    if (open.delete(each) && open.size === 0) await pool.close();
  };
  const shared = { servers, pool, log, applicationName, statementTimeoutMs };
  return schemas.map((each) => createSchemaDatabase(each, { ...shared, close: () => close(each) }));
}

type SharedParts = {
  readonly servers: ServerList;
  readonly pool: ConnectionPool;
  readonly log: Log;
  readonly applicationName: string;
  readonly statementTimeoutMs: number;
  readonly close: () => Promise<void>;
};

function createSchemaDatabase(schema: string, shared: SharedParts): Database {
  const { servers, pool, log, applicationName, statementTimeoutMs, close } = shared;
  const { target } = servers;
  const limits = { target, statementTimeoutMs };
  return {
    schema,
    target,
    hasFailOver: servers.isList,
    pool,
    query: (statement) => pool.withClient(schema, (client) => runStatement(client, statement, limits)),
    transaction: (work, chosen = {}) =>
      pool.withClient(schema, (client) => runTransaction(client, work, { ...limits, ...chosen })),
    connect: (purpose, chosen = {}) =>
      connectClient({
        servers,
        applicationName: `${applicationName} ${purpose}`,
        setupSql: createSetupSql(schema, chosen.statementTimeoutMs ?? statementTimeoutMs, {
          keepsCommitSetting: chosen.bulkWrites ?? false,
        }),
        log,
        purpose,
        options: chosen,
      }),
    close,
  };
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
    const client = new Client(named);
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
