// A database of its own for each run of a comparison, and what the server spends on it.
import { Client } from "pg";
import { createClientConfig } from "../../src/store/postgres/connection.ts";
import { type BenchDatabaseTarget, connectionOfTarget } from "../harness/bench-database.ts";
import { readParentPid, readTreeCpuMs } from "../harness/process-costs.ts";

type Connection = BenchDatabaseTarget["connection"];

/** Counted for the whole server since its start; processor time is null if the system does not show it. */
type ServerCosts = { readonly cpuMs: number | null; readonly walBytes: number };

export type RunDatabase = {
  readonly connection: Connection;
  /** For the setting DATABASE_URL. */
  readonly url: string;
  query<R>(text: string): Promise<readonly R[]>;
  readCosts(): Promise<ServerCosts>;
  drop(): Promise<void>;
};

export async function createRunDatabase(server: Connection, name: string): Promise<RunDatabase> {
  const admin = await connect(server);
  await admin.query(`create database ${name}`);
  // Pages that earlier work left to write must not be charged to this run.
  await admin.query("checkpoint");
  const { rows } = await admin.query<{ pid: number }>("select pg_backend_pid() as pid");
  const serverPid = readParentPid(rows[0]?.pid ?? 0);
  const connection = withDatabase(server, name);
  const client = await connect(connection);
  return {
    connection,
    url: formatUrl(connection),
    query: async <R>(text: string) => (await client.query(text)).rows as readonly R[],
    async readCosts() {
      const found = await admin.query<{ bytes: string }>(
        "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes",
      );
      const cpuMs = serverPid === null ? null : readTreeCpuMs(serverPid);
      return { cpuMs, walBytes: Number(found.rows[0]?.bytes) };
    },
    async drop() {
      await client.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

async function connect(connection: Connection): Promise<Client> {
  const client = new Client(createClientConfig(connectionOfTarget({ connection }), "bench"));
  await client.connect();
  return client;
}

function withDatabase(connection: Connection, name: string): Connection {
  if (!("url" in connection)) return { ...connection, database: name };
  const url = new URL(connection.url);
  url.pathname = `/${name}`;
  return { url: url.href };
}

/** An embedded server listens on a socket, whose folder stands in the query. */
function formatUrl(connection: Connection): string {
  if ("url" in connection) return connection.url;
  const { user, database, host } = connection;
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
}
