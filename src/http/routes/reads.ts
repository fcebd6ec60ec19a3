// Registers reads of the index as GET routes: parameters in, one statement, a cached response with its ETag out.
import type { FastifyReply, FastifyRequest } from "fastify";
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { IndexHead, Read, ReadInput } from "../../schema/reads/read.ts";
import { assertBlockReadable, BLOCK_MAX, formatHeadHeaders, type RunRead } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import { withRequestTimeout } from "../request-timeout.ts";
import { type SerializedResponse, serializeResponse } from "../response.ts";
import type { ResponseCache } from "../response-cache.ts";
import type { HttpServer } from "../server.ts";
import { readParameters, readQuery } from "./parameters.ts";

type ReadRouteOptions = {
  readonly run: RunRead;
  readonly cache: ResponseCache;
};

export function addReadRoutes(
  server: HttpServer,
  reads: readonly Read[],
  { cache, run }: ReadRouteOptions,
): void {
  // Most requests end there; the routes serve what is not cached.
  server.serveFromCache((url) => cache.getByUrl(url));
  for (const read of reads) {
    server.app.get(read.path, (request, reply) => {
      const query = readQuery(request.url);
      const input = readInput(read, request, query);
      // Unknown keys are ignored, and must not fill the cache either.
      const url = [...query.keys()].every((key) => isKnown(read, key)) ? request.url : null;
      const canonicalKey = `${read.path} ${JSON.stringify(input.values)} ${input.asOf ?? ""} ${input.provenance}`;
      const work = cache.getOrCreate({ route: read.path, canonicalKey, url }, () =>
        createResponse(read, input, { request, reply, run }),
      );
      return withRequestTimeout(server.app, work).then((response) => reply.sendSerialized(response));
    });
  }
}

function isKnown(read: Read, key: string): boolean {
  if (key === "block") return read.unversioned !== true;
  if (key === "include") return read.provenance;
  return read.parameters.some(({ name }) => name === key);
}

type ReadContext = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly run: RunRead };

function createResponse(
  read: Read,
  input: ReadInput,
  { request, reply, run }: ReadContext,
): Promise<SerializedResponse> {
  const plan = read.plan(input);
  return run({ sql: plan.sql, cost: plan.cost, client: request.client }, (head, rows) => {
    try {
      assertBlockReadable(input.asOf, head, { recent: read.recentOnly === true });
      const body = plan.assemble(rows);
      if (body === null) throw new Fault("NOT_FOUND", read.notFoundMessage ?? "There is no such record.");
      const response = serializeRead(read, body, head);
      if (response.body.length <= PAGE_BYTES_MAX || !plan.assembleWithin) return response;
      // The statement leaves out rows that are far too long; here the bytes count as they are sent.
      return serializeRead(read, plan.assembleWithin(rows, PAGE_BYTES_MAX), head);
    } catch (error) {
      // A 404 also says as of which block there is no such record.
      reply.headers(formatHeadHeaders(head));
      throw error;
    }
  });
}

function serializeRead(read: Read, body: unknown, head: IndexHead): SerializedResponse {
  return serializeResponse({
    route: read.path,
    body,
    headers: { "cache-control": "no-cache", ...formatHeadHeaders(head) },
    computeEtag: true,
  });
}

function readInput(read: Read, request: FastifyRequest, query: ReadonlyMap<string, string>): ReadInput {
  const values = readParameters(read.parameters, request, query);
  const block = isKnown(read, "block") ? query.get("block") : undefined;
  const include = isKnown(read, "include") ? query.get("include") : undefined;
  if (include !== undefined && include !== "provenance") {
    throw new Fault("INPUT_INVALID", "include must be provenance.");
  }
  return {
    values,
    asOf: block === undefined ? null : parseUint(block, "block", BLOCK_MAX),
    provenance: include === "provenance",
  };
}
