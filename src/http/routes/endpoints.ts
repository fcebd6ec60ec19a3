// Registers endpoints as routes: parses parameters and a strict JSON body, calls the endpoint, sends its response.
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { assertDefined } from "../../lib/assert-defined.ts";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject, parseStrictJson } from "../../lib/json.ts";
import type {
  Endpoint,
  EndpointRequest,
  EndpointResponse,
  RequestHead,
  StreamedResponse,
} from "../../schema/endpoint.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { type BlockWaiters, readMinBlock, withMinBlock } from "../block-waiters.ts";
import { type RouteRequest, readParameters, readQuery, withRequestTimeout } from "../internal-requests.ts";
import { type SignResponse, serializeResponse } from "../response.ts";
import { openTextStream } from "../text-stream.ts";

// Enough for every body of a few fields. Endpoints that need more declare it: each byte costs time to read and check.
const BODY_BYTES_DEFAULT = 4_096;

type CompiledEndpoint = {
  readonly endpoint: Endpoint;
  readonly validateBody: BodyValidator | null;
  /** Null for an endpoint that does not read the index. */
  readonly waiters: BlockWaiters | null;
};

/**
 * Throws if a body schema does not compile. The routes exist once the app is ready. Endpoints that read the index need
 * `waiters`.
 */
export function addEndpointRoutes(
  app: FastifyInstance,
  endpoints: readonly Endpoint[],
  options: { readonly waiters?: BlockWaiters; readonly sign?: SignResponse | undefined } = {},
): void {
  const { sign = (response) => response } = options;
  const compiled = endpoints.map(
    (endpoint): CompiledEndpoint => ({
      endpoint,
      waiters: endpoint.readsIndex === true ? assertDefined(options.waiters, "the list of waiters") : null,
      validateBody: endpoint.body === null ? null : compileBodySchema(endpoint.body),
    }),
  );
  const serverBytesMax = app.initialConfig.bodyLimit ?? BODY_BYTES_DEFAULT;
  const bodyBytesMaxOf = (endpoint: Endpoint) =>
    Math.min(endpoint.bodyBytesMax ?? BODY_BYTES_DEFAULT, serverBytesMax);
  for (const each of compiled) {
    const { path, operationId } = each.endpoint;
    app.internalRoutes.set(operationId, {
      path,
      bodyBytesMax: bodyBytesMaxOf(each.endpoint),
      respond: (request) => respond(app, each, request),
    });
  }
  // A scope of its own in which bodies stay bytes: what is hashed and signed must be what was sent.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    for (const each of compiled) {
      const { endpoint, validateBody } = each;
      scope.route({
        method: endpoint.method,
        url: endpoint.path,
        bodyLimit: bodyBytesMaxOf(endpoint),
        // Before the body is read: a client with the wrong content type need not send all of it.
        onRequest: async (request) => {
          // A handler before the body, such as that of the terms of a paid route, responds to a request without one.
          const needsJson =
            validateBody !== null && (endpoint.preHandler === undefined || sendsBody(request));
          if (needsJson) requireJson(request.headers["content-type"]);
        },
        handler: async (request, reply) => {
          const response = await respond(app, each, request);
          if ("open" in response) openTextStream(request, reply, response);
          else reply.sendSerialized(sign(serializeResponse({ route: endpoint.path, ...response }), request));
        },
      });
    }
  });
}

async function respond(
  app: FastifyInstance,
  { endpoint, validateBody, waiters }: CompiledEndpoint,
  request: RouteRequest,
): Promise<EndpointResponse | StreamedResponse> {
  const head = readHead(request);
  const first = endpoint.preHandler?.(head) ?? null;
  const early = first instanceof Promise ? await withRequestTimeout(app, first) : first;
  if (early !== null) return early;
  const input = readRequest(endpoint, validateBody, request, head);
  const streamed = endpoint.stream?.(input) ?? null;
  if (streamed !== null) return streamed;
  const { minBlock } = input;
  // Before the work: it may reject the request, and then nothing would wait for the work.
  const late = endpoint.onTimeout?.(head) ?? null;
  const work =
    waiters === null || minBlock === null
      ? endpoint.handle(input)
      : withMinBlock(waiters, { request, minBlock }, () => endpoint.handle(input));
  return withRequestTimeout(app, work, late);
}

