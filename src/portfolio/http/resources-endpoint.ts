// GET /discovery/resources: the paid resources with full terms, as clients of an x402 directory page through them.
import { createHash } from "node:crypto";
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { defineEndpoint, type Endpoint } from "../../schema/endpoint.ts";
import { type ParameterKind, queryParameter } from "../../schema/parameter.ts";
import { buildDiscoveryResources, discoveryResourcesSchema } from "../../web/discovery.ts";
import type { Offering } from "../../web/offering.ts";

export const RESOURCES_PATH = "/discovery/resources";

// The longest page that directories serve; there are fewer resources than that.
const LIMIT_MAX = 100;
// Beyond every list; only keeps the number exact.
const OFFSET_MAX = 1_000_000;

export function createResourcesEndpoint(offering: Offering): Endpoint {
  return defineEndpoint({
    method: "GET",
    path: RESOURCES_PATH,
    operationId: "getDiscoveryResources",
    summary: "Paid resources with full terms, as x402 directories list them",
    description:
      "The list that clients of an x402 directory page through: for each paid resource its URL, terms, and schemas of request and response.",
    tag: "Service",
    parameters,
    body: null,
    responses: { 200: discoveryResourcesSchema },
    hasEtag: true,
    async handle({ values: { type = "", limit = LIMIT_MAX, offset = 0 } }) {
      // Clients that always send every filter leave those empty that they do not use.
      const page = { type: type === "" ? undefined : type, limit, offset };
      const body = Buffer.from(JSON.stringify(buildDiscoveryResources(offering, page)));
      const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
      const headers = {
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-cache",
        etag,
      };
      return { status: 200, headers, body };
    },
  });
}

const textKind: ParameterKind<string> = { json: { type: "string" }, parse: (text) => text };

/** Clients may ask for more than there is: the page says how many it lists. */
const limitKind: ParameterKind<number> = {
  json: { type: "integer", minimum: 1, default: LIMIT_MAX },
  parse: (text, name) => {
    const limit = parseUint(text, name);
    if (limit < 1n) throw new Fault("INPUT_INVALID", `${name} must be at least 1.`);
    return limit > BigInt(LIMIT_MAX) ? LIMIT_MAX : Number(limit);
  },
};

const offsetKind: ParameterKind<number> = {
  json: { type: "integer", minimum: 0, maximum: OFFSET_MAX, default: 0 },
  parse: (text, name) => Number(parseUint(text, name, BigInt(OFFSET_MAX))),
};

const parameters = [
  queryParameter("type", textKind, "Only resources of this type; all of ours are `http`.", "http"),
  queryParameter(
    "limit",
    limitKind,
    `How many resources to list; more than ${LIMIT_MAX} counts as ${LIMIT_MAX}.`,
    10,
  ),
  queryParameter("offset", offsetKind, "How many resources to skip.", 0),
] as const;
