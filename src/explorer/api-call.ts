// A request to the API, as a client would send it, and the route behind it.
import type { RouteDescription } from "../http/openapi/route-description.ts";

export type ApiRecord = Readonly<Record<string, unknown>>;

/** A request to the API, as a client would send it. */
export type ApiCall = {
  /** The route's pattern, as declared: `/intents/:id`. */
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The body of POST; absent for GET. */
  readonly body?: Readonly<Record<string, string>>;
};

export function findRoute(
  routes: readonly RouteDescription[],
  path: string,
  method: "GET" | "POST" = "GET",
): RouteDescription {
  const found = routes.find((route) => route.method === method && route.path === path);
  if (!found) throw new TypeError(`the API has no route ${method} ${path}`);
  return found;
}

export function methodOf({ body }: ApiCall): "GET" | "POST" {
  return body === undefined ? "GET" : "POST";
}

/** A path with the values of its parameters. */
export function fillPath(pattern: string, params: Readonly<Record<string, string>>): string {
  return pattern.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** The URL of a request, without the origin. */
export function formatUrl({ route, params, query }: ApiCall): string {
  const path = fillPath(route, params);
  const text = new URLSearchParams(query).toString();
  return `${path}${text && `?${text}`}`;
}
