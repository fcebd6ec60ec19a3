// Builds the OpenAPI 3.1 document from the declarations that validate requests and produce responses.
import { assertDefined } from "../../lib/assert-defined.ts";
import type { Security } from "../../schema/endpoint.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import type { Parameter } from "../../schema/parameter.ts";
import { describeSamples, type SampleService } from "./code-samples.ts";
import {
  type ApiExamples,
  type OpenApiParameter,
  type RouteDescription,
  SERVICE_TAG,
} from "./route-description.ts";

type Contact = { readonly name: string; readonly url?: string };

export type ApiInfo = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Absent if the service knows no address of its own. */
  readonly contact?: Contact;
  /** How an agent uses the API, in a few sentences. */
  readonly "x-guidance"?: string;
};

export type OpenApiOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly OpenApiParameter[];
  /** Empty if neither a payment nor a signature is needed; contains an empty one if it may come later. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
  readonly [extension: `x-${string}`]: unknown;
};

type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;
type Schemas = Readonly<Record<string, JsonSchema>>;
type Reference = { readonly $ref: string };
type OpenApiHeader = {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
};
export type OpenApiResponse =
  | Reference
  | {
      readonly description: string;
      readonly headers: Readonly<Record<string, Reference | OpenApiHeader>>;
      readonly content?: Content;
    };

export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: ApiInfo & {
    readonly contact: Contact;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly securitySchemes?: Schemas;
    readonly [REFERRED_SCHEMES]?: Schemas;
    readonly headers: Readonly<Record<string, OpenApiHeader>>;
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
  };
};

type DocumentParts = {
  readonly info: ApiInfo;
  readonly routes: readonly RouteDescription[];
  /** The subject of each tag. */
  readonly tags: Readonly<Record<string, string>>;
  readonly examples?: ApiExamples;
  /** The path below which the service is; empty or absent at the root. */
  readonly base?: string;
  /** The ways in which programs call the service; operations then show their request as code. */
  readonly samples?: SampleService;
};

const NO_EXAMPLES: ApiExamples = { parameters: {}, operations: {} };

export function buildOpenApiDocument(parts: DocumentParts): OpenApiDocument {
  const { info, routes, samples, examples = NO_EXAMPLES } = parts;
  const schemas = createSchemaRegistry();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const operation = describeOperation(route, schemas, examples);
    const place = { method: route.method, path };
    // The client reads and writes data: it has no actions for the service itself.
    const service = samples && (route.tag in SERVICE_TAG ? { ...samples, client: null } : samples);
    const shown = service === undefined ? {} : describeSamples(operation, place, service);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: { ...operation, ...shown } };
  }
  const tags = [...new Set(routes.map(({ tag }) => tag))].map((name) => ({
    name,
    description: assertDefined({ ...SERVICE_TAG, ...parts.tags }[name], `the description of the tag ${name}`),
  }));
  return {
    openapi: "3.1.0",
    info: {
      ...info,
      contact: info.contact ?? { name: `Operator of this ${info.title}` },
      license: { name: "MIT", identifier: "MIT" },
    },
    // Relative, so that no request header can inject another host.
    servers: [{ url: parts.base || "/" }],
    tags,
    paths,
    components: {
      schemas: { Error: ERROR, ...schemas.schemas() },
      ...describeSecuritySchemes(routes),
      ...selectReferenced(paths),
    },
  };
}

/** The shared responses and headers that the paths use. */
function selectReferenced(
  paths: OpenApiDocument["paths"],
): Pick<OpenApiDocument["components"], "headers" | "responses"> {
  const select = <T>(kind: string, parts: Readonly<Record<string, T>>, users: unknown) => {
    const text = JSON.stringify(users);
    const isUsed = (name: string) => text.includes(`"#/components/${kind}/${name}"`);
    return Object.fromEntries(Object.entries(parts).filter(([name]) => isUsed(name)));
  };
  const responses = select("responses", ERROR_RESPONSES, paths);
  return { headers: select("headers", HEADERS, [paths, responses]), responses };
}

/** The component with schemes that others refer to. */
export const REFERRED_SCHEMES = "x-security-schemes";

