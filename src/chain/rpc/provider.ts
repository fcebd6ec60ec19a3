// One node behind one address: how it does, whether it is on our chain, and the wire to it.
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { createRpcConnection, toRpcError } from "./connection.ts";
import type { InvalidResponseError } from "./errors.ts";
import { RPC_FAILURES, RpcError, type RpcFailureKind } from "./errors.ts";
import { readQuantity } from "./hex-values.ts";
import type { CallObserver, RpcCall, RpcLimits, RpcResult } from "./types.ts";

// How well a provider does: after a failure it rests, longer each time, and the first request after a rest is a probe.

export type CircuitBreakerLimits = {
  readonly pauseMsBase: number;
  readonly pauseMsMax: number;
  readonly retryAfterMsMax: number;
};

export type CircuitBreaker = {
  /** Fit to be preferred: never failed, or rested and not being probed right now. */
  isAvailable(): boolean;
  cooldownMs(): number;
  /** Taken for a request: if it failed before, that request is its probe and others go elsewhere meanwhile. */
  acquire(): void;
  /** The request that took it has ended, however. */
  release(): void;
  /** Marks the sending of a request; hand the number back with its outcome. */
  startRequest(): number;
  recordSuccess(began: number): void;
  recordFailure(error: RpcError, began: number): void;
  readonly failures: number;
  readonly lastFailure: RpcFailureKind | null;
};

export function createCircuitBreaker(
  options: CircuitBreakerLimits & { clock: Clock; random: () => number },
): CircuitBreaker {
  const { clock, random } = options;
  let failures = 0;
  let restUntilMs = 0;
  let probing = false;
  let lastFailure: RpcFailureKind | null = null;
  const restMs = () => Math.max(0, restUntilMs - clock.nowMs());

  function pauseMs(error: RpcError): number {
    if (RPC_FAILURES[error.kind].rests === "long") return options.pauseMsMax;
    const bound = Math.min(options.pauseMsMax, options.pauseMsBase * 2 ** Math.min(failures - 1, 30));
    // Half fixed, so that pauses surely grow; half random, so that clients which failed together part.
    const drawn = Math.ceil(bound / 2 + (random() * bound) / 2);
    return Math.max(drawn, Math.min(error.retryAfterMs ?? 0, options.retryAfterMsMax));
  }

  function succeeded(began: number) {
    // A request that was sent before the last failure says nothing about the time after it.
    if (began !== failures) return;
    failures = 0;
    restUntilMs = 0;
  }

  return {
    cooldownMs: restMs,
    isAvailable: () => failures === 0 || (restMs() === 0 && !probing),
    acquire: () => {
      probing = failures > 0;
    },
    release: () => {
      probing = false;
    },
    startRequest: () => failures,
    recordSuccess: succeeded,
    recordFailure(error, began) {
      lastFailure = error.kind;
      if (RPC_FAILURES[error.kind].rests === "no") return succeeded(began);
      // Requests that were under way together fail together: they are one failure, not many.
      if (began !== failures) return;
      failures += 1;
      restUntilMs = clock.nowMs() + pauseMs(error);
    },
    get failures() {
      return failures;
    },
    get lastFailure() {
      return lastFailure;
    },
  };
}

export type RpcProvider = {
  readonly host: string;
  readonly breaker: CircuitBreaker;
  readonly batchMax: number;
  readonly inFlight: number;
  call<T>(call: RpcCall<T>, signals: readonly AbortSignal[]): Promise<T>;
  /** One answer per call. `alone`: as single requests, for what batches have left out before. */
  callMany<T>(
    calls: readonly RpcCall<T>[],
    signals: readonly AbortSignal[],
    manner: "batched" | "alone",
  ): Promise<readonly RpcResult<T>[]>;
  /** Books a contradiction that only the caller could see, and gives back the failure to throw. */
  recordBadResponse(bad: InvalidResponseError, method: string): RpcError;
};

export type RpcProviderOptions = {
  readonly endpoint: RemoteEndpoint;
  readonly limits: RpcLimits;
  readonly chainId: number | null;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onCall: CallObserver;
};

export function createRpcProvider(options: RpcProviderOptions): RpcProvider {
  const { log, endpoint } = options;
  const { host } = endpoint;
  const health = createCircuitBreaker({ ...options.limits, clock: options.clock, random: options.random });
  const wire = createRpcConnection({ ...options, trackOutcome: book });
  let chainCheck: Promise<void> | null = null;

  async function book<T>(method: string, send: () => Promise<T>): Promise<T> {
    if (health.cooldownMs() > 0) throw new RpcError("resting", "it rests after a failure.", { host, method });
    const began = health.startRequest();
    try {
      const value = await send();
      if (began > 0 && began === health.failures) log.info({ provider: host }, "A node answers again.");
      health.recordSuccess(began);
      return value;
    } catch (error) {
      if (error instanceof RpcError) note(error, began);
      throw error;
    }
  }

  function note(error: RpcError, began: number) {
    const before = health.failures;
    health.recordFailure(error, began);
    // A provider that came back may be another machine, on another chain: it is asked again who it is.
    if (RPC_FAILURES[error.kind].rests !== "no" && error.kind !== "rate-limited") chainCheck = null;
    const fields = { provider: host, method: error.method, kind: error.kind, restMs: health.cooldownMs() };
    // Once per bout of failures; a provider that stays away would fill the log otherwise.
    if (before === 0 && health.failures > 0) log.warn(fields, error.message);
    else log.debug(fields, error.message);
  }

  /** Nothing is believed from a node before it has said that it is on our chain. */
  async function onOurChain(): Promise<void> {
    if (options.chainId === null) return;
    chainCheck ??= askChain(options.chainId);
    const check = chainCheck;
    try {
      await check;
    } catch (error) {
      if (chainCheck === check) chainCheck = null;
      throw error;
    }
  }

  async function askChain(expected: number): Promise<void> {
    const parse = (id: unknown) => readQuantity(id, "the chain id");
    const found = await wire.call({ method: "eth_chainId", params: [], parse }, []);
    if (found === expected) return;
    const what = `it serves chain ${found}, but chain ${expected} is expected.`;
    const error = new RpcError("wrong-chain", what, { host, method: "eth_chainId" });
    note(error, health.failures);
    throw error;
  }

  return {
    host,
    breaker: health,
    get batchMax() {
      return wire.batchMax;
    },
    get inFlight() {
      return wire.inFlight;
    },
    async call(call, signals) {
      await onOurChain();
      return wire.call(call, signals);
    },
    async callMany(calls, signals, manner) {
      await onOurChain();
      return manner === "alone" ? wire.callEach(calls, signals) : wire.callBatched(calls, signals);
    },
    recordBadResponse(bad, method) {
      const error = toRpcError(bad, host, method);
      note(error, health.failures);
      return error;
    },
  };
}
