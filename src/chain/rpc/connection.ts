// The connection to one node: single calls and batches, limited in flight, with every outcome observed.
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Clock } from "../../lib/clock.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { HttpJsonResponse } from "../../lib/http-client.ts";
import type { Log } from "../../lib/log.ts";
import type { RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { InvalidResponseError, RPC_FAILURES, RpcError } from "./errors.ts";
import {
  createJsonRpcRequest,
  type JsonRpcRequest,
  matchBatchResponses,
  readBatchError,
  readRpcResult,
  sendRpcRequest,
} from "./transport.ts";
import type { CallObserver, RpcCall, RpcLimits, RpcResult, SendOptions } from "./types.ts";

// A node that failed for a moment rejects as one does that takes no batches. One that never does costs a request more each time.
const LEARNT_MS = 600_000;

/** How many calls a provider accepts in one batch, learnt from its rejections, for a while. */
class BatchSize {
  readonly #initial: number;
  readonly #clock: Clock;
  #max: number;
  #untilMs = Number.POSITIVE_INFINITY;

  constructor(initial: number, clock: Clock) {
    this.#initial = initial;
    this.#clock = clock;
    this.#max = initial;
  }

  get max(): number {
    if (this.#clock.nowMs() >= this.#untilMs) {
      this.#max = this.#initial;
      this.#untilMs = Number.POSITIVE_INFINITY;
    }
    return this.#max;
  }

  /** True when the failure rejects the batch itself; the size is then lower. */
  learnFromRejection(error: RpcError, size: number): boolean {
    const next = sizeAfterRejection(error, size);
    if (next === null) return false;
    this.#max = Math.min(this.#max, next);
    this.#untilMs = this.#clock.nowMs() + LEARNT_MS;
    return true;
  }
}

// "maximum allowed is 10", "batch limit of 100", "up to 50 calls"
const STATED_MAX = /(?:max(?:imum)?|limit|allowed|up to|most|than)\D{0,30}(\d{1,5})\b/i;

function sizeAfterRejection({ kind, reason }: RpcError, size: number): number | null {
  if (/batch/i.test(reason)) {
    if (/not (?:supported|allowed|enabled|available)|unsupported|disabled|forbidden/i.test(reason)) return 1;
    const stated = Number(STATED_MAX.exec(reason)?.[1] ?? 0);
    return stated >= 1 && stated < size ? stated : size >> 1;
  }
  // A node that cannot read a list at all reports one malformed request. Every node takes single requests, and those
  // show whether the error meant something else.
  return ["invalid-request", "unsupported", "internal"].includes(kind) ? 1 : null;
}

type BatchOutcome<T> =
  | { readonly results: readonly RpcResult<T>[] }
  /** The batch failed as a whole. */
  | { readonly failure: RpcError };

type RpcConnectionOptions = {
  readonly endpoint: RemoteEndpoint;
  readonly limits: RpcLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly onCall: CallObserver;
  readonly trackOutcome: TrackOutcome;
};

/** Runs one exchange and records its outcome. `failureIn` finds the failure of the provider inside a response. */
export type TrackOutcome = <T>(
  method: string,
  send: () => Promise<T>,
  failureIn?: (value: T) => RpcError | null,
) => Promise<T>;

export class RpcConnection {
  readonly #options: RpcConnectionOptions;
  readonly #batchSize: BatchSize;
  readonly #limit: ConcurrencyLimit;

  constructor(options: RpcConnectionOptions) {
    const { batchMax, inFlightMax, waitingMax } = options.limits;
    this.#options = options;
    this.#batchSize = new BatchSize(batchMax, options.clock);
    this.#limit = createConcurrencyLimit({ runningMax: inFlightMax, waitingMax });
  }

  get batchMax(): number {
    return this.#batchSize.max;
  }

  get inFlight(): number {
    return this.#limit.running;
  }

  async call<T>(call: RpcCall<T>, sending: SendOptions): Promise<T> {
    return this.#whenFree(call.method, sending, async () => {
      const startMs = this.#options.clock.nowMs();
      const request = createJsonRpcRequest(call.method, call.params);
      const result = await settle(async () => {
        const response = await this.#send(call.method, request, sending);
        return this.#readMember(call, request, response.payload, response);
      });
      this.#observe([call], [result], startMs);
      if ("error" in result) throw result.error;
      return result.ok;
    });
  }

  /** One result per call, each as a request of its own; only an abort throws. */
  callEach<T>(calls: readonly RpcCall<T>[], sending: SendOptions): Promise<readonly RpcResult<T>[]> {
    return Promise.all(calls.map((call) => settle(() => this.call(call, sending))));
  }

  /** One result per call, in batches of the size that the node accepts. */
  async callBatched<T>(calls: readonly RpcCall<T>[], sending: SendOptions): Promise<readonly RpcResult<T>[]> {
    const size = this.#batchSize.max;
    if (size === 1 || calls.length === 1) return this.callEach(calls, sending);
    const parts = splitIntoChunks(calls, size).map((part) => this.#callPart(part, sending));
    return (await Promise.all(parts)).flat();
  }

  async #callPart<T>(calls: readonly RpcCall<T>[], sending: SendOptions): Promise<readonly RpcResult<T>[]> {
    if (calls.length === 1) return this.callEach(calls, sending);
    const outcome = await this.#sendBatch(calls, sending);
    if ("results" in outcome) return outcome.results;
    const { failure } = outcome;
    if (this.#batchSize.learnFromRejection(failure, calls.length)) {
      const fields = { provider: this.#options.endpoint.host, batchMax: this.#batchSize.max };
      this.#options.log.info(
        { component: "chain", event: "batch_rejected", ...fields },
        "Batch rejected, reducing the batch size",
      );
      return this.callBatched(calls, sending);
    }
    if (failure.kind === "response-too-large") {
      // Halved until it fits; a member that does not fit alone is its own failure.
      const half = calls.length >> 1;
      const first = await this.#callPart(calls.slice(0, half), sending);
      return [...first, ...(await this.#callPart(calls.slice(half), sending))];
    }
    return calls.map(() => ({ error: failure }));
  }

  async #sendBatch<T>(calls: readonly RpcCall<T>[], sending: SendOptions): Promise<BatchOutcome<T>> {
    const method = describeBatch(calls);
    const startMs = this.#options.clock.nowMs();
    const exchange = () => this.#exchangeBatch(method, calls, sending);
    const outcome = await settle(() => this.#whenFree(method, sending, exchange, worstFailure));
    if ("ok" in outcome) {
      this.#observe(calls, outcome.ok, startMs);
      return { results: outcome.ok };
    }
    this.#observe(
      calls,
      calls.map(() => outcome),
      startMs,
    );
    return { failure: outcome.error };
  }

  async #exchangeBatch<T>(
    method: string,
    calls: readonly RpcCall<T>[],
    sending: SendOptions,
  ): Promise<readonly RpcResult<T>[]> {
    const sent = calls.map((call) => ({ call, request: createJsonRpcRequest(call.method, call.params) }));
    const requests = sent.map(({ request }) => request);
    const response = await this.#send(method, requests, sending);
    if (!Array.isArray(response.payload)) throw readBatchError(method, response, this.#options.endpoint);
    const members = matchBatchResponses(response.payload, requests);
    return sent.map(({ call, request }, i) =>
      settleSync(() => this.#readMember(call, request, members[i], response)),
    );
  }

  #readMember<T>(call: RpcCall<T>, request: JsonRpcRequest, member: unknown, response: HttpJsonResponse): T {
    const { endpoint } = this.#options;
    const at = { host: endpoint.host, method: call.method };
    if (member === undefined && Array.isArray(response.payload)) {
      throw new RpcError("malformed", "the batch response omits it or has it twice.", at);
    }
    const result = readRpcResult(member, request, response, endpoint);
    try {
      return call.parse(result);
    } catch (error) {
      if (error instanceof InvalidResponseError) throw toRpcError(error, at.host, at.method);
      throw error;
    }
  }

  #whenFree<T>(
    method: string,
    sending: SendOptions,
    send: () => Promise<T>,
    failureIn?: (value: T) => RpcError | null,
  ): Promise<T> {
    return this.#limit.run(async () => {
      for (const signal of sending.signals) signal.throwIfAborted();
      return this.#options.trackOutcome(method, send, failureIn);
    });
  }

  #send(
    method: string,
    body: JsonRpcRequest | readonly JsonRpcRequest[],
    { signals, onSend }: SendOptions,
  ): Promise<HttpJsonResponse> {
    onSend?.();
    const { endpoint, limits } = this.#options;
    const { requestTimeoutMs: timeoutMs, responseBytesMax } = limits;
    return sendRpcRequest(method, body, { endpoint, timeoutMs, responseBytesMax, signals });
  }

  #observe(calls: readonly RpcCall[], results: readonly RpcResult[], startMs: number): void {
    const { clock, endpoint, onCall } = this.#options;
    const ms = clock.nowMs() - startMs;
    for (const [i, { method }] of calls.entries()) {
      const result = results[i];
      const outcome = result && "error" in result ? result.error.kind : "ok";
      onCall({ provider: endpoint.host, method, outcome, ms });
    }
  }
}

/** The provider's health suffers as if the first member that calls for a cooldown were the whole response. */
function worstFailure(results: readonly RpcResult[]): RpcError | null {
  for (const result of results) {
    if ("error" in result && RPC_FAILURES[result.error.kind].cooldown !== "none") return result.error;
  }
  return null;
}

export function toRpcError(bad: InvalidResponseError, host: string, method: string): RpcError {
  return new RpcError(bad.kind, `${bad.message}.`, { host, method, cause: bad });
}

async function settle<T>(work: () => Promise<T>): Promise<RpcResult<T>> {
  return work().then((ok) => ({ ok }), toErrorResult);
}

/** Without a promise: a batch has a hundred members. */
function settleSync<T>(work: () => T): RpcResult<T> {
  try {
    return { ok: work() };
  } catch (error) {
    return toErrorResult(error);
  }
}

function toErrorResult(error: unknown): { readonly error: RpcError } {
  if (error instanceof RpcError) return { error };
  throw error;
}

function describeBatch(calls: readonly RpcCall[]): string {
  const methods = new Set(calls.map((call) => call.method));
  return `a batch of ${calls.length} (${[...methods].slice(0, 3).join(", ")})`;
}
