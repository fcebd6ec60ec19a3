// Registers reads of the index as GET routes: parameters in, one statement, a cached response with its ETag out.

import type { FastifyRequest } from "fastify";
import { Fault } from "../../lib/fault.ts";
import { formatMoment, parseMoment } from "../../lib/moment.ts";
import { clampTime, findBlockAt, formatAtBlock, parseAtBlock } from "../../schema/reads/block-at.ts";
import { readCursorBlock } from "../../schema/reads/list.ts";
import {
  type AsOf,
  type AtBlock,
  assembleBody,
  assertBlockReached,
  formatHeadHeaders,
  type IndexHead,
  includableParts,
  type MinBlock,
  type Read,
  type ReadInput,
  type ReadStatement,
  type RunRead,
} from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import { type BlockWaiters, MIN_BLOCK_HEADER, readMinBlock, withMinBlock } from "../block-waiters.ts";
import { type RouteRequest, readParameters, readQuery, withRequestTimeout } from "../internal-requests.ts";
import { type SerializedResponse, serializeResponse, toEndpointResponse } from "../response.ts";
import type { ResponseCache } from "../response-cache.ts";
import type { HttpApp } from "../server.ts";
import { asksForSignature, type ReadSigning } from "../signing/read-signing.ts";
import { asksForProof, type ProveRecord, readWithProofs } from "./record-proofs.ts";

type ReadRouteOptions = {
  readonly run: RunRead;
  readonly cache: ResponseCache;
  readonly waiters: BlockWaiters;
  /** Whether each request must reach its route, also one whose response is cached: routes that are sold charge there. */
  readonly isSold?: boolean;
  /** Absent without signing keys. */
  readonly signing?: ReadSigning | undefined;
  /** Adds proofs to records; without it, requests for them are rejected. */
  readonly prove?: ProveRecord;
};

export function addReadRoutes(server: HttpApp, reads: readonly Read[], options: ReadRouteOptions): void {
  const { cache, run, waiters, signing } = options;
  const { app } = server;
  // Most requests end there; the routes serve what is not cached, and compare blocks.
  const withOwnWrites = new Set(reads.filter((read) => read.showsOwnWrites).map(({ path }) => path));
  if (options.isSold !== true) {
    server.serveFromCache((url, { headers }) => {
      const cached = cache.getByUrl(url);
      if (!cached || !hasBlock(cached, headers[MIN_BLOCK_HEADER])) return undefined;
      return asksForNewest(headers) && withOwnWrites.has(cached.route) ? undefined : cached;
    });
  }
  const respond = (read: Read, request: RouteRequest, isUrlSigned = false): Promise<SerializedResponse> => {
    const query = readQuery(request.url);
    if (query.has("at") && isKnown(read, "block")) return respondAtTime(read, request, query);
    // Unknown keys are ignored, and must not fill the cache either; nor must min_block, which changes no response.
    const url = !isUrlSigned && hasKnownKeys(read, query) ? request.url : null;
    return respondAtBlock(read, request, { query, url });
  };
  /** A time leads to other blocks as it passes, so that its URL is not cached; the response of its block is. */
  const respondAtTime = async (read: Read, request: RouteRequest, query: ReadonlyMap<string, string>) => {
    const found = await withRequestTimeout(app, findBlockOf(options, read, request, query));
    const atBlock = new Map(query).set("block", formatAtBlock(found));
    const response = await respondAtBlock(read, request, { query: atBlock, url: null });
    const time = found.seconds === null ? [] : ["x-block-time", formatMoment(found.seconds)];
    return { ...response, headers: [...response.headers, "x-block-number", String(found.block), ...time] };
  };
  const respondAtBlock = (
    read: Read,
    request: RouteRequest,
    { query, url }: { readonly query: ReadonlyMap<string, string>; readonly url: string | null },
  ): Promise<SerializedResponse> => {
    const input = readInput(read, request, query);
    const minBlock = readMinBlock(request.headers, query);
    if (asksForProof(read, query)) return respondProven({ app, read, request, input, minBlock }, options);
    const canonicalKey = `${read.path} ${JSON.stringify(input.values)} ${input.asOf === null ? "" : formatAtBlock(input.asOf)} ${input.provenance} ${input.requirements} ${input.isDated}`;
    const create = () => createResponse(read, input, { client: request.client, run, minBlock });
    const find =
      read.showsOwnWrites === true && asksForNewest(request.headers)
        ? create
        : () => cache.getOrCreate({ route: read.path, canonicalKey, url }, create);
    // Most requests wait for no block, and need no further promise.
    const work =
      minBlock === null
        ? find()
        : withMinBlock(waiters, { request, minBlock }, async () => {
            const response = await find();
            // It may be cached, or made for another request, at an earlier block.
            assertBlockReached(minBlock, response.indexedBlock ?? 0n);
            return response;
          });
    return withRequestTimeout(app, work);
  };
  for (const read of reads) {
    app.get(read.path, (request, reply) =>
      (asksForSignature(signing, request)
        ? respondSigned({ read, request, cache, signing }, () => respond(read, request, true))
        : respond(read, request)
      ).then((response) => reply.sendSerialized(response)),
    );
    app.internalRoutes.set(read.operationId, {
      path: read.path,
      bodyBytesMax: 0,
      // Pages and tools need no signature, and must leave the URLs to responses that have one.
      respond: async (request) => toEndpointResponse(await respond(read, request, signing?.signsAll)),
    });
  }
}