function describeSecuritySchemes(routes: readonly RouteDescription[]) {
  const all = routes.flatMap(({ security }) => (security ? [security] : []));
  const entries = all.map(({ name, scheme, isReferred }) => [
    name,
    isReferred ? { $ref: `#/components/${REFERRED_SCHEMES}/${name}` } : scheme,
  ]);
  const referred = all.filter(({ isReferred }) => isReferred).map(({ name, scheme }) => [name, scheme]);
  return {
    ...(entries.length > 0 && { securitySchemes: Object.fromEntries(entries) }),
    ...(referred.length > 0 && { [REFERRED_SCHEMES]: Object.fromEntries(referred) }),
  };
}

const ERROR = {
  type: "object",
  properties: { error: { type: "string", description: "A sentence that says what is wrong." } },
  required: ["error"],
  additionalProperties: false,
};

// Required: part of every such response. The others are sent when they mean something.
const HEADERS: Readonly<Record<string, OpenApiHeader>> = {
  "x-request-id": header("Id of the request in the server's logs."),
  "x-error-code": header("Machine-readable error code."),
  "x-indexed-block": header("Number of the latest indexed block, which the response reflects."),
  "x-indexed-block-hash": header("Hash of that block, which identifies the fork."),
  "x-indexed-time": header("Time of that block."),
  etag: header("Send it as If-None-Match to get 304 while the response is unchanged."),
  "retry-after": header("Seconds to wait before retrying."),
};

function header(description: string): OpenApiHeader {
  return { description, required: true, schema: { type: "string" } };
}

function optionalHeader(description: string): OpenApiHeader {
  return { ...header(description), required: false };
}

function headerReferences(...names: readonly string[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function describeHeaders(
  descriptions: Readonly<Record<string, string>>,
): Readonly<Record<string, OpenApiHeader>> {
  // No response has it always.
  const describe = (name: string) => (name in RETRY_AFTER ? optionalHeader : header);
  return Object.fromEntries(Object.entries(descriptions).map(([name, text]) => [name, describe(name)(text)]));
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
  500: "Internal error, or a source of the data has failed.",
  503: "Service unavailable.",
  default: "Any other error; see x-error-code.",
};

const RETRY_AFTER = { "retry-after": optionalHeader("Seconds to wait before retrying.") };

// Errors that are found only after the index was read name its block.
const INDEX_HEAD = {
  "x-indexed-block": optionalHeader("Number of the latest indexed block, if the index was read."),
  "x-indexed-block-hash": optionalHeader("Hash of that block."),
  "x-indexed-time": optionalHeader("Time of that block."),
};

const MORE_HEADERS: Readonly<Record<string, Readonly<Record<string, OpenApiHeader>>>> = {
  503: RETRY_AFTER,
  default: {
    ...RETRY_AFTER,
    allow: optionalHeader("With 405: the methods that the path has."),
  },
};

function errorResponse(
  status: string,
  description = ERRORS[status] ?? "",
  moreHeaders = MORE_HEADERS[status] ?? {},
): OpenApiResponse {
  const retryHeaders = status === "429" ? ["retry-after"] : [];
  return {
    description,
    headers: { ...headerReferences("x-request-id", "x-error-code", ...retryHeaders), ...moreHeaders },
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}

const ERROR_RESPONSES: Readonly<Record<string, OpenApiResponse>> = {
  ...Object.fromEntries(Object.keys(ERRORS).map((status) => [`Error${status}`, errorResponse(status)])),
  IndexError400: errorResponse("400", ERRORS[400], INDEX_HEAD),
  IndexError404: errorResponse("404", ERRORS[404], INDEX_HEAD),
  // Only operations that take the header or the key have it on their 503.
  IndexError503: errorResponse(
    "503",
    "Service unavailable, or (BLOCK_NOT_INDEXED) the block of x-min-block or min_block is not indexed yet.",
    {
      ...RETRY_AFTER,
      "x-block-number": optionalHeader("With BLOCK_NOT_INDEXED: the number of the latest indexed block."),
    },
  ),
};

function describeOperation(
  route: RouteDescription,
  schemas: SchemaRegistry,
  examples: ApiExamples,
): OpenApiOperation {
  const { operationId, summary, description, tag, parameters, body, security, extensions = {} } = route;
  const recorded = examples.operations[operationId];
  const values = { ...examples.parameters, ...recorded?.parameters };
  const bodyExample = recorded?.body ?? route.bodyExample;
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    parameters: parameters.map((parameter) => describeParameter(parameter, values)),
    security: describeSecurity(security),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: schemas.register(body),
                ...(bodyExample === undefined ? {} : { example: bodyExample }),
              },
            },
          },
        }),
    responses: {
      ...describeResponses(route, schemas, examples.responses?.[operationId] ?? route.responseExample),
      ...describeErrors(route),
    },
    ...extensions,
  };
}

