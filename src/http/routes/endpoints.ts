// Registers endpoints as routes: parses parameters and a strict JSON body, calls the endpoint, sends its response.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../../lib/fault.ts";
import { parseStrictJson } from "../../lib/json.ts";
import type { Endpoint, EndpointRequest, EndpointResponse, RequestHead } from "../../schema/endpoint.ts";
import { withRequestTimeout } from "../request-timeout.ts";
import { serializeResponse } from "../response.ts";
import { type BodyValidator, compileBodySchema } from "./body-validation.ts";
import { readParameters, readQuery } from "./parameters.ts";

// Enough for every body of a few fields. Endpoints that need more declare it: each byte costs time to read and check.
const BODY_BYTES_DEFAULT = 4_096;

type CompiledEndpoint = { readonly endpoint: Endpoint; readonly validateBody: BodyValidator | null };

/** Throws if a body schema does not compile. The routes exist once the app is ready. */
export function addEndpointRoutes(app: FastifyInstance, endpoints: readonly Endpoint[]): void {
  const compiled = endpoints.map(
    (endpoint): CompiledEndpoint => ({
      endpoint,
      validateBody: endpoint.body === null ? null : compileBodySchema(endpoint.body),
    }),
  );
  const bodyBytesMax = app.initialConfig.bodyLimit ?? BODY_BYTES_DEFAULT;
  // A scope of its own in which bodies stay bytes: what is hashed and signed must be what was sent.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    for (const each of compiled) {
      const { endpoint, validateBody } = each;
      scope.route({
        method: endpoint.method,
        url: endpoint.path,
        bodyLimit: Math.min(endpoint.bodyBytesMax ?? BODY_BYTES_DEFAULT, bodyBytesMax),
        // Before the body is read: a client with the wrong content type need not send all of it.
        onRequest: async (request) => {
          if (validateBody !== null) requireJson(request.headers["content-type"]);
        },
        handler: async (request, reply) => {
          const response = await respond(app, each, request);
          reply.sendSerialized(serializeResponse({ route: endpoint.path, ...response }));
        },
      });
    }
  });
}

async function respond(
  app: FastifyInstance,
  { endpoint, validateBody }: CompiledEndpoint,
  request: FastifyRequest,
): Promise<EndpointResponse> {
  const head = readHead(request);
  const early = endpoint.preHandler?.(head) ?? null;
  if (early !== null) return early;
  const work = endpoint.handle(readRequest(endpoint, validateBody, request, head));
  const onTimeout = endpoint.onTimeout?.(head) ?? null;
  return onTimeout === null ? withRequestTimeout(app, work) : withRequestTimeout(app, work, () => onTimeout);
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i;

// Longer values only pad: the pattern may skip blanks in two places and would backtrack between them.
const TYPE_LENGTH_MAX = 100;

function requireJson(contentType = ""): void {
  if (contentType.length <= TYPE_LENGTH_MAX && JSON_TYPE.test(contentType)) return;
  throw new Fault("CONTENT_TYPE_UNSUPPORTED", "The request body must be sent as application/json, in UTF-8.");
}

function readRequest(
  endpoint: Endpoint,
  validateBody: BodyValidator | null,
  request: FastifyRequest,
  { headers }: RequestHead,
): EndpointRequest {
  const values = readParameters(endpoint.parameters, request, readQuery(request.url));
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  let body: unknown;
  if (validateBody !== null) {
    body = parseStrictJson(rawBody, "The body");
    validateBody(body);
  }
  return { values, rawBody, body, headers, client: request.client };
}

function readHead({ url, headers }: FastifyRequest): RequestHead {
  const start = url.indexOf("?");
  return {
    query: start < 0 ? "" : url.slice(start + 1),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]),
    ),
  };
}
