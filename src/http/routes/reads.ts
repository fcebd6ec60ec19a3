// Reads of the index as GET routes: parameters in, one statement, an answer with its validators out.
import type { FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../lib/fault.ts";
import { parseUint } from "../../lib/uint.ts";
import { BLOCK_MAX, headHeaders, type RunRead, refuseUnreadable } from "../../schema/reads/index-head.ts";
import type { Read, ReadInput } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import type { AnswerCache } from "../cache/response-cache.ts";
import { withinRequestTime } from "../request-timeout.ts";
import { type Answer, toAnswer } from "../response.ts";
import type { Server } from "../server.ts";
import { readParameters } from "./parameters.ts";
import { readQuery } from "./query.ts";

export type ReadRouteOptions = {
  readonly run: RunRead;
  readonly cache: AnswerCache;
};

export function addReadRoutes(
  server: Server,
  reads: readonly Read[],
  { cache, run }: ReadRouteOptions,
): void {
  // Almost everybody is answered there; the routes are for what is not kept.
  server.keepAnswers(cache.byAddress);
  for (const read of reads) {
    server.app.get(read.path, (request, reply) => {
      const query = readQuery(request.url);
      const input = readInput(read, request, query);
      // Keys that mean nothing to us are ignored, and must not fill the cache either.
      const address = [...query.keys()].every((key) => isKnown(read, key)) ? request.url : null;
      const question = `${read.path} ${JSON.stringify(input.values)} ${input.asOf ?? ""} ${input.provenance}`;
      const making = cache.answer({ route: read.path, question, address }, () =>
        make(read, input, { request, reply, run }),
      );
      return withinRequestTime(server.app, making).then((answer) => server.send(answer, request, reply));
    });
  }
}

function isKnown(read: Read, key: string): boolean {
  if (key === "block") return read.unversioned !== true;
  if (key === "include") return read.provenance;
  return read.parameters.some(({ name }) => name === key);
}

type Making = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly run: RunRead };

function make(read: Read, input: ReadInput, { request, reply, run }: Making): Promise<Answer> {
  const plan = read.plan(input);
  return run({ sql: plan.sql, cost: plan.cost, client: request.client }, (head, answered) => {
    try {
      refuseUnreadable(input.asOf, head, { recent: read.recent === true });
      const body = plan.assemble(answered);
      if (body === null) throw new Fault("NOT_FOUND", read.missing ?? "There is no such record.");
      const answer = toAnswer(read.path, body, head);
      if (answer.body.length <= PAGE_BYTES_MAX || !plan.assembleWithin) return answer;
      // The statement leaves out what is far too long; here the bytes are counted as they are sent.
      return toAnswer(read.path, plan.assembleWithin(answered, PAGE_BYTES_MAX), head);
    } catch (error) {
      // Also an answer of "no such record" says as of which block there is none.
      reply.headers(headHeaders(head));
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
