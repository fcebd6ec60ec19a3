// A fresh, empty database for one test file, on the server that the whole run shares.

import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { Secret } from "../../../src/lib/secret.ts";
import type { DatabaseConnection } from "../../../src/store/postgres/connection.ts";

/** The connection as DATABASE_URL, for processes that read it from their environment. */
export function formatConnectionUrl(connection: DatabaseConnection): string {
  if ("url" in connection) return connection.url.reveal();
  const { user, database, host } = connection;
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
}

/** Provided to every test file by the global setup. */
export type TestServer =
  | { readonly kind: "embedded"; readonly host: string; readonly user: string }
  | { readonly kind: "given"; readonly url: string };

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestServer;
  }
}

export type TestDatabase = {
  readonly connection: DatabaseConnection;
  readonly name: string;
  /** Drops it even with open connections. */
  drop(): Promise<void>;
};

/** `template` is the name of a database without connections; without it the new one is empty. */
export async function createTestDatabase(options: { template?: string } = {}): Promise<TestDatabase> {
  const server = inject("postgres");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await administer(
    server,
    // Explicit encoding and collation, so that any server behaves as the embedded one.
    options.template
      ? `CREATE DATABASE "${name}" TEMPLATE "${options.template}"`
      : `CREATE DATABASE "${name}" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`,
  );
  return {
    connection: connectionTo(server, name),
    name,
    drop: () => administer(server, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`),
  };
}

export function connectionTo(server: TestServer, database: string): DatabaseConnection {
  if (server.kind === "embedded") return { host: server.host, user: server.user, database };
  // Not with URL, which rejects a socket without a host.
  return { url: new Secret(server.url.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${database}`)) };
}

async function administer(server: TestServer, sql: string): Promise<void> {
  const client = new Client(
    server.kind === "embedded"
      ? { host: server.host, user: server.user, database: "postgres", port: 5432, ssl: false }
      : { connectionString: server.url },
  );
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
