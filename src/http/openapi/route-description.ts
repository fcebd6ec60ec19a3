// Routes as their description needs them: reads, endpoints and the server's own, in one form.
import type { JsonSchema } from "../../schema/column.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject } from "../../schema/json-schema.ts";
import { type Parameter, uintParameter, wordParameter } from "../../schema/parameter.ts";
import { BLOCK_MAX } from "../../schema/reads/index-head.ts";
import type { Read } from "../../schema/reads/read.ts";

export type DescribedRoute = {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | null;
  readonly answers: Readonly<Record<number, { readonly type: string; readonly schema: JsonSchema }>>;
  /** Statuses of errors beside those that follow from parameters and body. */
  readonly refusals: readonly number[];
  readonly answerHeaders?: Endpoint["answerHeaders"];
  readonly extensions?: Endpoint["extensions"];
  /** Whether answers tell at which indexed block they are true. */
  readonly indexed: boolean;
  /** Whether answers may have a validator, so that who has one already gets 304. */
  readonly validated: boolean;
};

const JSON_TYPE = "application/json";

const blockParameter: Parameter = {
  name: "block",
  place: "query",
  required: false,
  kind: uintParameter(BLOCK_MAX),
  meaning: "Answer as of this block instead of the newest indexed one.",
};

const includeParameter: Parameter = {
  name: "include",
  place: "query",
  required: false,
  kind: wordParameter(["provenance"]),
  meaning: "Adds to each record the transaction and block its last change comes from.",
};

export function describeRead(read: Read): DescribedRoute {
  const { path, operation, summary, tag, parameters, answer, missing, provenance, unversioned } = read;
  return {
    method: "GET",
    path,
    operation,
    summary,
    tag,
    parameters: [
      ...parameters,
      ...(unversioned === true ? [] : [blockParameter]),
      ...(provenance ? [includeParameter] : []),
    ],
    body: null,
    answers: { 200: { type: JSON_TYPE, schema: answer } },
    refusals: missing === null ? [] : [404],
    indexed: true,
    validated: true,
  };
}

export function describeEndpoint(endpoint: Endpoint): DescribedRoute {
  const { method, path, operation, summary, tag, parameters, body, answers, refusals = [] } = endpoint;
  const { answerHeaders = {}, extensions = {} } = endpoint;
  return {
    method,
    path,
    operation,
    summary,
    tag,
    parameters,
    body,
    answers: Object.fromEntries(
      Object.entries(answers).map(([status, schema]) => [status, { type: JSON_TYPE, schema }]),
    ),
    refusals: [...(parameters.some(({ place }) => place === "path") ? [404] : []), ...refusals],
    answerHeaders,
    extensions,
    indexed: false,
    // Whoever must be paid for each answer has none to give away for a validator.
    validated: method === "GET" && answers[402] === undefined,
  };
}

/** A route without parameters that is about the service itself. */
export function describeOwn(
  path: string,
  operation: string,
  summary: string,
  type: string,
  answers: Readonly<Record<number, JsonSchema>>,
): DescribedRoute {
  return {
    method: "GET",
    path,
    operation,
    summary,
    tag: "Service",
    parameters: [],
    body: null,
    answers: Object.fromEntries(
      Object.entries(answers).map(([status, schema]) => [status, { type, schema }]),
    ),
    refusals: [],
    indexed: false,
    validated: false,
  };
}

/** The same for what changes so seldom that it has a validator. */
export function describeDocument(...own: Parameters<typeof describeOwn>): DescribedRoute {
  return { ...describeOwn(...own), validated: true };
}

const text = { type: "string" };

/** What every server of ours answers beside what it is for. */
export const ownRoutes: readonly DescribedRoute[] = [
  describeOwn("/health", "getHealth", "Whether the process serves", JSON_TYPE, {
    200: closedObject({ status: text }),
  }),
  describeOwn("/ready", "getReadiness", "Whether the data can be trusted, or why not", JSON_TYPE, {
    200: {
      ...closedObject({ ready: { type: "boolean", const: true }, details: { type: "object" } }),
      required: ["ready"],
    },
  }),
  describeOwn("/metrics", "getMetrics", "Measurements for Prometheus", "text/plain", { 200: text }),
  describeDocument("/openapi.json", "getDescription", "This description", JSON_TYPE, {
    200: { type: "object" },
  }),
  describeDocument("/docs", "getPage", "This description as a page", "text/html", { 200: text }),
];
