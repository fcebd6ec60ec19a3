// Path and query parameters of a request, parsed as their declarations say.
import type { FastifyRequest } from "fastify";
import { Fault } from "../../lib/fault.ts";
import type { Parameter } from "../../schema/parameter.ts";

/** Parsed values by name; those not given are absent. */
export function readParameters(
  parameters: readonly Parameter[],
  request: FastifyRequest,
  query: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> {
  const path = request.params as Readonly<Record<string, string>>;
  const values: Record<string, unknown> = {};
  for (const { name, in: place, required, kind } of parameters) {
    if (place === "header") continue;
    const text = place === "path" ? path[name] : query.get(name);
    if (text !== undefined) values[name] = kind.parse(text, name);
    else if (required) throw new Fault("INPUT_INVALID", `${name} is required.`);
  }
  return values;
}
