// Reads the API for one page, at one block: reads of the index that are asked for together run as one statement.
import type { FastifyInstance } from "fastify";
import { callRoute } from "../http/internal-requests.ts";
import type { RouteDescription } from "../http/openapi/route-description.ts";
import { readInput } from "../http/routes/reads.ts";
import { Fault } from "../lib/fault.ts";
import type { EndpointResponse } from "../schema/endpoint.ts";
import { findBlockAt } from "../schema/reads/block-at.ts";
import {
  type PinnedHead,
  type Read,
  type RequestedRead,
  type RunRead,
  readTogether,
} from "../schema/reads/read.ts";
import { type PageKind, recordRoute } from "./components.ts";
import {
  type ApiCall,
  type ApiRecord,
  findRoute,
  formatUrl,
  type Head,
  methodOf,
  shownNumber,
} from "./context.ts";
import { type CsvSource, type List, type ListData, type RecordPage, recordsKey } from "./list.ts";

export type ApiResult<T> = { readonly body: T; readonly call: ApiCall };

type Values = Readonly<Record<string, string | null | undefined>>;
type CallValues = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Values;
  readonly body?: Readonly<Record<string, string>>;
};
type Attempt<T> = ApiResult<T> | { readonly problem: string };

/** The source that pages read from. */
export type PageApi = {
  readonly app: FastifyInstance;
  /** Every route of the API, as it is described. */
  readonly routes: readonly RouteDescription[];
  /** Requests that read the index, which can run together. */
  readonly reads: readonly Read[];
  readonly run: RunRead;
};

type PageVisit = {
  /** The client that waits for the page, between whom slow reads are shared. */
  readonly client: string;
  /** The block to show; null is the latest. */
  readonly block: string | null;
};

type WaitingRead = RequestedRead & {
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: unknown) => void;
};

// The most requests of a page, in a row or at once: each request is at least one statement.
const PAGE_REQUESTS = 5;
// Files of a list take some ten, and a moving head some more: neither may become a way to multiply requests.
const REQUESTS_MAX = 16;
// An endpoint on another connection may still see the block before; the next attempt begins after it.
const ENDPOINT_ATTEMPTS_MAX = 3;

export class ApiReader {
  readonly #api: PageApi;
  readonly #visit: PageVisit;
  #requests = 0;
  #waiting: WaitingRead[] = [];
  /** The block of the first response, at which everything else is read. */
  #pin: PinnedHead | null = null;
  /** Whether a response came from another head, which may be on another fork. */
  #isUnverified = false;
  /** Requests to endpoints that show the head alone, so that their block is the page's if they begin first. */
  #deciding: Promise<unknown> = Promise.resolve();
  #head: Promise<Head> | null = null;

  constructor(api: PageApi, visit: PageVisit) {
    this.#api = api;
    this.#visit = visit;
  }

  head(): Promise<Head> {
    this.#head ??= this.get<Head>("/head").then(({ body }) => body);
    return this.#head;
  }

