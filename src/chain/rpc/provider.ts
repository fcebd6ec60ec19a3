// One node behind one address: its calls, its limit, its health, its willingness to take batches.
import type { Clock } from "../../kit/clock.ts";
import { createLimit } from "../../kit/limit.ts";
import type { Log } from "../../kit/log.ts";
import { BadAnswer } from "../bad-answer.ts";
import { readQuantity } from "../quantity.ts";
import { createBatchSize } from "./batch-size.ts";
import type { Answer, CallObserver, RpcCall } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Envelope, envelope, matchBatch, openAnswer, wholeFailure } from "./envelope.ts";
import { FAILURES, RpcError } from "./failure.ts";
import { createHealth, type Health } from "./health.ts";
import type { RpcLimits } from "./limits.ts";
import { exchange } from "./transport.ts";

export type Provider = {
  readonly host: string;
  readonly health: Health;
  readonly batchMax: number;
  readonly inFlight: number;
  call<T>(call: RpcCall<T>, signals: readonly AbortSignal[]): Promise<T>;
  /** One answer per call. `alone`: as single requests, for what batches have left out before. */
  callMany<T>(
    calls: readonly RpcCall<T>[],
    signals: readonly AbortSignal[],
    manner: "batched" | "alone",
  ): Promise<readonly Answer<T>[]>;
  /** Books a contradiction that only the caller could see, and gives back the failure to throw. */
  blame(bad: BadAnswer, method: string): RpcError;
};

export type ProviderOptions = {
  readonly endpoint: Endpoint;
  readonly limits: RpcLimits;
  readonly chainId: number | null;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onCall: CallObserver;
};

