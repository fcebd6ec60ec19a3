// OpenAPI 3.1 of an API, made from the declarations that its requests are checked by and its answers are made of.
import type { JsonSchema } from "../../schema/column.ts";
import type { Parameter } from "../../schema/parameter.ts";
import type { RouteDescription } from "./route-description.ts";
import { createSchemaRegistry, type SchemaRegistry } from "./schema-registry.ts";

export type ApiInfo = { readonly title: string; readonly version: string; readonly description: string };

export type OpenApiOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly JsonSchema[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
  readonly [extension: `x-${string}`]: unknown;
};

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;
type Reference = { readonly $ref: string };
export type OpenApiResponse =
  | Reference
  | {
      readonly description: string;
      readonly headers: Readonly<Record<string, Reference | JsonSchema>>;
      readonly content?: Content;
    };

export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: ApiInfo & { readonly license: { readonly name: string; readonly identifier: string } };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: JsonSchema & { readonly schemas: Readonly<Record<string, JsonSchema>> };
};

export function buildOpenApiDocument(about: ApiInfo, routes: readonly RouteDescription[]): OpenApiDocument {
  const shelf = createSchemaRegistry();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route, shelf) };
  }
  const tags = [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name }));
  return {
    openapi: "3.1.0",
    info: { ...about, license: { name: "MIT", identifier: "MIT" } },
    // Relative, so that no request header can put another host here.
    servers: [{ url: "/" }],
    tags,
    paths,
    components: {
      schemas: { Error: ERROR, ...shelf.schemas() },
      headers: HEADERS,
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          `Error${status}`,
          errorResponse(status, description),
        ]),
      ),
    },
  };
}

const ERROR = {
  type: "object",
  properties: { error: { type: "string", description: "One clear sentence." } },
  required: ["error"],
  additionalProperties: false,
};

const HEADERS: Readonly<Record<string, JsonSchema>> = {
  "x-request-id": header("The id of this request in our logs."),
  "x-error-code": header("What went wrong, for programs."),
  "x-indexed-block": header("The newest indexed block; the answer is true at it."),
  "x-indexed-block-hash": header("The hash of that block: on which fork the answer is true."),
  etag: header("Send it as If-None-Match to get 304 while nothing has changed."),
  "retry-after": header("Seconds to wait."),
};

function header(description: string): JsonSchema {
  return { description, schema: { type: "string" } };
}

function headers(...names: readonly string[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function described(meanings: Readonly<Record<string, string>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(meanings).map(([name, meaning]) => [name, header(meaning)]));
}

// `default` stands for every other fault: the body is always the same.
const ERRORS: Readonly<Record<string, string>> = {
  400: "The request is malformed or out of range.",
  401: "The write is not signed as it must be.",
  403: "The write is signed by someone who may not make it.",
  404: "There is no such record.",
  409: "It contradicts what is stored or indexed.",
  413: "The body is larger than allowed.",
  415: "The body must be sent as application/json, in UTF-8.",
  429: "This client has sent too many requests in a minute, or stored too many bytes in a day.",
  503: "Temporarily unable to answer.",
  default: "Any other failure; x-error-code says which.",
};

function errorResponse(status: string, description: string): OpenApiResponse {
  const waiting = status === "429" ? ["retry-after"] : [];
  return {
    description,
    headers: headers("x-request-id", "x-error-code", ...waiting),
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}

function describe(route: RouteDescription, shelf: SchemaRegistry): OpenApiOperation {
  const { operationId: operation, summary, tag, parameters, body, extensions = {} } = route;
  return {
    operationId: operation,
    summary,
    tags: [tag],
    parameters: parameters.map(describeParameter),
    ...(body === null
      ? {}
      : {
          requestBody: { required: true, content: { "application/json": { schema: shelf.register(body) } } },
        }),
    responses: { ...answers(route, shelf), ...errors(route) },
    ...extensions,
  };
}

function describeParameter({ name, in: place, required, kind, description: meaning }: Parameter): JsonSchema {
  return { name, in: place, required, description: meaning, schema: kind.json };
}

function answers(route: RouteDescription, shelf: SchemaRegistry): Record<string, OpenApiResponse> {
  const {
    responses: answers,
    responseHeaders: answerHeaders = {},
    hasIndexHead: indexed,
    hasEtag: validated,
  } = route;
  const names = indexed
    ? ["x-request-id", "x-indexed-block", "x-indexed-block-hash", "etag"]
    : ["x-request-id"];
  const given = Object.entries(answers).map(([status, { type, schema }]): [string, OpenApiResponse] => [
    status,
    {
      description: DESCRIPTIONS[status] ?? "Done.",
      headers: { ...headers(...names), ...described(answerHeaders[Number(status)] ?? {}) },
      content: { [type]: { schema: shelf.register(schema) } },
    },
  ]);
  const unchanged: [string, OpenApiResponse][] = validated
    ? [["304", { description: "Nothing has changed.", headers: headers(...names) }]]
    : [];
  return Object.fromEntries([...given, ...unchanged]);
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: "The answer.",
  201: "Stored.",
  402: "It must be paid for.",
  500: "It could not be made.",
  503: "Not now.",
};

function errors({
  parameters,
  body,
  errorStatuses: refusals,
  responses: answers,
}: RouteDescription): Record<string, OpenApiResponse> {
  const statuses = [
    ...(parameters.length > 0 || body !== null ? ["400"] : []),
    ...refusals.map(String),
    ...(body !== null ? ["413", "415"] : []),
    "429",
    ...(answers[503] ? [] : ["503"]),
    "default",
  ];
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
  );
}
