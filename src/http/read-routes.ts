// Reads of the index as GET routes: parameters in, one statement, an answer with its validators out.
import { hash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../kit/fault.ts";
import { parseUint } from "../kit/uint.ts";
import {
  BLOCK_MAX,
  headHeaders,
  type IndexHead,
  type RunRead,
  refuseUnreadable,
} from "../schema/index-head.ts";
import type { Read, ReadInput } from "../schema/read.ts";
import type { Answer, AnswerCache } from "./answer-cache.ts";
import { readParameters } from "./parameters.ts";
import { readQuery } from "./query.ts";
import { withinRequestTime } from "./time-limit.ts";
import { matches } from "./validators.ts";

export type ReadRouteOptions = {
  readonly run: RunRead;
  readonly cache: AnswerCache;
};

export function addReadRoutes(app: FastifyInstance, reads: readonly Read[], options: ReadRouteOptions): void {
  for (const read of reads) {
    app.get(read.path, (request, reply) => {
      const kept = options.cache.byAddress(request.url);
      // What is kept is sent at once: a promise would cost as much as the look-up.
      if (kept) send(kept, request, reply);
      else return answer(app, read, request, reply, options);
    });
  }
}

async function answer(
  app: FastifyInstance,
  read: Read,
  request: FastifyRequest,
  reply: FastifyReply,
  { cache, run }: ReadRouteOptions,
): Promise<FastifyReply> {
  const query = readQuery(request.url);
  const input = readInput(read, request, query);
  // Keys that mean nothing to us are ignored, and must not fill the cache either.
  const address = [...query.keys()].every((key) => isKnown(read, key)) ? request.url : null;
  const question = `${read.path} ${JSON.stringify(input.values)} ${input.asOf ?? ""} ${input.provenance}`;
  const making = cache.answer(question, address, () => make(read, input, reply, run));
  return send(await withinRequestTime(app, making), request, reply);
}

function isKnown(read: Read, key: string): boolean {
  return key === "block" || key === "include" || read.parameters.some(({ name }) => name === key);
}

function make(read: Read, input: ReadInput, reply: FastifyReply, run: RunRead): Promise<Answer> {
  const plan = read.plan(input);
  return run(plan.sql, (head, answered) => {
    try {
      refuseUnreadable(input.asOf, head, { recent: read.recent === true });
      const body = plan.assemble(answered);
      if (body === null) throw new Fault("NOT_FOUND", read.missing ?? "There is no such record.");
      return toAnswer(body, head);
    } catch (error) {
      // Also an answer of "no such record" says as of which block there is none.
      reply.headers(headHeaders(head));
      throw error;
    }
  });
}

function readInput(read: Read, request: FastifyRequest, query: ReadonlyMap<string, string>): ReadInput {
  const values = readParameters(read.parameters, request, query);
  const block = query.get("block");
  const include = query.get("include");
  if (include !== undefined && include !== "provenance") {
    throw new Fault("INPUT_INVALID", "include must be provenance.");
  }
  return {
    values,
    asOf: block === undefined ? null : parseUint(block, "block", BLOCK_MAX),
    provenance: include === "provenance" && read.provenance,
  };
}

export function toAnswer(body: unknown, head: IndexHead): Answer {
  const bytes = Buffer.from(JSON.stringify(body));
  const etag = `"${hash("sha1", bytes, "base64url")}"`;
  return {
    status: 200,
    body: bytes,
    etag,
    headers: {
      etag,
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-cache",
      ...headHeaders(head),
    },
  };
}

function send(
  { status, body, etag, headers }: Answer,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.headers(headers);
  if (matches(request.headers["if-none-match"], etag)) return reply.code(304).send();
  return reply.code(status).send(body);
}
