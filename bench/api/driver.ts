// The second ceiling: the API's statements straight through the driver, prepared and pipelined, and the rows dropped.
import type { Client } from "pg";
import type { Database } from "../../src/store/database.ts";
import { openIndexReader } from "../../src/store/index-reader.ts";
import type { NamedStatement } from "../../src/store/reader.ts";
import type { Route } from "./api-routes.ts";
import type { Answered } from "./http-load.ts";

// As the API has.
const CONNECTIONS = 2;
// As many values as the API is asked for in a cell or more, so that both find the database equally warm.
const STATEMENTS = 10_000;

export type Driver = {
  run(statements: readonly NamedStatement[], options: { inFlight: number; ms: number }): Promise<Answered>;
  close(): Promise<void>;
};

/** The statements as the index reader would send them. */
export async function statementsOf({ sql }: Route): Promise<readonly NamedStatement[]> {
  if (!sql) return [];
  const sent: NamedStatement[] = [];
  const reader = openIndexReader({
    async read(statement) {
      sent.push(statement);
      return [{ _head: "0", _hash: "", _finalized: "0", _start: "0", _found: null }] as never;
    },
    close: async () => undefined,
  });
  for (let number = 0; number < STATEMENTS; number += 1) await reader.read(sql(number));
  return sent;
}

export async function openDriver(database: Database): Promise<Driver> {
  const clients: Client[] = [];
  for (let made = 0; made < CONNECTIONS; made += 1) {
    clients.push(await database.connect("driver", { pipeline: true }));
  }
  return {
    async run(statements, { inFlight, ms }) {
      const startedMs = performance.now();
      let requests = 0;
      const ask = async (client: Client) => {
        while (performance.now() - startedMs < ms) {
          const statement = statements[requests % statements.length];
          if (!statement) throw new Error("there is nothing to ask");
          requests += 1;
          const { name, text, values } = statement;
          await client.query({ name, text, values: [...values] });
        }
      };
      await Promise.all(
        Array.from({ length: inFlight }, (_, lane) => ask(clients[lane % clients.length] as Client)),
      );
      return { requests, ms: performance.now() - startedMs };
    },
    async close() {
      for (const client of clients) await client.end();
    },
  };
}
