// Describes routes for OpenAPI: reads, endpoints and the routes of the service itself, in one form.
import type { JsonSchema } from "../../schema/column.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject, enumParameter, type Parameter, uintParameter } from "../../schema/parameter.ts";
import { BLOCK_MAX, includableParts, type Read } from "../../schema/reads/read.ts";
import { minBlockParameters } from "../routes/min-block.ts";

export type RouteDescription = {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | null;
  readonly responses: Readonly<Record<number, { readonly type: string; readonly schema: JsonSchema }>>;
  /** Statuses of errors in addition to those implied by parameters and body. */
  readonly errorStatuses: readonly number[];
  readonly responseHeaders?: Endpoint["responseHeaders"];
  readonly extensions?: Endpoint["extensions"];
  /** Whether responses name the indexed block that they reflect. */
  readonly hasIndexHead: boolean;
  /** Whether it takes x-min-block and min_block. */
  readonly hasMinBlock: boolean;
  /** Whether responses may have an ETag, so that a client may get 304. */
  readonly hasEtag: boolean;
};

const JSON_TYPE = "application/json";

const blockParameter: Parameter = {
  name: "block",
  in: "query",
  required: false,
  kind: uintParameter(BLOCK_MAX),
  description: "Read as of this block; default: the latest indexed block.",
};

function describeInclude(read: Read): Parameter {
  const parts = includableParts(read);
  // Two parts at most: every order is listed.
  const values = parts.length > 1 ? [...parts, parts.join(","), [...parts].reverse().join(",")] : parts;
  const provenance = "Adds to each record the transaction and block of the event that block_number names";
  return {
    name: "include",
    in: "query",
    required: false,
    kind: enumParameter(values),
    description:
      parts.length > 1
        ? `${provenance} (provenance), or what its execution requires and proved (requirements).`
        : `${provenance}.`,
  };
}

export function describeRead(read: Read): RouteDescription {
  const { path, operationId, summary, tag, parameters, responseSchema, provenance, unversioned } = read;
  return {
    method: "GET",
    path,
    operationId,
    summary,
    tag,
    parameters: [
      ...parameters,
      ...(unversioned === true ? [] : [blockParameter]),
      ...(provenance ? [describeInclude(read)] : []),
      ...minBlockParameters,
    ],
    body: null,
    responses: { 200: { type: JSON_TYPE, schema: responseSchema } },
    errorStatuses: read.notFoundMessage === null ? [] : [404],
    hasIndexHead: true,
    hasMinBlock: true,
    hasEtag: true,
  };
}

export function describeEndpoint(endpoint: Endpoint): RouteDescription {
  const { method, path, operationId, summary, tag, parameters, body, responses } = endpoint;
  const { errorStatuses = [], responseHeaders = {}, extensions = {}, readsIndex = false } = endpoint;
  const hasPathParameter = parameters.some(({ in: location }) => location === "path");
  return {
    method,
    path,
    operationId,
    summary,
    tag,
    parameters: [...parameters, ...(readsIndex ? minBlockParameters : [])],
    body,
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, schema]) => [status, { type: JSON_TYPE, schema }]),
    ),
    errorStatuses: [...(hasPathParameter ? [404] : []), ...errorStatuses],
    responseHeaders,
    extensions,
    hasIndexHead: false,
    hasMinBlock: readsIndex,
    // Paid routes never respond 304.
    hasEtag: method === "GET" && responses[402] === undefined,
  };
}

/** A route of the service itself, without parameters. */
export function describeServiceRoute(
  path: string,
  operationId: string,
  summary: string,
  type: string,
  responses: Readonly<Record<number, JsonSchema>>,
): RouteDescription {
  return {
    method: "GET",
    path,
    operationId,
    summary,
    tag: "Service",
    parameters: [],
    body: null,
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, schema]) => [status, { type, schema }]),
    ),
    errorStatuses: [],
    hasIndexHead: false,
    hasMinBlock: false,
    hasEtag: false,
  };
}

/** The same for a static document, which has an ETag. */
export function describeDocumentRoute(...args: Parameters<typeof describeServiceRoute>): RouteDescription {
  return { ...describeServiceRoute(...args), hasEtag: true };
}

const text = { type: "string" };

/** The routes that every service has. */
export const serviceRoutes: readonly RouteDescription[] = [
  describeServiceRoute("/health", "getHealth", "Liveness", JSON_TYPE, {
    200: closedObject({ status: text }),
  }),
  describeServiceRoute("/ready", "getReadiness", "Readiness, with the reason when not ready", JSON_TYPE, {
    200: {
      ...closedObject({ ready: { type: "boolean", const: true }, details: { type: "object" } }),
      required: ["ready"],
    },
  }),
  describeServiceRoute("/metrics", "getMetrics", "Prometheus metrics", "text/plain", { 200: text }),
  describeDocumentRoute("/openapi.json", "getDescription", "OpenAPI document", JSON_TYPE, {
    200: { type: "object" },
  }),
  describeDocumentRoute("/docs", "getPage", "API documentation page", "text/html", { 200: text }),
];
