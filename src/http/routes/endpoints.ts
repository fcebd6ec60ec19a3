// Endpoints as routes: parameters and a strict JSON body in, whatever the endpoint answers out.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../lib/fault.ts";
import { parseStrictJson } from "../../lib/json.ts";
import type { Endpoint, EndpointRequest, EndpointResponse, RequestHead } from "../../schema/endpoint.ts";
import { withRequestTimeout } from "../request-timeout.ts";
import { etagMatches } from "../response.ts";
import { type BodyValidator, compileBodySchema } from "./body-validation.ts";
import { readParameters, readQuery } from "./parameters.ts";

// Room for every body of a few fields. What needs more says so, because each byte costs time to read and to check.
const BODY_BYTES_DEFAULT = 4_096;

/** The routes appear when the app is ready; schemas that do not compile throw here. */
export function addEndpointRoutes(app: FastifyInstance, endpoints: readonly Endpoint[]): void {
  const checked = endpoints.map((endpoint) => ({
    endpoint,
    check: endpoint.body === null ? null : compileBodySchema(endpoint.body),
  }));
  const bodyBytesMax = app.initialConfig.bodyLimit ?? BODY_BYTES_DEFAULT;
  // A scope of its own, because here bodies stay bytes: what is hashed and signed must be what was sent.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    for (const { endpoint, check } of checked) {
      scope.route({
        method: endpoint.method,
        url: endpoint.path,
        bodyLimit: Math.min(endpoint.bodyBytesMax ?? BODY_BYTES_DEFAULT, bodyBytesMax),
        // Before the body is read: whoever sends the wrong kind need not send it whole.
        onRequest: async (request) => {
          if (check !== null) requireJson(request.headers["content-type"]);
        },
        handler: async (request, reply) => {
          const early = endpoint.preHandler?.(headOf(request)) ?? null;
          if (early !== null) return send(early, request, reply);
          const work = endpoint.handle(toRequest(endpoint, check, request));
          const late = endpoint.onTimeout?.(headOf(request)) ?? null;
          const answer = await (late === null
            ? withRequestTimeout(app, work)
            : withRequestTimeout(app, work, () => late));
          return send(answer, request, reply);
        },
      });
    }
  });
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i;

// What is longer only pads: the blanks a pattern may skip in two places would be counted against one another.
const TYPE_LENGTH_MAX = 100;

function requireJson(contentType = ""): void {
  if (contentType.length <= TYPE_LENGTH_MAX && JSON_TYPE.test(contentType)) return;
  throw new Fault("CONTENT_TYPE_UNSUPPORTED", "The request body must be sent as application/json, in UTF-8.");
}

function toRequest(
  endpoint: Endpoint,
  check: BodyValidator | null,
  request: FastifyRequest,
): EndpointRequest {
  const values = readParameters(endpoint.parameters, request, readQuery(request.url));
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  let body: unknown;
  if (check !== null) {
    body = parseStrictJson(bytes, "The body");
    check(body);
  }
  return { values, rawBody: bytes, body, headers: singleHeaders(request.headers), client: request.client };
}

function headOf({ url, headers }: FastifyRequest): RequestHead {
  const start = url.indexOf("?");
  return { query: start < 0 ? "" : url.slice(start + 1), headers: singleHeaders(headers) };
}

function singleHeaders(headers: FastifyRequest["headers"]): EndpointRequest["headers"] {
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, [value].flat().join(", ")]));
}

function send(
  { status, body, headers = {} }: EndpointResponse,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.code(status).headers(headers);
  const etag = headers.etag;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (isRead && etag !== undefined && etagMatches(request.headers["if-none-match"], etag)) {
    return reply.code(304).send();
  }
  if (body instanceof Uint8Array) return reply.send(body);
  const text = JSON.stringify(body);
  if (text === undefined) throw new Fault("INTERNAL", "The answer has no body.");
  if (headers["content-type"] === undefined) reply.type("application/json; charset=utf-8");
  return reply.send(text);
}
