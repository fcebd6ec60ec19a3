// The wire to one node: single calls and batches, each in its turn, each outcome told to whoever keeps the books.

import type { Clock } from "../../lib/clock.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Log } from "../../lib/log.ts";
import type { RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { InvalidResponseError, RPC_FAILURES, RpcError } from "./errors.ts";
import {
  createJsonRpcRequest,
  type JsonRpcRequest,
  matchBatchResponses,
  type RpcHttpResponse,
  readBatchError,
  readRpcResult,
  sendRpcRequest,
} from "./transport.ts";
import type { CallObserver, RpcCall, RpcLimits, RpcResult } from "./types.ts";

// How many calls a provider takes in one batch: learnt from its refusals.

export type BatchSize = {
  readonly max: number;
  /** True when the failure was a refusal of the batch itself; the size has been lowered then. */
  learnFromRejection(error: RpcError, size: number): boolean;
};

export function createBatchSize(initial: number): BatchSize {
  let max = initial;
  return {
    get max() {
      return max;
    },
    learnFromRejection(error, size) {
      const next = sizeAfter(error, size);
      if (next === null) return false;
      max = Math.min(max, next);
      return true;
    },
  };
}

// "maximum allowed is 10", "batch limit of 100", "up to 50 calls"
const STATED_MAX = /(?:max(?:imum)?|limit|allowed|up to|most|than)\D{0,30}(\d{1,5})\b/i;

function sizeAfter(error: RpcError, size: number): number | null {
  // The name of the call in the text says "batch" too, so only the words of the node are looked at.
  const words = error.message.slice(error.message.indexOf("): ") + 3);
  if (/batch/i.test(words)) {
    if (/not (?:supported|allowed|enabled|available)|unsupported|disabled|forbidden/i.test(words)) return 1;
    const stated = Number(STATED_MAX.exec(words)?.[1] ?? 0);
    return stated >= 1 && stated < size ? stated : size >> 1;
  }
  // A node that can not read a list at all complains about it as one malformed request: single requests are the
  // common ground of all nodes, and they will tell whether something else was meant.
  return ["invalid-request", "unsupported", "internal"].includes(error.kind) ? 1 : null;
}

type Signals = readonly AbortSignal[];

export type RpcConnection = {
  readonly batchMax: number;
  readonly inFlight: number;
  call<T>(call: RpcCall<T>, signals: Signals): Promise<T>;
  /** One answer per call; only giving up throws. */
  callEach<T>(calls: readonly RpcCall<T>[], signals: Signals): Promise<readonly RpcResult<T>[]>;
  callBatched<T>(calls: readonly RpcCall<T>[], signals: Signals): Promise<readonly RpcResult<T>[]>;
};

export type RpcConnectionOptions = {
  readonly endpoint: RemoteEndpoint;
  readonly limits: RpcLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly onCall: CallObserver;
  /** Runs one exchange and books how it went. */
  readonly trackOutcome: <T>(method: string, send: () => Promise<T>) => Promise<T>;
};

export function createRpcConnection(options: RpcConnectionOptions): RpcConnection {
  const { endpoint, limits, clock, log, trackOutcome: book } = options;
  const { host } = endpoint;
  const batchSize = createBatchSize(limits.batchMax);
  const limit = createConcurrencyLimit({ runningMax: limits.inFlightMax, waitingMax: limits.waitingMax });

  async function inTurn<T>(method: string, signals: Signals, send: () => Promise<T>): Promise<T> {
    return limit.run(async () => {
      for (const signal of signals) signal.throwIfAborted();
      return book(method, send);
    });
  }

  function post(method: string, body: unknown, signals: Signals): Promise<RpcHttpResponse> {
    const { requestTimeoutMs: timeoutMs, responseBytesMax } = limits;
    return sendRpcRequest({
      endpoint,
      method,
      body: JSON.stringify(body),
      timeoutMs,
      responseBytesMax,
      signals,
    });
  }

  function observe(calls: readonly RpcCall[], answers: readonly RpcResult[], startMs: number) {
    const ms = clock.nowMs() - startMs;
    for (const [i, { method }] of calls.entries()) {
      const answer = answers[i];
      options.onCall({
        provider: host,
        method,
        outcome: answer && "error" in answer ? answer.error.kind : "ok",
        ms,
      });
    }
  }

  async function one<T>(call: RpcCall<T>, signals: Signals): Promise<T> {
    return inTurn(call.method, signals, async () => {
      const startMs = clock.nowMs();
      const sent = createJsonRpcRequest(call.method, call.params);
      const answer = await settled(async () => {
        const reply = await post(call.method, sent, signals);
        return open(call, sent, reply.payload, reply);
      });
      observe([call], [answer], startMs);
      if ("error" in answer) throw answer.error;
      return answer.ok;
    });
  }

  function alone<T>(calls: readonly RpcCall<T>[], signals: Signals): Promise<readonly RpcResult<T>[]> {
    return Promise.all(calls.map((call) => settled(() => one(call, signals))));
  }

  async function batched<T>(
    calls: readonly RpcCall<T>[],
    signals: Signals,
  ): Promise<readonly RpcResult<T>[]> {
    const size = batchSize.max;
    if (size === 1 || calls.length === 1) return alone(calls, signals);
    const parts: Promise<readonly RpcResult<T>[]>[] = [];
    for (let at = 0; at < calls.length; at += size) parts.push(part(calls.slice(at, at + size), signals));
    return (await Promise.all(parts)).flat();
  }

  async function part<T>(calls: readonly RpcCall<T>[], signals: Signals): Promise<readonly RpcResult<T>[]> {
    if (calls.length === 1) return alone(calls, signals);
    const sent = await exchangeBatch(calls, signals);
    if (!("refused" in sent)) return sent.answers;
    if (batchSize.learnFromRejection(sent.refused, calls.length)) {
      log.info({ provider: host, batchMax: batchSize.max }, "A node refused a batch; it gets smaller ones.");
      return batched(calls, signals);
    }
    if (sent.refused.kind === "response-too-large") {
      // Halved until it fits; a single member that does not fit alone is that member's own failure.
      const half = calls.length >> 1;
      return [...(await part(calls.slice(0, half), signals)), ...(await part(calls.slice(half), signals))];
    }
    return calls.map(() => ({ error: sent.refused }));
  }

  async function exchangeBatch<T>(
    calls: readonly RpcCall<T>[],
    signals: Signals,
  ): Promise<{ readonly answers: readonly RpcResult<T>[] } | { readonly refused: RpcError }> {
    const method = batchName(calls);
    let answers: readonly RpcResult<T>[] | null = null;
    const startMs = clock.nowMs();
    const outcome = await settled(() =>
      inTurn(method, signals, async () => {
        const sent = calls.map((call) => createJsonRpcRequest(call.method, call.params));
        const reply = await post(method, sent, signals);
        if (!Array.isArray(reply.payload)) throw readBatchError(method, reply, endpoint);
        const members = matchBatchResponses(reply.payload, sent);
        answers = calls.map((call, i) =>
          tried(() => open(call, sent[i] as JsonRpcRequest, members[i], reply)),
        );
        // For the books, the exchange went as badly as its worst member.
        for (const answer of answers) {
          if ("error" in answer && RPC_FAILURES[answer.error.kind].rests !== "no") throw answer.error;
        }
      }),
    );
    const settledAnswers = answers as readonly RpcResult<T>[] | null;
    if (settledAnswers) {
      observe(calls, settledAnswers, startMs);
      return { answers: settledAnswers };
    }
    if (!("error" in outcome)) throw new Error("a batch ended without answers");
    observe(
      calls,
      calls.map(() => outcome),
      startMs,
    );
    return { refused: outcome.error };
  }

  function open<T>(call: RpcCall<T>, sent: JsonRpcRequest, answer: unknown, reply: RpcHttpResponse): T {
    const { method } = call;
    if (answer === undefined && Array.isArray(reply.payload)) {
      throw new RpcError("malformed", "the batch answer leaves it out or has it twice.", { host, method });
    }
    const result = readRpcResult(answer, sent, reply, endpoint);
    if (!call.parse) return result as T;
    try {
      return call.parse(result);
    } catch (error) {
      if (error instanceof InvalidResponseError) throw toRpcError(error, host, method);
      throw error;
    }
  }

  return {
    call: one,
    callEach: alone,
    callBatched: batched,
    get batchMax() {
      return batchSize.max;
    },
    get inFlight() {
      return limit.running;
    },
  };
}

export function toRpcError(bad: InvalidResponseError, host: string, method: string): RpcError {
  return new RpcError(bad.kind, `${bad.message}.`, { host, method, cause: bad });
}

async function settled<T>(work: () => Promise<T>): Promise<RpcResult<T>> {
  return work().then((ok) => ({ ok }), answerOf);
}

/** Without a promise: a batch has a hundred members. */
function tried<T>(work: () => T): RpcResult<T> {
  try {
    return { ok: work() };
  } catch (error) {
    return answerOf(error);
  }
}

function answerOf(error: unknown): { readonly error: RpcError } {
  if (error instanceof RpcError) return { error };
  throw error;
}

function batchName(calls: readonly RpcCall[]): string {
  const methods = new Set(calls.map((call) => call.method));
  return `a batch of ${calls.length} (${[...methods].slice(0, 3).join(", ")})`;
}
