// Reads of the index as GET routes: parameters in, one statement, an answer with its validators out.
import type { FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../lib/fault.ts";
import { parseUint } from "../../lib/uint.ts";
import type { Read, ReadInput } from "../../schema/reads/read.ts";
import { assertBlockReadable, BLOCK_MAX, formatHeadHeaders, type RunRead } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import type { ResponseCache } from "../cache/response-cache.ts";
import { withRequestTimeout } from "../request-timeout.ts";
import { type SerializedResponse, serializeResponse } from "../response.ts";
import type { HttpServer } from "../server.ts";
import { readParameters, readQuery } from "./parameters.ts";

export type ReadRouteOptions = {
  readonly run: RunRead;
  readonly cache: ResponseCache;
};

export function addReadRoutes(
  server: HttpServer,
  reads: readonly Read[],
  { cache, run }: ReadRouteOptions,
): void {
  // Almost everybody is answered there; the routes are for what is not kept.
  server.serveFromCache(cache.getByUrl);
  for (const read of reads) {
    server.app.get(read.path, (request, reply) => {
      const query = readQuery(request.url);
      const input = readInput(read, request, query);
      // Keys that mean nothing to us are ignored, and must not fill the cache either.
      const address = [...query.keys()].every((key) => isKnown(read, key)) ? request.url : null;
      const question = `${read.path} ${JSON.stringify(input.values)} ${input.asOf ?? ""} ${input.provenance}`;
      const making = cache.getOrCreate({ route: read.path, canonicalKey: question, url: address }, () =>
        make(read, input, { request, reply, run }),
      );
      return withRequestTimeout(server.app, making).then((answer) =>
        server.sendResponse(answer, request, reply),
      );
    });
  }
}

function isKnown(read: Read, key: string): boolean {
  if (key === "block") return read.unversioned !== true;
  if (key === "include") return read.provenance;
  return read.parameters.some(({ name }) => name === key);
}

type Making = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly run: RunRead };

function make(read: Read, input: ReadInput, { request, reply, run }: Making): Promise<SerializedResponse> {
  const plan = read.plan(input);
  return run({ sql: plan.sql, cost: plan.cost, client: request.client }, (head, answered) => {
    try {
      assertBlockReadable(input.asOf, head, { recent: read.recentOnly === true });
      const body = plan.assemble(answered);
      if (body === null) throw new Fault("NOT_FOUND", read.notFoundMessage ?? "There is no such record.");
      const answer = serializeResponse(read.path, body, head);
      if (answer.body.length <= PAGE_BYTES_MAX || !plan.assembleWithin) return answer;
      // The statement leaves out what is far too long; here the bytes are counted as they are sent.
      return serializeResponse(read.path, plan.assembleWithin(answered, PAGE_BYTES_MAX), head);
    } catch (error) {
      // Also an answer of "no such record" says as of which block there is none.
      reply.headers(formatHeadHeaders(head));
      throw error;
    }
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
