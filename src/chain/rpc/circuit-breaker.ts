// How well a provider does: after a failure it rests, longer each time, and the first request after a rest is a probe.
import type { Clock } from "../../lib/clock.ts";
import { RPC_FAILURES, type RpcError, type RpcFailureKind } from "./errors.ts";

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
