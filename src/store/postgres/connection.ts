// Where the database is and how a connection to it is set up, the same for pool, reader and lock.
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Client, type ClientConfig } from "pg";
import { Fault } from "../../lib/fault.ts";
import type { Secret } from "../../lib/secret.ts";
import { ThreadedSocket } from "../fast/threaded-socket.ts";
import type { DatabaseTarget } from "./errors.ts";
import { typeParsers } from "./type-parsers.ts";

export type DatabaseConnection =
  | { readonly url: Secret<string> }
  | { readonly host: string; readonly user: string; readonly database: string };

// Long enough for a server on the other side of the world that is busy; a person waits no longer either.
export const DATABASE_CONNECT_MS_MAX = 10_000;
// A session that idles inside a transaction holds locks and old rows: it is a defect, and ends after two minutes.
const IDLE_IN_TRANSACTION_MS_MAX = 120_000;
// A peer that vanished without a word (power, network) is noticed after 10 + 3 × 5 seconds, not after two hours.
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
    return { ...shared, connectionString: url };
  }
  // The port and TLS are named, because the driver would take them from PGPORT and PGSSLMODE otherwise.
  return { ...shared, ...connection, port: 5432, ssl: false };
}

/**
 * For a connection over which much is written: see ThreadedSocket. Not where it is encrypted: the bytes would have to
 * come back to this thread for it, and a network takes several megabytes at a time anyway.
 */
export function createWriterStream(config?: { readonly ssl?: unknown }): Duplex {
  return config?.ssl ? new Socket() : new ThreadedSocket();
}

/** Reads the configuration as the driver does, so that the message names what it will really talk to. */
export function readDatabaseTarget(config: ClientConfig): DatabaseTarget {
  try {
    const { host, port, database = "", user = "" } = new Client(config);
    return { server: host.startsWith("/") ? host : `${host}:${port}`, database, user };
  } catch (cause) {
    throw new Fault("CONFIG_INVALID", URL_EXPECTED, { cause });
  }
}

// A stock server plans for spinning disks, compiles each plan (`jit`: 160 to 1,450 ms per list) and starts parallel
// workers; our statements are point reads and short lists. Sorts of a page of analytics fit in 8 MB, not in 4.
const PLANNING: Readonly<Record<string, string>> = {
  jit: "off",
  max_parallel_workers_per_gather: "0",
  random_page_cost: "1.1",
  work_mem: "'8MB'",
};

/** Sent first on every connection; not as startup options, which connection poolers refuse. */
export function createSetupSql(schema: string, statementTimeoutMs: number): string {
  return [
    `SET search_path TO "${schema}"`,
    "SET client_encoding TO 'UTF8'",
    "SET timezone TO 'UTC'",
    "SET client_min_messages TO warning",
    ...Object.entries(PLANNING).map(([setting, value]) => `SET ${setting} TO ${value}`),
    `SET statement_timeout TO ${statementTimeoutMs}`,
    `SET idle_in_transaction_session_timeout TO ${IDLE_IN_TRANSACTION_MS_MAX}`,
    `SET tcp_keepalives_idle TO ${KEEPALIVE.idle}`,
    `SET tcp_keepalives_interval TO ${KEEPALIVE.interval}`,
    `SET tcp_keepalives_count TO ${KEEPALIVE.count}`,
  ].join("; ");
}
