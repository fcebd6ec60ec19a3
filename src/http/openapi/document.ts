// Builds the OpenAPI 3.1 document from the declarations that validate requests and produce responses.
import type { JsonSchema } from "../../schema/column.ts";
import type { Parameter } from "../../schema/parameter.ts";
import type { RouteDescription } from "./route-description.ts";

export type ApiInfo = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** How an agent uses the API, in a few sentences. */
  readonly "x-guidance"?: string;
};

export type OpenApiOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly JsonSchema[];
  readonly security?: readonly [];
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

export function buildOpenApiDocument(info: ApiInfo, routes: readonly RouteDescription[]): OpenApiDocument {
  const schemas = createSchemaRegistry();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, schemas) };
  }
  const tags = [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name }));
  return {
    openapi: "3.1.0",
    info: { ...info, license: { name: "MIT", identifier: "MIT" } },
    // Relative, so that no request header can inject another host.
    servers: [{ url: "/" }],
    tags,
    paths,
    components: {
      schemas: { Error: ERROR, ...schemas.schemas() },
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
  properties: { error: { type: "string", description: "A sentence that says what is wrong." } },
  required: ["error"],
  additionalProperties: false,
};

const HEADERS: Readonly<Record<string, JsonSchema>> = {
  "x-request-id": header("Id of the request in the server's logs."),
  "x-error-code": header("Machine-readable error code."),
  "x-indexed-block": header("Number of the latest indexed block, which the response reflects."),
  "x-indexed-block-hash": header("Hash of that block, which identifies the fork."),
  etag: header("Send it as If-None-Match to get 304 while the response is unchanged."),
  "retry-after": header("Seconds to wait before retrying."),
};

function header(description: string): JsonSchema {
  return { description, schema: { type: "string" } };
}

function headerReferences(...names: readonly string[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function describeHeaders(
  descriptions: Readonly<Record<string, string>>,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(descriptions).map(([name, text]) => [name, header(text)]));
}

// `default` covers every other error: the body has the same form.
const ERRORS: Readonly<Record<string, string>> = {
  400: "The request is malformed or out of range.",
  401: "The signature of the write is missing or invalid.",
  403: "The signer is not allowed to make this write.",
  404: "No such record.",
  409: "Conflicts with stored or indexed data.",
  413: "The body is larger than allowed.",
  415: "The body is not application/json in UTF-8.",
  429: "The client has sent too many requests in a minute, or stored too many bytes in a day.",
  503: "Service unavailable.",
  default: "Any other error; see x-error-code.",
};

function errorResponse(
  status: string,
  description: string,
  moreHeaders: Readonly<Record<string, JsonSchema>> = {},
): OpenApiResponse {
  const retryHeaders = status === "429" ? ["retry-after"] : [];
  return {
    description,
    headers: { ...headerReferences("x-request-id", "x-error-code", ...retryHeaders), ...moreHeaders },
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}

function describeOperation(route: RouteDescription, schemas: SchemaRegistry): OpenApiOperation {
  const { operationId, summary, tag, parameters, body, extensions = {}, errorStatuses, responses } = route;
  // An empty list states that neither a payment nor a signature is needed.
  const isFree = responses[402] === undefined && !errorStatuses.includes(401);
  return {
    operationId,
    summary,
    tags: [tag],
    parameters: parameters.map(describeParameter),
    ...(isFree ? { security: [] as const } : {}),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemas.register(body) } },
          },
        }),
    responses: { ...describeResponses(route, schemas), ...describeErrors(route) },
    ...extensions,
  };
}

function describeParameter({ name, in: location, required, kind, description }: Parameter): JsonSchema {
  return { name, in: location, required, description, schema: kind.json };
}

function describeResponses(
  route: RouteDescription,
  schemas: SchemaRegistry,
): Record<string, OpenApiResponse> {
  const { responses, responseHeaders = {}, hasIndexHead, hasEtag } = route;
  const names = hasIndexHead
    ? ["x-request-id", "x-indexed-block", "x-indexed-block-hash", "etag"]
    : ["x-request-id"];
  const declared = Object.entries(responses).map(([status, { type, schema }]): [string, OpenApiResponse] => [
    status,
    {
      description: DESCRIPTIONS[status] ?? "Success.",
      headers: { ...headerReferences(...names), ...describeHeaders(responseHeaders[Number(status)] ?? {}) },
      content: { [type]: { schema: schemas.register(schema) } },
    },
  ]);
  const notModified: [string, OpenApiResponse][] = hasEtag
    ? [["304", { description: "Not modified.", headers: headerReferences(...names) }]]
    : [];
  return Object.fromEntries([...declared, ...notModified]);
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: "Success.",
  201: "Stored.",
  402: "Payment required.",
  500: "Internal error.",
  503: "Service unavailable.",
};

// Only where the header or the key can be given; elsewhere no 503 has these headers.
const UNAVAILABLE_OR_BEHIND = errorResponse(
  "503",
  "Service unavailable, or (BLOCK_NOT_INDEXED) the block of x-min-block or min_block is not indexed yet.",
  {
    "retry-after": { ...header("Seconds to wait before retrying."), required: false },
    "x-block-number": {
      ...header("With BLOCK_NOT_INDEXED: the number of the latest indexed block."),
      required: false,
    },
  },
);

function describeErrors(route: RouteDescription): Record<string, OpenApiResponse> {
  const { parameters, body, errorStatuses, responses, hasMinBlock } = route;
  const statuses = [
    ...(parameters.length > 0 || body !== null ? ["400"] : []),
    ...errorStatuses.map(String),
    ...(body !== null ? ["413", "415"] : []),
    "429",
    ...(responses[503] ? [] : ["503"]),
    "default",
  ];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      hasMinBlock && status === "503"
        ? UNAVAILABLE_OR_BEHIND
        : { $ref: `#/components/responses/Error${status}` },
    ]),
  );
}

/** Collects titled schemas and replaces them by references, as readers and code generators expect. */
type SchemaRegistry = {
  /** The schema with every titled part replaced by a reference. */
  register(schema: JsonSchema): JsonSchema;
  schemas(): Readonly<Record<string, JsonSchema>>;
};

export function createSchemaRegistry(): SchemaRegistry {
  const registered = new Map<string, JsonSchema>();
  const register = (schema: JsonSchema): JsonSchema => {
    const { title, ...rest } = mapParts(schema, register);
    if (typeof title !== "string") return rest;
    const name = title.replace(/[^A-Za-z0-9_]+/g, "");
    const known = registered.get(name);
    // Two shapes may share a name, such as a record alone and within a list; the second stays inline.
    if (known && JSON.stringify(known) !== JSON.stringify(rest)) return rest;
    registered.set(name, rest);
    return { $ref: `#/components/schemas/${name}` };
  };
  return { register, schemas: () => Object.fromEntries(registered) };
}

// The keywords that hold schemas; everything else is data and stays unchanged.
const MAPS = ["properties", "patternProperties", "$defs"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLES = ["items", "additionalProperties", "propertyNames", "not"];

function mapParts(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (MAPS.includes(key) && isObject(value)) {
        return [
          key,
          Object.fromEntries(Object.entries(value).map(([name, part]) => [name, apply(part, change)])),
        ];
      }
      if (LISTS.includes(key) && Array.isArray(value)) return [key, value.map((part) => apply(part, change))];
      return SINGLES.includes(key) ? [key, apply(value, change)] : [key, value];
    }),
  );
}

function apply(part: unknown, change: (part: JsonSchema) => JsonSchema): unknown {
  return isObject(part) ? change(part) : part;
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
