// The second ceiling: the API's statements straight through the driver, pooled or pipelined, and the rows dropped.
import { type Client, Pool, type QueryConfig } from "pg";
import { nameReadText } from "../../src/store/index/reader.ts";
import { createClientConfig, createSetupSql } from "../../src/store/postgres/connection.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import type { PreparedStatement } from "../../src/store/postgres/session.ts";
import { type BenchDatabaseTarget, connectionOfTarget } from "../harness/bench-database.ts";
import type { BenchRoute } from "./api-routes.ts";
import type { LoadResult } from "./http-load.ts";

// As the API uses while nothing is slow.
const PIPELINED_CONNECTIONS = 1;
// The default of the driver's pool.
const POOLED_CONNECTIONS = 10;
// As statements of the API's pool have.
const STATEMENT_MS_MAX = 30_000;

export type Driver = {
  /** `inFlight` loops, each sending its next query on a response, like connections over HTTP. */
  run(
    statements: readonly PreparedStatement[],
    options: { inFlight: number; ms: number },
  ): Promise<LoadResult>;
  close(): Promise<void>;
};

/** Statements as the index reader would send them; none for a route that is only measured from the cache. */
export function listStatements({ sql }: BenchRoute, count: number): readonly PreparedStatement[] {
  if (!sql) return [];
  // Thousands of values share a few texts, and the name of a text is a hash.
  const named = new Map<string, ReturnType<typeof nameReadText>>();
  return Array.from({ length: count }, (_, number) => {
    const { text, values } = sql(number);
    const known = named.get(text) ?? nameReadText(text);
    named.set(text, known);
    return { ...known, values };
  });
}

/** As commonly used: named statements on whichever connection of a pool is free. */
export function openPooledDriver(place: BenchDatabaseTarget): Driver {
  const pool = new Pool({
    ...createClientConfig(connectionOfTarget(place), "bench pool"),
    max: POOLED_CONNECTIONS,
    onConnect: async (client) => {
      await client.query(createSetupSql(place.schema, STATEMENT_MS_MAX));
    },
  });
  return {
    run: (statements, options) => askAll(statements, options, () => (config) => pool.query(config)),
    close: () => pool.end(),
  };
}

/** Pipelined, as our own reader works: statements leave before the last response. Harder to match than the pool. */
export async function openPipelinedDriver(database: Database): Promise<Driver> {
  const clients: Client[] = [];
  for (let made = 0; made < PIPELINED_CONNECTIONS; made += 1) {
    clients.push(await database.connect("driver", { pipeline: true }));
  }
  return {
    run: (statements, options) =>
      askAll(statements, options, (asker) => {
        const client = clients[asker % clients.length] as Client;
        return (config) => client.query(config);
      }),
    async close() {
      for (const client of clients) await client.end();
    },
  };
}

type Query = (config: QueryConfig) => Promise<unknown>;

async function askAll(
  statements: readonly PreparedStatement[],
  { inFlight, ms }: { inFlight: number; ms: number },
  queryOf: (asker: number) => Query,
): Promise<LoadResult> {
  const startedMs = performance.now();
  let requests = 0;
  const runLoop = async (query: Query) => {
    while (performance.now() - startedMs < ms) {
      const statement = statements[requests % statements.length];
      if (!statement) throw new Error("there are no statements");
      requests += 1;
      const { name, text, values } = statement;
      await query({ name, text, values: [...values] });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, index) => runLoop(queryOf(index))));
  return { requests, ms: performance.now() - startedMs };
}
