// The database as the rest of Sextant sees it: a checked server, a schema of our own, statements and transactions.
import { once } from "node:events";
import { Client, type ClientBase, Pool, type PoolClient } from "pg";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import {
  createClientConfig,
  createSetupSql,
  createWriterStream,
  type DatabaseConnection,
  readDatabaseTarget,
} from "./connection.ts";
import { type DatabaseTarget, toDatabaseFault } from "./errors.ts";
import { assertSupportedServer, ensureSchema } from "./server-check.ts";
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
  readonly pool: { readonly total: number; readonly idle: number; readonly waiting: number };
  /** One statement on whichever connection is free. */
  query<R extends object = Record<string, unknown>>(
    statement: string | SqlStatement,
  ): Promise<StatementResult<R>>;
  /** Commits what `work` did when it resolves; when it rejects, nothing of it remains. */
  transaction<T>(work: (session: Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** A connection outside the pool, set up the same way; whoever asks for it ends it. */
  connect(purpose: string, options?: ConnectOptions): Promise<Client>;
  close(): Promise<void>;
};

export type ConnectOptions = {
  readonly pipeline?: boolean;
  readonly statementTimeoutMs?: number;
  /** Much is written over it, by a process that has other things to do. */
  readonly bulkWrites?: boolean;
  /** For whoever wants another client than everybody has. */
  readonly beforeConnect?: (client: Client) => void;
};

export type DatabaseOptions = {
  readonly connection: DatabaseConnection;
  readonly schema: string;
  readonly poolMax: number;
  readonly log: Log;
  readonly applicationName: string;
  readonly statementTimeoutMs?: number;
};

// No request waits this long; what runs longer (a rebuild, a migration) asks for more by name.
const STATEMENT_MS_MAX = 30_000;
// Connections are cheap to keep and 5 ms to open: keep them through a quiet minute, not for ever.
const POOL_IDLE_MS_MAX = 60_000;
// Closing is one message each way; a server that is gone never answers it.
const CLOSE_MS_MAX = 3_000;
// A name that needs no quoting anywhere, with room for suffixes below PostgreSQL's 63 bytes.
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { schema, log, statementTimeoutMs = STATEMENT_MS_MAX } = options;
  if (!SCHEMA_NAME.test(schema) || schema.startsWith("pg_")) {
    throw new Fault(
      "CONFIG_INVALID",
      "DATABASE_SCHEMA must be 1 to 48 lower-case letters, digits and underscores, not start with a digit, and not with pg_.",
    );
  }
  const config = createClientConfig(options.connection, options.applicationName);
  const place = readDatabaseTarget(config);
  const defaults = { place, statementTimeoutMs };
  const pool = new Pool({
    ...config,
    max: options.poolMax,
    idleTimeoutMillis: POOL_IDLE_MS_MAX,
    onConnect: async (client: ClientBase) => {
      await client.query(createSetupSql(schema, statementTimeoutMs));
    },
  });
  // An idle connection was cut; the pool has dropped it already and opens another when one is needed.
  // Only its message is logged: the driver hangs the whole connection on this error, secrets of the session included.
  pool.on("error", ({ message }) => log.warn({ reason: message }, "An idle database connection was lost"));
  const connected = new Set<PoolClient>();
  pool.on("connect", (client) => connected.add(client));
  pool.on("remove", (client) => connected.delete(client));

  async function withClient<T>(task: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error) => {
      throw toDatabaseFault(error, place);
    });
    // Between two statements nobody waits for an answer, and a cut connection would be an unheard event.
    const unheard = ({ message }: Error) =>
      log.warn({ reason: message }, "A database connection in use was lost");
    client.on("error", unheard);
    let discard = false;
    try {
      return await task(client);
    } catch (error) {
      discard = mustDiscardConnection(client);
      throw error;
    } finally {
      client.off("error", unheard);
      client.release(discard);
    }
  }

  // The pool calls itself ended when it has said goodbye; the server may only be stopped when it has heard it.
  async function close(): Promise<void> {
    await pool.end();
    const patience = AbortSignal.timeout(CLOSE_MS_MAX);
    while (connected.size > 0 && !patience.aborted) {
      await once(pool, "remove", { signal: patience }).catch((error) => {
        log.warn({ err: error, left: connected.size }, "Some database connections did not close in time");
      });
    }
  }

  const database: Database = {
    schema,
    target: place,
    pool: {
      get total() {
        return pool.totalCount;
      },
      get idle() {
        return pool.idleCount;
      },
      get waiting() {
        return pool.waitingCount;
      },
    },
    query: (statement) => withClient((client) => runStatement(client, statement, defaults)),
    transaction: (work, chosen = {}) =>
      withClient((client) => runTransaction(client, work, { ...defaults, ...chosen })),
    async connect(purpose, chosen = {}) {
      const client = new Client({
        ...config,
        application_name: `${options.applicationName} ${purpose}`,
        pipeline: chosen.pipeline ?? false,
        ...(chosen.bulkWrites ? { stream: createWriterStream } : {}),
      });
      chosen.beforeConnect?.(client);
      // Heard here for whoever forgets to listen: an unheard one would end the process.
      client.on("error", ({ message }) =>
        log.warn({ reason: message, purpose }, "A database connection was lost"),
      );
      try {
        await client.connect();
        await client.query(createSetupSql(schema, chosen.statementTimeoutMs ?? statementTimeoutMs));
        return client;
      } catch (error) {
        // It may be half open; ending it can not tell us more than the failure we already report.
        await client.end().catch(() => undefined);
        throw toDatabaseFault(error, place);
      }
    },
    close,
  };

  try {
    await assertSupportedServer(database);
    await ensureSchema(database);
  } catch (error) {
    await close();
    throw error;
  }
  return database;
}