function describeSecurity(security: Security | null): OpenApiOperation["security"] {
  if (security === null) return [];
  return [...(security.optional ? [{}] : []), { [security.name]: [] }];
}

function describeParameter(
  { name, in: location, required, kind, description, example }: Parameter,
  examples: Readonly<Record<string, unknown>>,
): OpenApiParameter {
  const value = examples[name] ?? example;
  return {
    name,
    in: location,
    required,
    description,
    schema: kind.json,
    ...(value === undefined ? {} : { example: value }),
  };
}

const READ_BLOCK = {
  "x-block-number": optionalHeader("With `at`: the number of the block that was read."),
  "x-block-time": optionalHeader("With `at`: the time at which deadlines and limits were judged."),
};

function describeResponses(
  route: RouteDescription,
  schemas: SchemaRegistry,
  example: unknown,
): Record<string, OpenApiResponse> {
  const { responses, responseHeaders = {}, otherTypes = {}, hasIndexHead, hasEtag } = route;
  const head = hasIndexHead ? ["x-indexed-block", "x-indexed-block-hash", "x-indexed-time"] : [];
  const takesTime = hasIndexHead && route.parameters.some(({ name }) => name === "at");
  const shared = { ...headerReferences("x-request-id", ...head), ...(takesTime ? READ_BLOCK : {}) };
  const etag = headerReferences("etag");
  const declared = Object.entries(responses).map(([status, { type, schema }]): [string, OpenApiResponse] => [
    status,
    {
      description: DESCRIPTIONS[status] ?? "Success.",
      headers: {
        // Before a payment nothing is read.
        ...(status === "402" ? headerReferences("x-request-id") : shared),
        ...(hasEtag ? etag : {}),
        ...describeHeaders(responseHeaders[Number(status)] ?? {}),
      },
      content: {
        [type]: {
          schema: schemas.register(schema),
          ...(example === undefined || !isSuccess(status) ? {} : { example }),
        },
        ...(status === "200" ? describeContent(otherTypes, schemas) : {}),
      },
    },
  ]);
  const notModified: [string, OpenApiResponse][] = hasEtag
    ? [
        [
          "304",
          {
            description: "Not modified.",
            headers: { ...shared, ...etag, ...describeHeaders(responseHeaders[304] ?? {}) },
          },
        ],
      ]
    : [];
  return Object.fromEntries([...declared, ...notModified]);
}

function isSuccess(status: string): boolean {
  return status === "200" || status === "201";
}

function describeContent(byType: Readonly<Record<string, JsonSchema>>, schemas: SchemaRegistry): Content {
  return Object.fromEntries(
    Object.entries(byType).map(([type, schema]) => [type, { schema: schemas.register(schema) }]),
  );
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: "Success.",
  201: "Stored.",
  402: "Payment required.",
};

function describeErrors(route: RouteDescription): Record<string, Reference> {
  const { parameters, body, errorStatuses, responses, hasIndexHead, hasMinBlock } = route;
  const statuses = [
    ...(parameters.length > 0 || body !== null ? ["400"] : []),
    ...errorStatuses.map(String),
    ...(body !== null ? ["413", "415"] : []),
    "429",
    ...(responses[503] ? [] : ["503"]),
    "default",
  ];
  const ofIndex = [...(hasIndexHead ? ["400", "404"] : []), ...(hasMinBlock ? ["503"] : [])];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { $ref: `#/components/responses/${ofIndex.includes(status) ? "Index" : ""}Error${status}` },
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
