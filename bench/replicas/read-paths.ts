// The reads over replicas: one record, a list, and all routes in turn, each request for another record.
import { type BenchRoute, type PageDepth, routesOf } from "../api/api-routes.ts";
import type { TableSizes } from "../api/row-generators.ts";

/** The path of the next request. */
export type NextPath = () => string;

export const MIXED = "mixed";

/** Paths by what is read. Responses that many requests share are left out: they are read once for all of them. */
export function createReadPaths(sizes: TableSizes, depth: PageDepth): ReadonlyMap<string, NextPath> {
  const routes = routesOf(sizes, depth).filter(({ url, conditional }) => !conditional && url(0) !== url(1));
  const named = (title: string): readonly BenchRoute[] => {
    const found = routes.filter((route) => route.title === title);
    if (found.length === 0) throw new Error(`there is no route ${title}`);
    return found;
  };
  const titles = ["/agents/:agentId", "/receipts?merchant_id, 50"];
  return new Map([
    ...titles.map((title) => [title, takeTurns(named(title))] as const),
    [MIXED, takeTurns(routes)] as const,
  ]);
}

function takeTurns(routes: readonly BenchRoute[]): NextPath {
  // Never the same twice, also between rounds and servers.
  let requested = 0;
  return () => {
    const route = routes[requested % routes.length];
    if (!route) throw new Error("there are no routes");
    requested += 1;
    return route.url(Math.floor(requested / routes.length));
  };
}
