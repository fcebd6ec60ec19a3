// Measured routes and their statements: one list for the server, the load and the driver.
import { indexReads } from "../../src/protocol/reads.ts";
import type { SqlText } from "../../src/schema/sql.ts";
import { benchAddressSql, benchHashSql, ROWS_PER_OWNER, type TableSizes } from "./row-generators.ts";

export type BenchRoute = {
  readonly title: string;
  /** URL of the `number`-th request: different numbers request different records, if there are several. */
  readonly url: (number: number) => string;
  /** The statement behind it; null if only cached responses are measured. */
  readonly sql: ((number: number) => SqlText) | null;
  /** Whether the client sends If-None-Match. */
  readonly conditional: boolean;
  readonly connections: number;
};

/** Known only to the database: the cursor before the deep page. */
export type PageDepth = { readonly page: number; readonly cursor: string };

const CONNECTIONS = 32;
// A deep page by offset takes so long that more at once would wait until their time is over.
const SLOW_CONNECTIONS = 2;

export const BENCH_PAGE_SIZE = 50;
const DEEP = 4_000;

/** The page that is called deep: the 4,000th, or as deep as fewer rows allow. */
export function deepPage({ intents }: TableSizes): number {
  return Math.min(DEEP, Math.floor((intents / BENCH_PAGE_SIZE) * 0.67));
}

// Odd and without small factors: steps through any of our counts before it repeats.
const STRIDE = 7_919;
const some = (number: number, count: number) => 1 + ((number * STRIDE) % count);

type Parts = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
};

function route(
  title: string,
  path: string,
  parts: (number: number) => Parts,
  conditional = false,
): BenchRoute {
  const read = indexReads.find((each) => each.path === path);
  if (!read) throw new Error(`there is no read at ${path}`);
  return {
    title,
    conditional,
    connections: CONNECTIONS,
    url(number) {
      const { path: names = {}, query = {} } = parts(number);
      const filled = path.replace(/:(\w+)/g, (_match, name: string) => names[name] ?? "");
      const keys = Object.keys(query).length === 0 ? "" : `?${new URLSearchParams(query)}`;
      return filled + keys;
    },
    sql: conditional
      ? null
      : (number) => {
          const { path: names, query } = parts(number);
          const given: Readonly<Record<string, string>> = { ...names, ...query };
          const values = Object.fromEntries(
            read.parameters.flatMap(({ name, kind }) => {
              const text = given[name];
              return text === undefined ? [] : [[name, kind.parse(text, name)]];
            }),
          );
          return read.plan({ values, asOf: null, provenance: false }).sql;
        },
  };
}

export function routesOf(sizes: TableSizes, depth: PageDepth): readonly BenchRoute[] {
  const { cursor } = depth;
  const { agents, intents, bids, sales, merchants } = sizes;
  const of = (name: string, count: number) => (number: number) => ({
    path: { [name]: String(some(number, count)) },
  });
  const query = (given: (number: number) => Readonly<Record<string, string>>) => (number: number) => ({
    query: { limit: String(BENCH_PAGE_SIZE), ...given(number) },
  });
  const owners = Math.ceil(agents / ROWS_PER_OWNER);
  const payers = Math.ceil(sales / ROWS_PER_OWNER);
  return [
    route("/agents/:agentId", "/agents/:agentId", of("agentId", agents)),
    route("/intents/:id", "/intents/:id", of("id", intents)),
    route("/quotes/:quoteHash", "/quotes/:quoteHash", (number) => ({
      path: { quoteHash: benchHashSql("quote", some(number, sales)) },
    })),
    route("/merchants/:id/reputation", "/merchants/:id/reputation", of("id", merchants)),
    route("/tx/:hash/explain", "/tx/:hash/explain", (number) => ({
      path: { hash: benchHashSql("bids", some(number, bids)) },
    })),
    route("/analytics/commerce", "/analytics/commerce", () => ({})),
    route("/intents/:id/bids", "/intents/:id/bids", of("id", intents)),
    route(
      "/merchants, 50",
      "/merchants",
      query(() => ({})),
    ),
    route(
      "/agents?owner",
      "/agents",
      query((number) => ({ owner: benchAddressSql("owner", number % owners) })),
    ),
    route(
      "/intents?status=open, 50",
      "/intents",
      query(() => ({ status: "open" })),
    ),
    route(
      "/receipts?agent",
      "/receipts",
      query((number) => ({ agent: benchAddressSql("agent", number % payers) })),
    ),
    route(
      "/receipts?merchant_id, 50",
      "/receipts",
      query((number) => ({ merchant_id: String(some(number, merchants)) })),
    ),
    route(
      FIRST_PAGE,
      "/intents",
      query(() => ({})),
    ),
    route(
      deepPageTitle(depth, "cursor"),
      "/intents",
      query(() => ({ cursor })),
    ),
    {
      ...route(
        deepPageTitle(depth, "offset"),
        "/intents",
        query(() => ({ offset: String((offsetPage(depth) - 1) * BENCH_PAGE_SIZE) })),
      ),
      connections: SLOW_CONNECTIONS,
    },
    route("/agents/:agentId, 304", "/agents/:agentId", of("agentId", agents), true),
  ];
}

export const FIRST_PAGE = "/intents, page 1";

// The largest offset that the API takes.
export const OFFSET_MAX = 10_000;

/** How deep an offset leads at the most. */
const offsetPage = ({ page }: PageDepth) => Math.min(page, OFFSET_MAX / BENCH_PAGE_SIZE + 1);

export function deepPageTitle(depth: PageDepth, by: "cursor" | "offset"): string {
  const page = by === "cursor" ? depth.page : offsetPage(depth);
  return `/intents, page ${page.toLocaleString("en-US")} by ${by}`;
}
