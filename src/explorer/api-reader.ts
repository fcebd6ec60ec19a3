// Reads the API for one page: through our own routes, so that limits, caches and errors are those of any client.
import type { RouteDescription } from "../http/openapi/route-description.ts";
import { FAULTS, Fault, type FaultCode } from "../lib/fault.ts";
import { isJsonObject } from "../lib/json.ts";
import type { SendRequest } from "../mcp/server.ts";
import { parseJson } from "../mcp/tool-result.ts";
import { type ApiCall, type ApiRecord, findRoute, formatUrl, methodOf } from "./api-call.ts";
import type { Head } from "./context.ts";
import type { CsvSource, List, ListData, RecordPage } from "./list.ts";

export type ApiResult<T> = { readonly body: T; readonly call: ApiCall };

type Values = Readonly<Record<string, string | null | undefined>>;
type CallValues = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Values;
  readonly body?: Readonly<Record<string, string>>;
};
type Attempt<T> = ApiResult<T> | { readonly problem: string };

// As many as a page of several lists needs by far: a page must not become a way to multiply requests.
const CALLS_MAX = 40;

export class ApiReader {
  readonly #send: SendRequest;
  readonly #routes: readonly RouteDescription[];
  readonly #block: string | null;
  readonly #signal = new AbortController().signal;
  /** Every state of the index that a response came from, by the hash of its block: forks may be equally long. */
  readonly #heads = new Set<string>();
  #calls = 0;
  #head: Promise<Head> | null = null;

  constructor(send: SendRequest, routes: readonly RouteDescription[], block: string | null) {
    this.#send = send;
    this.#routes = routes;
    this.#block = block;
  }

  /** Whether every response came from the same state of the index. */
  get isConsistent(): boolean {
    return this.#heads.size <= 1;
  }

  head(): Promise<Head> {
    this.#head ??= this.get<Head>("/head").then(({ body }) => body);
    return this.#head;
  }

  /** The body of GET; throws the API's own error. `block` is added where the route takes it. */
  async get<T>(route: string, values: CallValues = {}): Promise<ApiResult<T>> {
    return this.#request<T>(this.#createCall(route, values));
  }

  /** Null if the API has no such record. */
  async find<T>(route: string, values: CallValues = {}): Promise<ApiResult<T> | null> {
    try {
      return await this.get<T>(route, values);
    } catch (error) {
      if (error instanceof Fault && error.status === 404) return null;
      throw error;
    }
  }

  /** The exact text of a response that is no record, such as a document; null for 404. */
  async findText(route: string, values: CallValues): Promise<ApiResult<string> | null> {
    const call = this.#createCall(route, values);
    const { status, headers, text } = await this.#sendCall(call);
    if (status === 404) return null;
    if (status !== 200) throw toFault(status, headers, parseJson(text));
    return { body: text, call };
  }

  /** The sentence of the API where it rejects the request, such as for totals that are not kept that long. */
  attempt<T>(route: string, values: CallValues = {}): Promise<Attempt<T>> {
    return toAttempt(this.get<T>(route, values));
  }

  /** The same for POST, of routes that only compute: a page never changes anything. */
  evaluate<T>(route: "/preflight", body: Readonly<Record<string, string>>): Promise<Attempt<T>> {
    return toAttempt(this.#request<T>(this.#createCall(route, { body })));
  }

  /** A page of a list. */
  async list(list: List, values: CallValues = {}): Promise<ListData> {
    return { list, ...(await this.records(list, values)) };
  }

  /** A page of records. */
  async records(source: CsvSource, values: CallValues = {}): Promise<RecordPage> {
    const { body, call } = await this.get<ApiRecord>(source.route, {
      ...values,
      query: { ...source.query, ...values.query },
    });
    const records = body[source.key];
    if (!Array.isArray(records)) throw new TypeError(`${source.route} has no ${source.key}`);
    const nextOf = source.paging?.nextOf ?? nextCursorOf;
    return { call, records: records as readonly ApiRecord[], next: nextOf(body) };
  }

  #createCall(route: string, { params = {}, query = {}, body }: CallValues): ApiCall {
    const description = findRoute(this.#routes, route, body === undefined ? "GET" : "POST");
    // Such a segment leads to another route, encoded or not.
    for (const [name, value] of Object.entries(params)) {
      if (value === "." || value === "..") throw new Fault("INPUT_INVALID", `${name} is invalid.`);
    }
    // A page may ask for another block than the shown one.
    const takesBlock = description.parameters.some(({ name }) => name === "block") && !("block" in query);
    const given = Object.entries({ ...query, ...(takesBlock ? { block: this.#block } : {}) });
    const kept = given.filter(
      (pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "",
    );
    return { route, params, query: Object.fromEntries(kept), ...(body === undefined ? {} : { body }) };
  }

  async #sendCall(call: ApiCall): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly text: string;
  }> {
    this.#calls += 1;
    if (this.#calls > CALLS_MAX) throw new Error("a page makes too many requests");
    const method = methodOf(call);
    const { operationId: operation } = findRoute(this.#routes, call.route, method);
    const parameters = { ...call.params, ...call.query, ...call.body };
    const request = { method, url: formatUrl(call), body: call.body ?? null, operation, parameters };
    const { status, headers, body } = await this.#send(request, { payment: null, signal: this.#signal });
    // Of an error too: that a record does not exist is true of one state of the index only.
    const hash = headers["x-indexed-block-hash"];
    if (hash !== undefined) this.#heads.add(hash);
    return { status, headers, text: body };
  }

  async #request<T>(call: ApiCall): Promise<ApiResult<T>> {
    const { status, headers, text } = await this.#sendCall(call);
    const body = parseJson(text);
    if (status !== 200) throw toFault(status, headers, body);
    return { body: body as T, call };
  }
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

function toFault(
  status: number,
  headers: Readonly<Record<string, string | undefined>>,
  body: unknown,
): Fault {
  const code = headers["x-error-code"] ?? "";
  const known = code in FAULTS ? (code as FaultCode) : status === 404 ? "NOT_FOUND" : "INTERNAL";
  const sentence = isJsonObject(body) && typeof body.error === "string" ? body.error : "The request failed.";
  const retryAfter = Number(headers["retry-after"] ?? "");
  return new Fault(known, sentence, {
    ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}),
  });
}