type ProvenRequest = {
  readonly app: HttpApp["app"];
  readonly read: Read;
  readonly request: RouteRequest;
  readonly input: ReadInput;
  readonly minBlock: MinBlock;
};

/** Not cached: the node may have no proof now and have it a moment later. */
function respondProven(
  { app, read, request, input, minBlock }: ProvenRequest,
  { run, waiters, prove }: ReadRouteOptions,
): Promise<SerializedResponse> {
  const { client } = request;
  if (prove === undefined) throw new Fault("INPUT_INVALID", "This server proves nothing: leave out proof.");
  const countRequest = () => app.countInternalRequest(client, 0);
  const create = async () => {
    const found = await readWithProofs(read, input, { run, prove, client, minBlock, countRequest });
    return serializeRead(read, found.body, found.head);
  };
  const work = minBlock === null ? create() : withMinBlock(waiters, { request, minBlock }, create);
  return withRequestTimeout(app, work);
}

type SignedRead = {
  readonly read: Read;
  readonly request: FastifyRequest;
  readonly cache: ResponseCache;
  readonly signing: ReadSigning;
};

/** A signature is for one URL: the response that it is for is shared, and signed once for each URL that is cached. */
function respondSigned(
  { read, request, cache, signing }: SignedRead,
  respond: () => Promise<SerializedResponse>,
): Promise<SerializedResponse> {
  const { method, url, headers } = request;
  const sign = async () => signing.signer.sign(await respond(), { method, url });
  const query = readQuery(url);
  const isLasting = !query.has("at") && !asksForProof(read, query);
  const isCached = method === "GET" && hasKnownKeys(read, query, "signed") && isLasting;
  if (!isCached || asksForNewest(headers) || readMinBlock(headers, query) !== null) return sign();
  return cache.getOrCreate({ route: read.path, canonicalKey: `signed ${url}`, url }, sign);
}

/** The block that `at` leads to; an age leads to later ones on later pages, so that a cursor names its own. */
async function findBlockOf(
  { run, waiters }: ReadRouteOptions,
  read: Read,
  request: RouteRequest,
  query: ReadonlyMap<string, string>,
): Promise<AtBlock & { readonly seconds: number | null }> {
  if (query.has("block")) {
    throw new Fault("INPUT_INVALID", "at and block exclude each other: give the time or the block.");
  }
  const continued = readContinuedBlock(read, query);
  if (continued !== null) {
    parseMoment(query.get("at") ?? "", "at", Date.now());
    const atBlock = parseAtBlock(continued, "cursor");
    const { time } = await clampTime(run, atBlock, request.client);
    return { ...atBlock, seconds: time === null ? null : Number(time) };
  }
  // A time after the index is found once the block that the request waits for is there.
  const atLeast = readMinBlock(request.headers, query);
  const { client } = request;
  const find = () => findBlockAt(run, { text: query.get("at") ?? "", client, nowMs: Date.now(), atLeast });
  return await (atLeast === null ? find() : withMinBlock(waiters, { request, minBlock: atLeast }, find));
}

/** Whether a cached response has the block of the header; anything unusual is for the route to judge. */
function hasBlock({ indexedBlock }: SerializedResponse, minBlock: string | string[] | undefined): boolean {
  if (minBlock === undefined) return true;
  return (
    indexedBlock !== null &&
    typeof minBlock === "string" &&
    /^[0-9]{1,18}$/.test(minBlock) &&
    BigInt(minBlock) <= indexedBlock
  );
}

/**
 * Reads again for a client that has just written: a cached response, or a read that has begun, may lack what it wrote
 * through another process. Only such a client pays for it: a cold read costs many times as much.
 */