export function sendsBody({ headers }: Pick<FastifyRequest, "headers">): boolean {
  const { "content-length": length = "0", "transfer-encoding": encoding } = headers;
  return length !== "0" || encoding !== undefined;
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i;

// Longer values only pad: the pattern may skip blanks at two positions and would backtrack between them.
const TYPE_LENGTH_MAX = 100;

function requireJson(contentType = ""): void {
  if (contentType.length <= TYPE_LENGTH_MAX && JSON_TYPE.test(contentType)) return;
  throw new Fault("CONTENT_TYPE_UNSUPPORTED", "The request body must be sent as application/json, in UTF-8.");
}

function readRequest(
  endpoint: Endpoint,
  validateBody: BodyValidator | null,
  request: RouteRequest,
  { headers, isHead }: RequestHead,
): EndpointRequest {
  const query = readQuery(request.url);
  const values = readParameters(endpoint.parameters, request, query);
  const minBlock = endpoint.readsIndex === true ? readMinBlock(headers, query) : null;
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  let body: unknown;
  if (validateBody !== null) {
    body = dropEmptyOptionals(parseStrictJson(rawBody, "The body"), endpoint.body);
    validateBody(body);
  }
  return { values, rawBody, body, headers, client: request.client, isHead, minBlock };
}

/** Forms and some clients send "" for a field that is not filled in; an optional field then counts as absent. */
function dropEmptyOptionals(body: unknown, schema: JsonSchema | null): unknown {
  if (!isJsonObject(body)) return body;
  const required = (schema?.required ?? []) as readonly string[];
  const optional = Object.keys(schema?.properties ?? {}).filter((key) => !required.includes(key));
  if (!optional.some((key) => body[key] === "")) return body;
  return Object.fromEntries(
    Object.entries(body).filter(([key, value]) => value !== "" || !optional.includes(key)),
  );
}

function readHead({ url, headers, client, raw }: RouteRequest): RequestHead {
  const start = url.indexOf("?");
  return {
    client,
    isHead: raw.method === "HEAD",
    query: start < 0 ? "" : url.slice(start + 1),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]),
    ),
  };
}

/** Throws a Fault that names the field. */
type BodyValidator = (body: unknown) => void;

// One for all bodies: each compiles the schema of schemas first, which takes longer than all of ours.
let bodySchemas: Ajv2020 | undefined;
/** Keyed by the text of the schema: the deployments of one process have equal bodies, and share the compiled ones. */
const validators = new Map<string, ValidateFunction>();

/** Throws if the schema itself is wrong: at start, not at the first request. */
function compileBodySchema(schema: JsonSchema): BodyValidator {
  // The first error suffices, and stopping there limits the work that a hostile body can cause.
  bodySchemas ??= new Ajv2020({ strict: true, strictRequired: false, allErrors: false, verbose: true });
  const text = JSON.stringify(schema);
  const validate = validators.get(text) ?? bodySchemas.compile(schema);
  validators.set(text, validate);
  return (body) => {
    if (validate(body)) return;
    const [error] = validate.errors ?? [];
    throw new Fault(
      "INPUT_INVALID",
      error ? errorMessage(error) : "The body does not have the expected form.",
    );
  };
}

// Explanations of the patterns that our bodies use.
const PATTERNS: Readonly<Record<string, string>> = {
  "^0x[0-9a-fA-F]{40}$": "an address: 0x followed by 40 hex digits",
  "^0x[0-9a-fA-F]{64}$": "32 bytes: 0x followed by 64 hex digits",
  "^0x[0-9a-fA-F]{8}$": "4 bytes: 0x followed by 8 hex digits",
  "^0x([0-9a-fA-F]{2})*$": "0x-prefixed hex with whole bytes",
  "^0x(?:[0-9a-fA-F]{2})*$": "0x-prefixed hex with whole bytes",
  "^(0|[1-9][0-9]*)$": "a whole number in decimal digits, as a string",
  "^[0-9]+$": "a whole number in decimal digits, as a string",
};

type Message = (params: Readonly<Record<string, unknown>>, field: string) => string;

const MESSAGES: Readonly<Record<string, Message>> = {
  required: ({ missingProperty }, field) =>
    `${field === "The body" ? "" : `${field}.`}${missingProperty} is required.`,
  type: ({ type }, field) => `${field} must be ${[type].flat().map(withArticle).join(" or ")}.`,
  pattern: ({ pattern }, field) =>
    `${field} must be ${PATTERNS[String(pattern)] ?? `text of the form ${pattern}`}.`,
  enum: ({ allowedValues }, field) => `${field} must be one of ${[allowedValues].flat().join(", ")}.`,
  const: ({ allowedValue }, field) => `${field} must be ${String(allowedValue)}.`,
  maxLength: ({ limit }, field) => `${field} must have at most ${limit} characters.`,
  minLength: ({ limit }, field) => `${field} must have at least ${limit} characters.`,
  maxItems: ({ limit }, field) => `${field} must have at most ${limit} elements.`,
  minItems: ({ limit }, field) => `${field} must have at least ${limit} elements.`,
  maxProperties: ({ limit }, field) => `${field} must have at most ${limit} keys.`,
  maximum: ({ limit }, field) => `${field} must be at most ${limit}.`,
  minimum: ({ limit }, field) => `${field} must be at least ${limit}.`,
  // The key is the client's own text and is not echoed.
  additionalProperties: (_params, field) => `${field} has an unknown key.`,
};

function errorMessage({ keyword, params, instancePath }: ErrorObject): string {
  const field = fieldName(instancePath);
  return MESSAGES[keyword]?.(params as Readonly<Record<string, unknown>>, field) ?? `${field} is invalid.`;
}

// Keys chosen by the client could make the path long.
const FIELD_LENGTH_MAX = 80;

function fieldName(instancePath: string): string {
  const path = instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  return path === "" ? "The body" : path.slice(0, FIELD_LENGTH_MAX);
}

function withArticle(type: unknown): string {
  const name = String(type);
  if (name === "null") return "null";
  return `${/^[aeio]/.test(name) ? "an" : "a"} ${name}`;
}
