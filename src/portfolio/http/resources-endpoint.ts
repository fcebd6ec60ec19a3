// GET /discovery/resources: the paid resources with full terms, as clients of an x402 directory page through them.
import { createHash } from "node:crypto";
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import type { Parameter, ParameterKind } from "../../schema/parameter.ts";
import { buildDiscoveryResources, discoveryResourcesSchema } from "../../web/discovery.ts";
import type { Offering } from "../../web/offering.ts";

export const RESOURCES_PATH = "/discovery/resources";

// What directories serve at most; there are fewer resources than that.
const LIMIT_MAX = 100;
// Beyond every list; only keeps the number exact.
const OFFSET_MAX = 1_000_000;

export function createResourcesEndpoint(offering: Offering): Endpoint {
  return {
    method: "GET",
    path: RESOURCES_PATH,
    operationId: "getDiscoveryResources",
    summary: "Paid resources with full terms, as x402 directories list them",
    description:
      "The list that clients of an x402 directory page through: for each paid resource its URL, terms, and schemas of request and response.",
    tag: "Service",
    parameters: [
      query("type", textKind, "http", "Only resources of this type; all of ours are `http`."),
      query("limit", countKind(1, LIMIT_MAX, LIMIT_MAX), 10, "How many resources to list at most."),
      query("offset", countKind(0, OFFSET_MAX, 0), 0, "How many resources to skip."),
    ],
    body: null,
    responses: { 200: discoveryResourcesSchema },
    hasEtag: true,
    async handle({ values }) {
      const { type, limit = LIMIT_MAX, offset = 0 } = values as ParsedValues;
      const body = Buffer.from(JSON.stringify(buildDiscoveryResources(offering, { type, limit, offset })));
      const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
      const headers = {
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-cache",
        etag,
      };
      return { status: 200, headers, body };
    },
  };
}

/** What the parameter kinds below return; the router's record of values is untyped. */
type ParsedValues = { readonly type?: string; readonly limit?: number; readonly offset?: number };

const textKind: ParameterKind<string> = { json: { type: "string" }, parse: (text) => text };

function countKind(minimum: number, maximum: number, fallback: number): ParameterKind<number> {
  return {
    json: { type: "integer", minimum, maximum, default: fallback },
    parse: (text, name) => {
      const count = parseUint(text, name, BigInt(maximum));
      if (count < BigInt(minimum)) throw new Fault("INPUT_INVALID", `${name} must be at least ${minimum}.`);
      return Number(count);
    },
  };
}

function query(name: string, kind: Parameter["kind"], example: unknown, description: string): Parameter {
  return { name, in: "query", required: false, kind, description, example };
}