function asksForNewest({ "cache-control": directive }: FastifyRequest["headers"]): boolean {
  return directive !== undefined && /\bno-cache\b/i.test(directive);
}

function hasKnownKeys(read: Read, query: ReadonlyMap<string, string>, further?: string): boolean {
  return [...query.keys()].every((key) => key === further || isKnown(read, key));
}

function isKnown(read: Read, key: string): boolean {
  if (key === "block") return read.unversioned !== true;
  if (key === "include") return read.provenance;
  if (key === "proof") return read.isProvable === true;
  return read.parameters.some(({ name }) => name === key);
}

type ReadContext = {
  readonly client: string;
  readonly run: RunRead;
  readonly minBlock: MinBlock;
};

function createResponse(
  read: Read,
  input: ReadInput,
  { client, run, minBlock }: ReadContext,
): Promise<SerializedResponse> {
  const plan = read.plan(input);
  const statement = {
    sql: plan.sql,
    cost: plan.cost,
    client,
    ...findNeeds(read, input, minBlock),
  };
  return run(statement, (head, rows) => {
    // Before everything else: an earlier block may lack the record, or the block to read at.
    assertBlockReached(minBlock, head.number);
    try {
      const response = serializeRead(read, assembleBody({ read, input }, plan, head, rows), head);
      if (response.body.length <= PAGE_BYTES_MAX || !plan.assembleWithin) return response;
      // The statement leaves out rows that are far too long; here the bytes count as they are sent.
      return serializeRead(read, plan.assembleWithin(rows, PAGE_BYTES_MAX), head);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // A 404 also says as of which block the record does not exist.
      const { code, message, cause } = error;
      throw new Fault(code, message, { cause, headers: { ...error.headers, ...formatHeadHeaders(head) } });
    }
  });
}

/** A server that lacks the block to read at would call it unknown, although others have it. */
function findNeeds(
  { writableTables, showsOwnWrites }: Read,
  { asOf: atBlock }: ReadInput,
  minBlock: MinBlock,
): Pick<ReadStatement, "atLeast" | "records"> {
  const asOf = atBlock?.block ?? null;
  const atLeast = asOf !== null && (minBlock === null || asOf > minBlock) ? asOf : minBlock;
  if (writableTables === undefined) return { atLeast };
  return { atLeast, records: showsOwnWrites === true ? "primary" : "replayed" };
}

function serializeRead(read: Read, body: unknown, head: IndexHead): SerializedResponse {
  return serializeResponse({
    route: read.path,
    body,
    headers: { "cache-control": "no-cache", ...formatHeadHeaders(head) },
    computeEtag: true,
    indexedBlock: head.number,
    indexedRevision: head.revision,
  });
}

export function readInput(
  read: Read,
  request: Pick<RouteRequest, "params">,
  query: ReadonlyMap<string, string>,
): ReadInput {
  const values = readParameters(read.parameters, request, query);
  const asOf = isKnown(read, "block") ? readAsOf(read, query) : null;
  const included = readIncluded(read, query);
  return {
    values,
    asOf,
    isDated: asOf !== null && (query.has("at") || readContinuedBlock(read, query) !== null),
    provenance: included.includes("provenance"),
    requirements: included.includes("requirements"),
  };
}

/** The block that the cursor continues at; null without one, and for a read that has no pages. */
function readContinuedBlock(read: Read, query: ReadonlyMap<string, string>): string | null {
  return isKnown(read, "cursor") ? readCursorBlock(query.get("cursor") ?? "") : null;
}

/** The block of the request, or the one that its cursor continues at. */
function readAsOf(read: Read, query: ReadonlyMap<string, string>): AsOf {
  const given = query.get("block");
  const continued = readContinuedBlock(read, query);
  if (given === undefined) return continued === null ? null : parseAtBlock(continued, "cursor");
  const asOf = parseAtBlock(given, "block");
  if (continued !== null && continued !== formatAtBlock(asOf)) {
    throw new Fault(
      "INPUT_INVALID",
      `cursor continues at block ${continued}; leave out block, or give that one.`,
    );
  }
  return asOf;
}

function readIncluded(read: Read, query: ReadonlyMap<string, string>): readonly string[] {
  const include = isKnown(read, "include") ? query.get("include") : undefined;
  if (include === undefined) return [];
  const known = includableParts(read);
  const given = include.split(",");
  if (given.every((part) => known.includes(part)) && new Set(given).size === given.length) return given;
  throw new Fault(
    "INPUT_INVALID",
    known.length === 1
      ? `include must be ${known[0]}.`
      : `include must be of ${known.join(", ")}, separated by commas, each at most once.`,
  );
}
