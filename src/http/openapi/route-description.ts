// Routes as their description needs them: reads, endpoints and the server's own, in one form.
import type { JsonSchema } from "../../schema/column.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject } from "../../schema/json-schema.ts";
import { enumParameter, type Parameter, uintParameter } from "../../schema/parameter.ts";
import type { Read } from "../../schema/reads/read.ts";
import { BLOCK_MAX } from "../../schema/reads/read.ts";

export type RouteDescription = {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | null;
  readonly responses: Readonly<Record<number, { readonly type: string; readonly schema: JsonSchema }>>;
  /** Statuses of errors beside those that follow from parameters and body. */
  readonly errorStatuses: readonly number[];
  readonly responseHeaders?: Endpoint["responseHeaders"];
  readonly extensions?: Endpoint["extensions"];
  /** Whether answers tell at which indexed block they are true. */
  readonly hasIndexHead: boolean;
  /** Whether answers may have a validator, so that who has one already gets 304. */
  readonly hasEtag: boolean;
};

const JSON_TYPE = "application/json";

const blockParameter: Parameter = {
  name: "block",
  in: "query",
  required: false,
  kind: uintParameter(BLOCK_MAX),
  description: "Answer as of this block instead of the newest indexed one.",
};

const includeParameter: Parameter = {
  name: "include",
  in: "query",
  required: false,
  kind: enumParameter(["provenance"]),
  description: "Adds to each record the transaction and block its last change comes from.",
};

export function describeRead(read: Read): RouteDescription {
  const {
    path,
    operationId: operation,
    summary,
    tag,
    parameters,
    responseSchema: answer,
    notFoundMessage: missing,
    provenance,
    unversioned,
  } = read;
  return {
    method: "GET",
    path,
    operationId: operation,
    summary,
    tag,
    parameters: [
      ...parameters,
      ...(unversioned === true ? [] : [blockParameter]),
      ...(provenance ? [includeParameter] : []),
    ],
    body: null,
    responses: { 200: { type: JSON_TYPE, schema: answer } },
    errorStatuses: missing === null ? [] : [404],
    hasIndexHead: true,
    hasEtag: true,
  };
}

export function describeEndpoint(endpoint: Endpoint): RouteDescription {
  const {
    method,
    path,
    operationId: operation,
    summary,
    tag,
    parameters,
    body,
    responses: answers,
    errorStatuses: refusals = [],
  } = endpoint;
  const { responseHeaders: answerHeaders = {}, extensions = {} } = endpoint;
  return {
    method,
    path,
    operationId: operation,
    summary,
    tag,
    parameters,
    body,
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, schema]) => [status, { type: JSON_TYPE, schema }]),
    ),
    errorStatuses: [...(parameters.some(({ in: place }) => place === "path") ? [404] : []), ...refusals],
    responseHeaders: answerHeaders,
    extensions,
    hasIndexHead: false,
    // Whoever must be paid for each answer has none to give away for a validator.
    hasEtag: method === "GET" && answers[402] === undefined,
  };
}

/** A route without parameters that is about the service itself. */
export function describeServiceRoute(
  path: string,
  operation: string,
  summary: string,
  type: string,
  answers: Readonly<Record<number, JsonSchema>>,
): RouteDescription {
  return {
    method: "GET",
    path,
    operationId: operation,
    summary,
    tag: "Service",
    parameters: [],
    body: null,
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, schema]) => [status, { type, schema }]),
    ),
    errorStatuses: [],
    hasIndexHead: false,
    hasEtag: false,
  };
}

/** The same for what changes so seldom that it has a validator. */
export function describeDocumentRoute(...own: Parameters<typeof describeServiceRoute>): RouteDescription {
  return { ...describeServiceRoute(...own), hasEtag: true };
}

const text = { type: "string" };

/** What every server of ours answers beside what it is for. */
export const serviceRoutes: readonly RouteDescription[] = [
  describeServiceRoute("/health", "getHealth", "Whether the process serves", JSON_TYPE, {
    200: closedObject({ status: text }),
  }),
  describeServiceRoute("/ready", "getReadiness", "Whether the data can be trusted, or why not", JSON_TYPE, {
    200: {
      ...closedObject({ ready: { type: "boolean", const: true }, details: { type: "object" } }),
      required: ["ready"],
    },
  }),
  describeServiceRoute("/metrics", "getMetrics", "Measurements for Prometheus", "text/plain", { 200: text }),
  describeDocumentRoute("/openapi.json", "getDescription", "This description", JSON_TYPE, {
    200: { type: "object" },
  }),
  describeDocumentRoute("/docs", "getPage", "This description as a page", "text/html", { 200: text }),
];