export function createProvider(options: ProviderOptions): Provider {
  const { endpoint, limits, clock, log } = options;
  const { host } = endpoint;
  const health = createHealth({ ...limits, clock, random: options.random });
  const batchSize = createBatchSize(limits.batchMax);
  // The queue is long on purpose: callers bound their own work, and a wide batch becomes many single requests here.
  const limit = createLimit({ runningMax: limits.inFlightMax, waitingMax: limits.waitingMax });
  let chainCheck: Promise<void> | null = null;

  const post = (method: string, body: unknown, signals: readonly AbortSignal[]) =>
    exchange({
      endpoint,
      method,
      body: JSON.stringify(body),
      timeoutMs: limits.requestTimeoutMs,
      responseBytesMax: limits.responseBytesMax,
      signals,
    });

  function note(error: RpcError, began: number) {
    const before = health.failures;
    health.failed(error, began);
    // A provider that came back may be another machine, on another chain: it is asked again who it is.
    if (FAILURES[error.kind].rests !== "no" && error.kind !== "rate-limited") chainCheck = null;
    if (before === 0 && health.failures > 0) {
      log.warn({ provider: host, method: error.method, kind: error.kind, restMs: health.restMs() }, error.message);
    } else {
      log.debug({ provider: host, method: error.method, kind: error.kind }, error.message);
    }
  }

  function noteSuccess(began: number) {
    if (began > 0 && began === health.failures) log.info({ provider: host }, "A node answers again.");
    health.succeeded(began);
  }

  /** Runs one exchange in its place of the queue and books the outcome. */
  async function inTurn<T>(method: string, signals: readonly AbortSignal[], send: () => Promise<T>): Promise<T> {
    return limit.run(async () => {
      for (const signal of signals) signal.throwIfAborted();
      if (health.restMs() > 0) throw new RpcError("resting", "it rests after a failure.", { host, method });
      const began = health.begin();
      let told = false;
      try {
        const value = await send();
        noteSuccess(began);
        told = true;
        return value;
      } catch (error) {
        if (error instanceof RpcError) {
          note(error, began);
          told = true;
        }
        throw error;
      } finally {
        if (!told) health.left();
      }
    });
  }

  async function sendOne<T>(call: RpcCall<T>, signals: readonly AbortSignal[]): Promise<T> {
    return inTurn(call.method, signals, async () => {
      const startMs = clock.nowMs();
      const sent = envelope(call.method, call.params);
      try {
        const reply = await post(call.method, sent, signals);
        const value = parsed(call, openAnswer(reply.payload, sent, reply, endpoint));
        options.onCall({ provider: host, method: call.method, outcome: "ok", ms: clock.nowMs() - startMs });
        return value;
      } catch (error) {
        if (error instanceof RpcError) observe(call.method, error, startMs);
        throw error;
      }
    });
  }

  async function sendBatch<T>(
    calls: readonly RpcCall<T>[],
    signals: readonly AbortSignal[],
  ): Promise<readonly Answer<T>[]> {
    const method = batchName(calls);
    let answers: readonly Answer<T>[] = [];
    try {
      await inTurn(method, signals, async () => {
        const startMs = clock.nowMs();
        const sent = calls.map((call) => envelope(call.method, call.params));
        const reply = await post(method, sent, signals);
        if (!Array.isArray(reply.payload)) throw wholeFailure(method, reply, endpoint);
        const members = matchBatch(reply.payload, sent);
        answers = calls.map((call, i) => settle(call, sent[i] as Envelope, members[i], reply));
        for (const [i, answer] of answers.entries()) {
          const name = calls[i]?.method ?? method;
          if ("error" in answer) observe(name, answer.error, startMs);
          else options.onCall({ provider: host, method: name, outcome: "ok", ms: clock.nowMs() - startMs });
        }
        // The exchange as a whole went as badly as its worst member.
        const worst = answers.find((answer) => "error" in answer && FAILURES[answer.error.kind].rests !== "no");
        if (worst && "error" in worst) throw worst.error;
      });
    } catch (error) {
      if (answers.length > 0) return answers;
      if (!(error instanceof RpcError) || !batchSize.refused(error, calls.length)) throw error;
      log.info({ provider: host, batchMax: batchSize.max }, "A node refused a batch; it gets smaller ones.");
      return sendMany(calls, signals);
    }
    return answers;
  }

  function settle<T>(call: RpcCall<T>, sent: Envelope, member: unknown, reply: Parameters<typeof openAnswer>[2]): Answer<T> {
    try {
      if (member === undefined) {
        throw new RpcError("malformed", "the batch answer leaves it out or has it twice.", { host, method: call.method });
      }
      return { ok: parsed(call, openAnswer(member, sent, reply, endpoint)) };
    } catch (error) {
      if (error instanceof RpcError) return { error };
      throw error;
    }
  }

  async function sendMany<T>(calls: readonly RpcCall<T>[], signals: readonly AbortSignal[]): Promise<readonly Answer<T>[]> {
    const size = batchSize.max;
    if (size === 1 || calls.length === 1) return Promise.all(calls.map((call) => sendSettled(call, signals)));
    const parts: Promise<readonly Answer<T>[]>[] = [];
    for (let at = 0; at < calls.length; at += size) parts.push(sendPart(calls.slice(at, at + size), signals));
    return (await Promise.all(parts)).flat();
  }

  // An answer over our size limit is halved until it fits; a single member that does not fit is that member's failure.
  async function sendPart<T>(calls: readonly RpcCall<T>[], signals: readonly AbortSignal[]): Promise<readonly Answer<T>[]> {
    if (calls.length === 1) return Promise.all(calls.map((call) => sendSettled(call, signals)));
    try {
      return await sendBatch(calls, signals);
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== "response-too-large") throw error;
      const half = calls.length >> 1;
      return [...(await sendPart(calls.slice(0, half), signals)), ...(await sendPart(calls.slice(half), signals))];
    }
  }

  async function sendSettled<T>(call: RpcCall<T>, signals: readonly AbortSignal[]): Promise<Answer<T>> {
    try {
      return { ok: await sendOne(call, signals) };
    } catch (error) {
      if (error instanceof RpcError) return { error };
      throw error;
    }
  }

  function parsed<T>(call: RpcCall<T>, result: unknown): T {
    if (!call.parse) return result as T;
    try {
      return call.parse(result);
    } catch (error) {
      if (error instanceof BadAnswer) throw fromBadAnswer(error, call.method);
      throw error;
    }
  }

  function fromBadAnswer(bad: BadAnswer, method: string): RpcError {
    return new RpcError(bad.kind, `${bad.message}.`, { host, method, cause: bad });
  }

  function observe(method: string, error: RpcError, startMs: number) {
    options.onCall({ provider: host, method, outcome: error.kind, ms: clock.nowMs() - startMs });
  }

  /** Nothing is believed from a node before it has said that it is on our chain. */
  async function onOurChain(): Promise<void> {
    if (options.chainId === null) return;
    chainCheck ??= sendOne({ method: "eth_chainId", params: [], parse: (id) => readQuantity(id, "the chain id") }, []).then(
      (found) => {
        if (found === options.chainId) return;
        const what = `it serves chain ${found}, but chain ${options.chainId} is expected.`;
        const error = new RpcError("wrong-chain", what, { host, method: "eth_chainId" });
        note(error, health.failures);
        throw error;
      },
    );
    const check = chainCheck;
    try {
      await check;
    } catch (error) {
      if (chainCheck === check) chainCheck = null;
      throw error;
    }
  }

  return {
    host,
    health,
    get batchMax() {
      return batchSize.max;
    },
    get inFlight() {
      return limit.running;
    },
    async call(call, signals) {
      await onOurChain();
      return sendOne(call, signals);
    },
    async callMany(calls, signals, manner) {
      await onOurChain();
      return manner === "alone"
        ? Promise.all(calls.map((call) => sendSettled(call, signals)))
        : sendMany(calls, signals);
    },
    blame(bad, method) {
      const error = fromBadAnswer(bad, method);
      note(error, health.failures);
      return error;
    },
  };
}

function batchName(calls: readonly RpcCall<unknown>[]): string {
  const methods = new Set(calls.map((call) => call.method));
  return `a batch of ${calls.length} (${[...methods].slice(0, 3).join(", ")})`;
}
