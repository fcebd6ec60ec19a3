// One node behind one address: how it does, whether it is on our chain, and the wire to it.
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Endpoint } from "../../lib/remote-endpoint.ts";
import { createHealth, type Health } from "./circuit-breaker.ts";
import { createWire, fromBadAnswer } from "./connection.ts";
import { FAILURES, RpcError } from "./errors.ts";
import { readQuantity } from "./hex-values.ts";
import type { BadAnswer } from "./invalid-response.ts";
import type { RpcLimits } from "./limits.ts";
import type { Answer, CallObserver, RpcCall } from "./types.ts";

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
  const { log, endpoint } = options;
  const { host } = endpoint;
  const health = createHealth({ ...options.limits, clock: options.clock, random: options.random });
  const wire = createWire({ ...options, book });
  let chainCheck: Promise<void> | null = null;

  async function book<T>(method: string, send: () => Promise<T>): Promise<T> {
    if (health.restMs() > 0) throw new RpcError("resting", "it rests after a failure.", { host, method });
    const began = health.begin();
    try {
      const value = await send();
      if (began > 0 && began === health.failures) log.info({ provider: host }, "A node answers again.");
      health.succeeded(began);
      return value;
    } catch (error) {
      if (error instanceof RpcError) note(error, began);
      throw error;
    }
  }

  function note(error: RpcError, began: number) {
    const before = health.failures;
    health.failed(error, began);
    // A provider that came back may be another machine, on another chain: it is asked again who it is.
    if (FAILURES[error.kind].rests !== "no" && error.kind !== "rate-limited") chainCheck = null;
    const fields = { provider: host, method: error.method, kind: error.kind, restMs: health.restMs() };
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
    const found = await wire.one({ method: "eth_chainId", params: [], parse }, []);
    if (found === expected) return;
    const what = `it serves chain ${found}, but chain ${expected} is expected.`;
    const error = new RpcError("wrong-chain", what, { host, method: "eth_chainId" });
    note(error, health.failures);
    throw error;
  }

  return {
    host,
    health,
    get batchMax() {
      return wire.batchMax;
    },
    get inFlight() {
      return wire.inFlight;
    },
    async call(call, signals) {
      await onOurChain();
      return wire.one(call, signals);
    },
    async callMany(calls, signals, manner) {
      await onOurChain();
      return manner === "alone" ? wire.alone(calls, signals) : wire.batched(calls, signals);
    },
    blame(bad, method) {
      const error = fromBadAnswer(bad, host, method);
      note(error, health.failures);
      return error;
    },
  };
}