  /** Throws if a reorg has replaced what was read. Call it once everything is read. */
  async verify(): Promise<void> {
    if (this.#isUnverified) await this.#readTogether([]);
  }

  /** The number of the block to show; null is the latest. */
  get shownBlock(): string | null {
    return shownNumber(this.#visit);
  }

  /** The block at a time, as a visitor writes it under this name. */
  async findBlockAt(text: string, name: string): Promise<string> {
    this.countRequest();
    const { client } = this.#visit;
    const { block } = await findBlockAt(this.#api.run, { text, name, client, nowMs: Date.now() });
    return block.toString();
  }

  /** How many requests the page has left. */
  get requestsLeft(): number {
    return PAGE_REQUESTS - this.#requests;
  }

  /** Every request to the API, so that a page cannot make many. */
  countRequest(): void {
    this.#requests += 1;
    if (this.#requests > REQUESTS_MAX) throw new Error("a page makes too many requests");
  }

  /** The body of GET; throws the API's own error. `block` is added if the route takes it. */
  async get<T>(route: string, values: CallValues = {}): Promise<ApiResult<T>> {
    return this.#request<T>(this.#createCall(route, values));
  }

  /** A record by its id or hash; null if the API has no such record. */
  async findRecord<T>(kind: PageKind, id: string, query: Values = {}): Promise<ApiResult<T> | null> {
    const { route, parameter } = recordRoute(kind);
    try {
      return await this.get<T>(route, { params: { [parameter]: id }, query });
    } catch (error) {
      if (error instanceof Fault && error.status === 404) return null;
      throw error;
    }
  }

  /** The exact text of a response that is not a record, such as a document. */
  async getText(route: string, values: CallValues): Promise<ApiResult<string>> {
    const call = this.#createCall(route, values);
    const { body } = await this.#callEndpoint(call);
    return { body: Buffer.from(body as Uint8Array).toString(), call };
  }

  /** The sentence of the API if it rejects the request, such as for totals that are not kept that long. */
  attempt<T>(route: string, values: CallValues = {}): Promise<Attempt<T>> {
    return toAttempt(this.get<T>(route, values));
  }

  /** The same for POST, of routes that only compute: a page never changes anything. */
  evaluate<T>(route: "/preflight", body: Readonly<Record<string, string>>): Promise<Attempt<T>> {
    return toAttempt(this.#request<T>(this.#createCall(route, { body })));
  }

  /** A page of a list. */
  async list<T>(list: List<T>, values: CallValues = {}): Promise<ListData<T>> {
    return { list, ...(await this.records<T>(list, values)) };
  }

  /** A page of records. */
  async records<T>(source: CsvSource, values: CallValues = {}): Promise<RecordPage<T>> {
    const { body, call } = await this.get<ApiRecord>(source.route, values);
    const records = body[recordsKey(source)];
    if (!Array.isArray(records)) throw new TypeError(`${source.route} has no ${recordsKey(source)}`);
    const nextOf = source.paging?.nextOf ?? nextCursorOf;
    return { call, records: records as readonly T[], next: nextOf(body) };
  }

  #createCall(route: string, { params = {}, query = {}, body }: CallValues): ApiCall {
    const description = findRoute(this.#api.routes, route, body === undefined ? "GET" : "POST");
    // A page may ask for another block than the shown one.
    const takesBlock = description.parameters.some(({ name }) => name === "block") && !("block" in query);
    const given = Object.entries({ ...query, ...(takesBlock ? { block: this.#visit.block } : {}) });
    const kept = given.filter(
      (pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "",
    );
    return { route, params, query: Object.fromEntries(kept), ...(body === undefined ? {} : { body }) };
  }

  async #request<T>(call: ApiCall): Promise<ApiResult<T>> {
    const isGet = methodOf(call) === "GET";
    const read = isGet ? this.#api.reads.find(({ path }) => path === call.route) : undefined;
    if (read !== undefined) return { body: (await this.#readIndex(read, call)) as T, call };
    const response = this.#callEndpoint(call);
    if (findRoute(this.#api.routes, call.route, methodOf(call)).hasMinBlock) {
      this.#deciding = response.catch(() => undefined);
    }
    return { body: (await response).body as T, call };
  }

  /** Waits for what is asked for in the same turn, so that all of it is one statement. */
  #readIndex(read: Read, call: ApiCall): Promise<unknown> {
    const input = readInput(read, call, new Map(Object.entries(call.query)));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ read, input, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => void this.#readWaiting());
    });
  }

  async #readWaiting(): Promise<void> {
    await this.#deciding;
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const results = await this.#readTogether(waiting);
      for (const [index, { resolve, reject }] of waiting.entries()) {
        const result = results[index];
        if (result !== undefined && "body" in result) resolve(result.body);
        else reject(result?.error);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #readTogether(reads: readonly RequestedRead[]) {
    this.countRequest();
    const { client } = this.#visit;
    const { head, results } = await readTogether(this.#api.run, reads, { client, findPin: () => this.#pin });
    this.#pin ??= head;
    return results;
  }

  /** Only events may be of a later block than the page: they cannot be read as of a block, and pages cut them there. */
  async #callEndpoint(call: ApiCall): Promise<EndpointResponse> {
    const { operationId, parameters } = findRoute(this.#api.routes, call.route, methodOf(call));
    let { query } = call;
    for (let attempt = 1; ; attempt += 1) {
      this.countRequest();
      const response = await callRoute(this.#api.app, {
        operationId,
        url: formatUrl({ ...call, query }),
        body: call.body ?? null,
        client: this.#visit.client,
        // One for each: Node warns of more than ten listeners on a signal, and a page may read more at once.
        signal: new AbortController().signal,
      });
      const head = readHead(response);
      if (head === null) return response;
      this.#pin ??= head;
      const pin = this.#pin;
      if (head.hash === pin.hash) return response;
      this.#isUnverified = true;
      const key = query.order === "desc" ? "from" : "block";
      const takesBlock = parameters.some(({ name }) => name === key);
      if (query[key] !== undefined || (head.number > pin.number && !takesBlock)) return response;
      if (attempt >= ENDPOINT_ATTEMPTS_MAX) return response;
      // Either a reorg has removed the page's block, or this connection is still behind it.
      if (head.number < pin.number) await this.verify();
      else if (takesBlock) query = { ...query, [key]: pin.number.toString() };
    }
  }
}

/** The head that a response names; null for one that does not come from the index. */
function readHead({ headers = {} }: EndpointResponse): PinnedHead | null {
  const { "x-indexed-block": number, "x-indexed-block-hash": hash } = headers;
  return number === undefined || hash === undefined ? null : { number: BigInt(number), hash };
}

function nextCursorOf({ pagination }: ApiRecord): string | null {
  return (pagination as { readonly next_cursor?: string }).next_cursor ?? null;
}

async function toAttempt<T>(request: Promise<ApiResult<T>>): Promise<Attempt<T>> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Fault && error.status === 400) return { problem: error.message };
    throw error;
  }
}
