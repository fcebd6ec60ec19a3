// The pool of connections: borrowing a client, discarding a broken one, and closing with all sessions ended.
import { once } from "node:events";
import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient } from "pg";
import type { Log } from "../../lib/log.ts";
import type { ServerList } from "./server-list.ts";
import { mustDiscardConnection, runStatement } from "./session.ts";

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

export class ConnectionPool {
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
