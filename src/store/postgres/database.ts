// The database as the rest of Sextant sees it: a checked server with a schema, statements, transactions and a pool.

import { once } from "node:events";
import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient } from "pg";
import { assertDefined } from "../../lib/assert-defined.ts";
import type { Log } from "../../lib/log.ts";
import {
  assertSupportedServer,
  createSetupSql,
  type DatabaseConnection,
  ensureSchema,
} from "./connection.ts";
import type { DatabaseTarget } from "./errors.ts";
import { assertSchemaName } from "./schema-name.ts";
import { ServerList } from "./server-list.ts";
import {
  mustDiscardConnection,
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
  const { target } = servers;
  const limits = { target, statementTimeoutMs };
  return schemas.map((each) => ({
    schema: each,
    target,
    hasFailOver: servers.isList,
    pool,
    query: (statement) => pool.withClient(each, (client) => runStatement(client, statement, limits)),
    transaction: (work, chosen = {}) =>
      pool.withClient(each, (client) => runTransaction(client, work, { ...limits, ...chosen })),
    connect: (purpose, chosen = {}) => {
      const msMax = chosen.statementTimeoutMs ?? statementTimeoutMs;
      const setupSql = createSetupSql(each, msMax, { keepsCommitSetting: chosen.bulkWrites ?? false });
      const name = `${applicationName} ${purpose}`;
      return connectClient(servers, { ...chosen, name, setupSql }, (reason) =>
        log.warn(
          { component: "store", event: "connection_lost", reason, purpose },
          "A database connection was lost",
        ),
      );
    },
    async close() {
      // The last one that closes takes the pool with it.
      if (open.delete(each) && open.size === 0) await pool.close();
    },
  }));
}

function connectClient(
  servers: ServerList,
  options: ConnectOptions & { readonly name: string; readonly setupSql: string },
  onLost: (reason: string) => void,
): Promise<Client> {
  return servers.connect(async (config) => {
    const named = { ...config, application_name: options.name, pipeline: options.pipeline ?? false };
    const client = new Client(named);
    options.beforeConnect?.(client);
    // For callers that do not listen: an unhandled error event would end the process.
    client.on("error", ({ message }) => onLost(message));
    try {
      await client.connect();
      await servers.setUp(client, options.setupSql);
      return client;
    } catch (error) {
      // It may be half open; the failure to end it adds nothing to the error below.
      await client.end().catch(() => undefined);
      throw error;
    }
  });
}

type PoolOptions = {
  readonly servers: ServerList;
  /** The schema of a session, and what is sent first on every connection, with this schema in it. */
  readonly schema: string;
  readonly setupSql: string;
  readonly connectionsMax: number;
  readonly log: Log;
};

// Connections are cheap to keep and take 5 ms to open: keep them through a quiet minute.
const IDLE_MS_MAX = 60_000;
// Closing is one message each way; an unreachable server never confirms it.
const CLOSE_MS_MAX = 3_000;
// Changing the schema reads and writes nothing; a server that hangs must not keep the connection.
const SCHEMA_MS_MAX = 1_000;

/** Borrows clients, discards broken ones, and closes with all sessions ended. */
class ConnectionPool {
  readonly #pool: Pool;
  readonly #servers: ServerList;
  readonly #log: Log;
  readonly #connected = new Set<PoolClient>();
  readonly #schema: string;
  /** The schema of sessions that were last used for another one than the first. */
  readonly #schemaOf = new WeakMap<PoolClient, string>();

  constructor({ servers, schema, setupSql, connectionsMax, log }: PoolOptions) {
    this.#schema = schema;
    this.#servers = servers;
    this.#log = log;
    this.#pool = new Pool({
      ...servers.config,
      // The pool has one configuration; after a fail-over its next connections go to another server.
      Client: class extends Client {
        constructor(config?: ClientConfig) {
          super({ ...config, ...servers.config });
        }
      },
      max: connectionsMax,
      idleTimeoutMillis: IDLE_MS_MAX,
      onConnect: (client: ClientBase) => servers.setUp(client, setupSql),
    });
    // The pool drops a lost idle connection itself, and opens another one on demand. Only the message is logged: the
    // driver attaches the whole client to this error, including the session's secrets.
    this.#pool.on("error", ({ message }) =>
      log.warn(
        { component: "store", event: "idle_connection_lost", reason: message },
        "An idle database connection was lost",
      ),
    );
    this.#pool.on("connect", (client) => this.#connected.add(client));
    this.#pool.on("remove", (client) => this.#connected.delete(client));
  }

  get total(): number {
    return this.#pool.totalCount;
  }

  get idle(): number {
    return this.#pool.idleCount;
  }

  get waiting(): number {
    return this.#pool.waitingCount;
  }

  /** A session is used for one schema at a time; the next task may need another. */
  async withClient<T>(schema: string, task: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#servers.connect(() => this.#borrow());
    // Between two statements no query handles the error event, and an unhandled one would end the process.
    const onError = ({ message }: Error) =>
      this.#log.warn(
        { component: "store", event: "connection_lost", reason: message },
        "A database connection was lost",
      );
    client.on("error", onError);
    let mustDiscard = false;
    try {
      await this.#useSchema(client, schema);
      return await task(client);
    } catch (error) {
      mustDiscard = mustDiscardConnection(client);
      if (mustDiscard) this.#servers.suspect();
      throw error;
    } finally {
      client.off("error", onError);
      client.release(mustDiscard);
    }
  }

  async #useSchema(client: PoolClient, schema: string): Promise<void> {
    if ((this.#schemaOf.get(client) ?? this.#schema) === schema) return;
    const limits = { target: this.#servers.target, statementTimeoutMs: SCHEMA_MS_MAX };
    await runStatement(client, `SET search_path TO "${schema}"`, limits);
    this.#schemaOf.set(client, schema);
  }

  /** Connections to a server that has been replaced are closed: it may hang, or still accept reads. */
  async #borrow(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#pool.connect();
      if (this.#servers.isCurrent(client)) return client;
      client.release(true);
    }
  }

  /** Waits until every connection is closed: pool.end() resolves earlier, when the goodbyes are sent. */
  async close(): Promise<void> {
    await this.#pool.end();
    const timeout = AbortSignal.timeout(CLOSE_MS_MAX);
    while (this.#connected.size > 0 && !timeout.aborted) {
      await once(this.#pool, "remove", { signal: timeout }).catch((err) => {
        const openConnections = this.#connected.size;
        this.#log.warn(
          { component: "store", event: "close_timed_out", err, openConnections },
          "Some database connections did not close in time",
        );
      });
    }
  }
}
