// The wire to one node: single calls and batches, each in its turn, each outcome told to whoever keeps the books.
import type { Clock } from "../../lib/clock.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Log } from "../../lib/log.ts";
import type { RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { createBatchSize } from "./batch-size.ts";
import {
  createJsonRpcRequest,
  type JsonRpcRequest,
  matchBatchResponses,
  readBatchError,
  readRpcResult,
} from "./envelope.ts";
import { RPC_FAILURES, RpcError } from "./errors.ts";
import { InvalidResponseError } from "./invalid-response.ts";
import type { RpcLimits } from "./limits.ts";
import { type RpcHttpResponse, sendRpcRequest } from "./transport.ts";
import type { CallObserver, RpcCall, RpcResult } from "./types.ts";

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
