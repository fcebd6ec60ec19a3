// Apps below `/d/:name` of one server: each sees its requests as if it were at the root.
import type { IncomingMessage, RequestListener } from "node:http";

const MOUNTS_PATH = "/d/";

/** The path of what is mounted under a name. */
export function mountPath(name: string): string {
  return `${MOUNTS_PATH}${name}`;
}

export class Mounts {
  readonly #listeners = new Map<string, RequestListener>();

  /** The name stands in URLs as it is. */
  add(name: string, listener: RequestListener): void {
    if (!/^[a-z0-9-]+$/.test(name)) throw new TypeError(`${name} is not a name for a path`);
    this.#listeners.set(name, listener);
  }

  /**
   * Returns the app that is mounted at the beginning of a request's path, and strips that prefix from request.url;
   * undefined for other paths. Runs before everything else, the fast path included: nothing below this point sees the
   * prefix.
   */
  enter(request: IncomingMessage): RequestListener | undefined {
    const { url = "" } = request;
    if (!url.startsWith(MOUNTS_PATH)) return undefined;
    const end = url.slice(MOUNTS_PATH.length).search(/[/?]/);
    const nameEnd = end < 0 ? url.length : MOUNTS_PATH.length + end;
    const listener = this.#listeners.get(url.slice(MOUNTS_PATH.length, nameEnd));
    if (listener === undefined) return undefined;
    const rest = url.slice(nameEnd);
    request.url = rest.startsWith("/") ? rest : `/${rest}`;
    return listener;
  }

  /** The message for a path without a route. */
  describeUnknown(url: string): string {
    if (this.#listeners.size === 0 || !url.startsWith(MOUNTS_PATH)) return "There is nothing at this path.";
    return `There is no such deployment; this server has ${[...this.#listeners.keys()].join(", ")}.`;
  }
}
