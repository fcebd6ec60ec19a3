// Reads the parameters of a request as declared, and bounds the time of the work behind it.

import type { FastifyInstance } from "fastify";
import { Fault } from "../../lib/fault.ts";
import type { Parameter, ParameterValues } from "../../schema/parameter.ts";
import type { RouteRequest } from "../internal-requests.ts";

// More than any route has.
const KEYS_MAX = 50;

/** Values by key. Callers ignore unknown keys; a repeated key is an error, because servers disagree on which counts. */
export function readQuery(url: string): ReadonlyMap<string, string> {
  const start = url.indexOf("?");
  const values = new Map<string, string>();
  if (start < 0) return values;
  for (const part of url.slice(start + 1).split("&")) {
    if (part === "") continue;
    const [key, value] = decodePair(part);
    if (values.has(key)) throw new Fault("INPUT_INVALID", "A query key is given twice.");
    if (values.size >= KEYS_MAX) throw new Fault("INPUT_INVALID", `A query has at most ${KEYS_MAX} keys.`);
    values.set(key, value);
  }
  return values;
}

function decodePair(part: string): [string, string] {
  const equals = part.indexOf("=");
  try {
    return equals < 0 ? [decode(part), ""] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))];
  } catch (cause) {
    throw new Fault("INPUT_INVALID", "The query is not valid percent-encoding.", { cause });
  }
}

const ENCODED = /[%+]/;

function decode(text: string): string {
  return ENCODED.test(text) ? decodeURIComponent(text.replaceAll("+", " ")) : text;
}

/** Parsed values by name; absent parameters have no key. */
export function readParameters<T>(
  parameters: readonly Parameter<T>[],
  request: Pick<RouteRequest, "params">,
  query: ReadonlyMap<string, string>,
): ParameterValues<T> {
  const path = request.params as Readonly<Record<string, string>>;
  const values: Record<string, T> = {};
  for (const { name, in: location, required, kind } of parameters) {
    if (location === "header") continue;
    const text = location === "path" ? path[name] : query.get(name);
    if (text !== undefined) values[name] = kind.parse(text, name);
    else if (required) throw new Fault("INPUT_INVALID", `${name} is required.`);
  }
  return values;
}

/**
 * The result of `work`, or `late` once the work exceeds the server's request timeout, without which that is a fault: the
 * client gets a response even if the work never ends.
 */
export function withRequestTimeout<T>(
  app: FastifyInstance,
  work: Promise<T>,
  late: T | null = null,
): Promise<T> {
  const ms = app.server.requestTimeout;
  if (ms === 0) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (late !== null) resolve(late);
      else reject(new Fault("TIMED_OUT", "The request took too long; try again in a moment."));
    }, ms);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
