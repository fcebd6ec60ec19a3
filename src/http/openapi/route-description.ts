// Describes routes for OpenAPI: reads, endpoints and the routes of the service itself, in one form.
import type { Endpoint, Security } from "../../schema/endpoint.ts";
import { closedObject, type JsonSchema } from "../../schema/json-schema.ts";
import {
  enumParameter,
  type Operation,
  type Parameter,
  queryParameter,
  textsOf,
} from "../../schema/parameter.ts";
import { atBlockKind } from "../../schema/reads/block-at.ts";
import { includableParts, type Read } from "../../schema/reads/read.ts";
import { TIMES, timeKind } from "../../schema/time-parameter.ts";
import { minBlockParameters } from "../block-waiters.ts";

export type RouteDescription = Operation &
  Pick<
    Endpoint,
    "method" | "body" | "bodyExample" | "responseExample" | "otherTypes" | "responseHeaders" | "extensions"
  > & {
    /** Null if neither a payment nor a signature is needed. */
    readonly security: Security | null;
    readonly responses: Readonly<Record<number, { readonly type: string; readonly schema: JsonSchema }>>;
    /** Statuses of errors in addition to those implied by parameters and body. */
    readonly errorStatuses: readonly number[];
    /** Whether responses name the indexed block that they reflect. */
    readonly hasIndexHead: boolean;
    /** Whether it takes x-min-block and min_block. */
    readonly hasMinBlock: boolean;
    /** Whether responses may have an ETag, so that a client may get 304. */
    readonly hasEtag: boolean;
  };

/** A parameter as the document has it. */
export type OpenApiParameter = Pick<Parameter, "name" | "in" | "required" | "description"> & {
  readonly schema: JsonSchema;
  readonly example?: unknown;
};

const JSON_TYPE = "application/json";

const blockParameter = queryParameter(
  "block",
  atBlockKind,
  "Read as of this block; default: the latest. `327@1794477600` judges deadlines and limits at that Unix time, before the next event.",
);

const atParameter = queryParameter(
  "at",
  timeKind,
  `A time in place of \`block\`: ${TIMES}. Reads as of the last indexed block with an event at or before it, which x-block-number names, and judges deadlines and limits at this time; a time outside the index is 400.`,
  "1h",
);

const proofParameter = queryParameter(
  "proof",
  enumParameter(["1"]),
  "`1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests.",
  "1",
);

function describeInclude(read: Read): Parameter {
  const parts = includableParts(read);
  // Two parts at most: every order is listed.
  const values = parts.length > 1 ? [...parts, parts.join(","), [...parts].reverse().join(",")] : parts;
  const provenance = "Adds to each record the transaction and block of the event that block_number names";
  const both = `${provenance} (provenance), or what its execution requires and proved (requirements).`;
  const description = parts.length > 1 ? both : `${provenance}.`;
  return queryParameter("include", enumParameter(values), description, parts[0]);
}

export function describeRead(read: Read): RouteDescription {
  return {
    ...textsOf(read),
    method: "GET",
    path: read.path,
    parameters: [
      ...read.parameters,
      ...(read.unversioned === true ? [] : [blockParameter, atParameter]),
      ...(read.provenance ? [describeInclude(read)] : []),
      ...(read.isProvable === true ? [proofParameter] : []),
      ...minBlockParameters,
    ],
    body: null,
    security: null,
    responses: { 200: { type: JSON_TYPE, schema: read.responseSchema } },
    errorStatuses: read.notFoundMessage === null ? [] : [404],
    hasIndexHead: true,
    hasMinBlock: true,
    hasEtag: true,
  };
}

export function describeEndpoint(
  endpoint: Omit<Endpoint, "handle"> & Partial<Pick<Endpoint, "handle">>,
): RouteDescription {
  const { parameters, responses, errorStatuses = [], readsIndex = false, hasEtag = false } = endpoint;
  const hasPathParameter = parameters.some(({ in: location }) => location === "path");
  return {
    ...endpoint,
    parameters: [...parameters, ...(readsIndex ? minBlockParameters : [])],
    security: endpoint.security ?? null,
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, schema]) => [status, { type: JSON_TYPE, schema }]),
    ),
    errorStatuses: [...(hasPathParameter ? [404] : []), ...errorStatuses],
    hasIndexHead: false,
    hasMinBlock: readsIndex,
    hasEtag,
  };
}

const SERVICE = "Service";

/** The tag that every service has, with its description. */
export const SERVICE_TAG = { [SERVICE]: "Status, metrics and descriptions of the service itself." };

type ServiceRoute = Pick<RouteDescription, "path" | "operationId" | "summary" | "description"> & {
  /** The media type of a response, and its schema. */
  readonly type: string;
  readonly schema: JsonSchema;
};

/** A route of the service itself, without parameters. */
export function describeServiceRoute({ type, schema, ...route }: ServiceRoute): RouteDescription {
  return {
    ...route,
    method: "GET",
    tag: SERVICE,
    parameters: [],
    body: null,
    security: null,
    responses: { 200: { type, schema } },
    errorStatuses: [],
    hasIndexHead: false,
    hasMinBlock: false,
    hasEtag: false,
  };
}

/** The same for a static document, which has an ETag. */
export function describeDocumentRoute(route: ServiceRoute): RouteDescription {
  return { ...describeServiceRoute(route), hasEtag: true };
}

const text = { type: "string" };

/** The routes that every service has. */
export const serviceRoutes: readonly RouteDescription[] = [
  describeServiceRoute({
    path: "/health",
    operationId: "getHealth",
    summary: "Liveness",
    description: "Responds as long as the process runs, whatever the state of what it depends on.",
    type: JSON_TYPE,
    schema: closedObject({ status: text }),
  }),
  describeServiceRoute({
    path: "/ready",
    operationId: "getReadiness",
    summary: "Readiness, with the reason when not ready",
    description: "Whether requests can be served now; 503 says in a sentence why not.",
    type: JSON_TYPE,
    schema: {
      ...closedObject({ ready: { type: "boolean", const: true }, details: { type: "object" } }),
      required: ["ready"],
    },
  }),
  describeServiceRoute({
    path: "/metrics",
    operationId: "getMetrics",
    summary: "Prometheus metrics",
    description:
      "Counters and gauges of the process in the text format of Prometheus. Unless the operator shares it, they are on a port of their own, and 404 here.",
    type: "text/plain",
    schema: text,
  }),
  describeDocumentRoute({
    path: "/openapi.json",
    operationId: "getDescription",
    summary: "OpenAPI document",
    description: "This document: every route with its parameters, bodies, responses and examples.",
    type: JSON_TYPE,
    schema: { type: "object" },
  }),
  describeDocumentRoute({
    path: "/docs",
    operationId: "getPage",
    summary: "API documentation page",
    description: "The OpenAPI document as a page, with a form for each operation.",
    type: "text/html",
    schema: text,
  }),
];

/** Recorded from a run, so that they work in another run of the same kind. */
export type ApiExamples = {
  /** Examples by parameter, for all operations that have it. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly operations: Readonly<Record<string, OperationExample>>;
  /** Bodies of successful responses by operation, with long lists cut. */
  readonly responses?: Readonly<Record<string, unknown>>;
};

export type OperationExample = {
  /** Examples by parameter, which come before those for all operations. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};
