// The servers that DATABASE_URL names: finds the one that accepts writes, and finds it again after a fail-over.
import { Client, type ClientConfig } from "pg";
import { splitPostgresUrl } from "../../config/postgres-url.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { Secret } from "../../lib/secret.ts";
import { createClientConfig, type DatabaseConnection, readDatabaseTarget } from "./connection.ts";
import { type DatabaseTarget, toDatabaseFault } from "./errors.ts";

/** One server of the list, as the driver and messages need it. */
type Server = { readonly config: ClientConfig; readonly target: DatabaseTarget };

// A cluster has two to five; each is tried within a share of the time limit.
const SERVERS_MAX = 8;
// A search must end before the ten seconds that a request for a connection may take.
const SEARCH_MS_MAX = 8_000;
// True on a standby, and if an administrator made sessions read-only. libpq's `read-write` means the same.
const READ_ONLY_SQL = "SELECT current_setting('transaction_read_only') AS read_only";

/**
 * With one server its role is not checked, unless the URL asks for it: it may be a replica to read from. A list is for
 * fail-over, and means the server that accepts writes.
 */
export class ServerList {
  /** Names all servers. */
  readonly target: DatabaseTarget;
  readonly #servers: readonly Server[];
  readonly #mustAcceptWrites: boolean;
  readonly #log: Log;
  #current: Server | null;
  #searching: Promise<Server> | null = null;
  /** The server before the current one, for the log. */
  #previous: Server | null = null;

  constructor(connection: DatabaseConnection, applicationName: string, log: Log) {
    const { servers, mustAcceptWrites } = parseServers(connection);
    this.#servers = servers.map((server) => {
      const config = createClientConfig(server, applicationName);
      const named = "variable" in server ? { variable: server.variable } : {};
      return { config, target: { ...readDatabaseTarget(config), ...named } };
    });
    this.#mustAcceptWrites = mustAcceptWrites;
    this.#log = log;
    const [first] = this.#servers;
    if (!first) throw new Fault("CONFIG_INVALID", "DATABASE_URL names no server.");
    this.#current = this.isList ? null : first;
    this.target = { ...first.target, server: this.#servers.map(({ target }) => target.server).join(", ") };
  }

  get isList(): boolean {
    return this.#servers.length > 1;
  }

  /** The address of the server that connections are opened to. */
  get config(): ClientConfig {
    return (this.#current ?? this.#servers[0])?.config ?? {};
  }

  /** False for a connection to a server that has been replaced. */
  isCurrent({ host, port }: { readonly host: string; readonly port: number }): boolean {
    if (!this.isList || !this.#current) return true;
    const { server } = this.#current.target;
    return server === (host.startsWith("/") ? host : `${host}:${port}`);
  }

  /** After a failure of a connection, the next one finds the server first. */
  suspect(): void {
    if (!this.isList) return;
    this.#previous = this.#current ?? this.#previous;
    this.#current = null;
  }

  /** Opens a connection to the current server; if that fails, to the one that a search finds. */
  async connect<T>(open: (config: ClientConfig) => Promise<T>): Promise<T> {
    const server = await this.#locate();
    try {
      return await open(server.config);
    } catch (error) {
      const fault = toDatabaseFault(error, this.target);
      if (!this.isList || !isUnreachable(fault)) throw fault;
      if (this.#current === server) this.suspect();
    }
    const next = await this.#locate();
    return await open(next.config).catch((error: unknown) => {
      throw toDatabaseFault(error, this.target);
    });
  }

  /** Sent first on every connection, with the settings of the session. Throws on a server that accepts no writes. */
  async setUp(client: Pick<Client, "query">, setupSql: string): Promise<void> {
    const result: unknown = await client.query(`${setupSql}; ${READ_ONLY_SQL}`);
    if (this.#mustAcceptWrites && isReadOnly(result)) throw this.#createReadOnlyFault();
  }

  #locate(): Promise<Server> | Server {
    if (this.#current) return this.#current;
    this.#searching ??= this.#search().finally(() => {
      this.#searching = null;
    });
    return this.#searching;
  }

  /** In the order of the list, the last good one first. */
  async #search(): Promise<Server> {
    const previous = this.#previous;
    const others = this.#servers.filter((server) => server !== previous);
    const reasons: string[] = [];
    for (const server of previous ? [previous, ...others] : others) {
      try {
        await this.#probe(server);
        this.#adopt(server);
        return server;
      } catch (error) {
        const fault = toDatabaseFault(error, server.target);
        if (!isUnreachable(fault)) throw fault;
        reasons.push(fault.message);
      }
    }
    const message = `No PostgreSQL of ${this.target.server} accepts writes. ${reasons.join(" ")}`;
    throw new Fault("DATABASE_UNREACHABLE", message);
  }

  async #probe({ config, target }: Server): Promise<void> {
    const limitMs = Math.floor(SEARCH_MS_MAX / this.#servers.length);
    const client = new Client({ ...config, connectionTimeoutMillis: limitMs, query_timeout: limitMs });
    client.on("error", () => undefined);
    try {
      await client.connect();
      const result: unknown = await client.query(READ_ONLY_SQL);
      if (this.#mustAcceptWrites && isReadOnly(result)) throw this.#createReadOnlyFault(target);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  #adopt(server: Server): void {
    if (this.#previous && this.#previous !== server) {
      this.#log.warn(
        {
          component: "store",
          event: "primary_changed",
          server: server.target.server,
          previous: this.#previous.target.server,
        },
        "Another PostgreSQL server is the primary now",
      );
    }
    this.#current = server;
    this.#previous = server;
  }

  #createReadOnlyFault({ server } = this.target): Fault {
    return new Fault("DATABASE_UNREACHABLE", `PostgreSQL at ${server} accepts no writes: it is a standby.`);
  }
}

const isUnreachable = (error: unknown): error is Fault =>
  error instanceof Fault && error.code === "DATABASE_UNREACHABLE";

/** The result of the last statement, if there were several. */
function isReadOnly(result: unknown): boolean {
  const last: unknown = Array.isArray(result) ? result.at(-1) : result;
  const { rows } = last as { readonly rows: readonly { readonly read_only: string }[] };
  return rows[0]?.read_only === "on";
}

function parseServers(connection: DatabaseConnection): {
  readonly servers: readonly DatabaseConnection[];
  readonly mustAcceptWrites: boolean;
} {
  if (!("url" in connection)) return { servers: [connection], mustAcceptWrites: false };
  const urls = splitPostgresUrl(connection.url.reveal());
  if (urls.length > SERVERS_MAX || (urls.length > 1 && urls.some((url) => !hasHost(url)))) {
    const message = `DATABASE_URL may name up to ${SERVERS_MAX} servers, as host:port,host:port.`;
    throw new Fault("CONFIG_INVALID", message);
  }
  const role = new URLSearchParams(urls[0]?.split("?")[1]).get("target_session_attrs");
  if (role !== null && !["read-write", "primary", "any"].includes(role)) {
    throw new Fault(
      "CONFIG_INVALID",
      "target_session_attrs in DATABASE_URL must be read-write, primary or any.",
    );
  }
  return {
    servers: urls.map((url) => ({ ...connection, url: new Secret(url) })),
    mustAcceptWrites: role === null ? urls.length > 1 : role !== "any",
  };
}

const hasHost = (url: string): boolean => URL.canParse(url) && new URL(url).hostname !== "";
