// A database for one test file, on the server that the whole run shares.
import { randomBytes } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { Client } from "pg";
import { inject } from "vitest";
import { Secret } from "../../../src/lib/secret.ts";
import type { DatabaseConnection } from "../../../src/store/postgres/connection.ts";

/** As DATABASE_URL writes it, for processes that read it from their environment. */
export function formatConnectionUrl(connection: DatabaseConnection): string {
  if ("url" in connection) return connection.url.reveal();
  const { user, database, host } = connection;
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
}

/** Provided by the run's global setup. */
export type TestServer =
  | { readonly kind: "embedded"; readonly host: string; readonly user: string }
  | { readonly kind: "given"; readonly url: string };

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestServer;
    /** Name of a database with every migration in the schema `sextant`. */
    migratedTemplate: string;
    /** The same with the tables of an index, still empty and of no deployment. */
    rowTemplate: string;
  }
}

export type TestDatabase = {
  readonly connection: DatabaseConnection;
  readonly name: string;
  /** Drops it and ends the connections it still has. */
  drop(): Promise<void>;
};

type DatabaseOptions = {
  /** Name of a database to copy, without connections; by default the new one is empty. */
  readonly template?: string;
};

export function createTestDatabase(options: DatabaseOptions = {}): Promise<TestDatabase> {
  return createDatabaseOn(inject("postgres"), options);
}

/** With every migration in the schema `sextant`. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: inject("migratedTemplate") });
}

/** For the global setup, which cannot inject. */
export async function createDatabaseOn(
  server: TestServer,
  options: DatabaseOptions = {},
): Promise<TestDatabase> {
  const startedMs = performance.now();
  const name = `test_${randomBytes(6).toString("hex")}`;
  // Explicit encoding and collation: a given server behaves like the embedded one.
  const source = options.template
    ? `TEMPLATE "${options.template}"`
    : "TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'";
  // Files are copied in half the time of logged blocks if nothing waits for a disk: the embedded server never does.
  const strategy = server.kind === "embedded" ? "STRATEGY file_copy" : "";
  await administer(server, `CREATE DATABASE "${name}" ${source} ${strategy}`);
  channel("sextant:start-up").publish({ seconds: (performance.now() - startedMs) / 1000 });
  return {
    connection: connectionTo(server, name),
    name,
    drop: () => administer(server, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`),
  };
}

export function connectionTo(server: TestServer, database: string): DatabaseConnection {
  if (server.kind === "embedded") return { host: server.host, user: server.user, database };
  // Replaced by hand: URL rejects an address that names a socket and no host.
  return { url: new Secret(server.url.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${database}`)) };
}

// One session for each server and process: connecting costs as much as half of a database.
const administrators = new Map<string, Administrator>();

async function administer(server: TestServer, sql: string): Promise<void> {
  const key = server.kind === "embedded" ? server.host : server.url;
  const administrator =
    administrators.get(key) ?? new Administrator(server, () => administrators.delete(key));
  administrators.set(key, administrator);
  await administrator.run(sql);
}

/** Keeps its process alive only while it works. */
class Administrator {
  readonly #socket = new Socket();
  readonly #client: Client;
  readonly #connected: Promise<unknown>;
  /** The statement before, which the next one waits for. */
  #previous: Promise<unknown> = Promise.resolve();
  #running = 0;

  constructor(server: TestServer, onLost: () => void) {
    const options =
      server.kind === "embedded"
        ? { host: server.host, user: server.user, database: "postgres", port: 5432, ssl: false }
        : { connectionString: server.url };
    this.#client = new Client({ ...options, stream: () => this.#socket });
    // The server may stop before this process does.
    this.#client.on("error", onLost);
    this.#client.on("end", onLost);
    this.#connected = this.#client.connect();
    this.#connected.catch(onLost);
  }

  async run(sql: string): Promise<void> {
    this.#running += 1;
    this.#socket.ref();
    const done = Promise.all([this.#connected, this.#previous]).then(() => this.#client.query(sql));
    // Whether it fails concerns its own caller only.
    this.#previous = done.catch(() => undefined);
    try {
      await done;
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#socket.unref();
    }
  }
}
