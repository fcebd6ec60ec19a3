// One node behind one address: how it does, whether it is on our chain, and the wire to it.
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";
import { createRpcConnection, toRpcError } from "./connection.ts";
import { RPC_FAILURES, RpcError } from "./errors.ts";
import { readQuantity } from "./hex-values.ts";
import type { InvalidResponseError } from "./invalid-response.ts";
import type { RpcLimits } from "./limits.ts";
import type { CallObserver, RpcCall, RpcResult } from "./types.ts";

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
