// How well a provider does: after a failure it rests, longer each time, and the first request after a rest is a probe.
import type { Clock } from "../../lib/clock.ts";
import { FAILURES, type FailureKind, type RpcError } from "./errors.ts";

export type HealthLimits = {
  readonly pauseMsBase: number;
  readonly pauseMsMax: number;
  readonly retryAfterMsMax: number;
};

export type Health = {
  /** Fit to be preferred: never failed, or rested and not being probed right now. */
  ready(): boolean;
  restMs(): number;
  /** Taken for a request: if it failed before, that request is its probe and others go elsewhere meanwhile. */
  take(): void;
  /** The request that took it has ended, however. */
  leave(): void;
  /** Marks the sending of a request; hand the number back with its outcome. */
  begin(): number;
  succeeded(began: number): void;
  failed(error: RpcError, began: number): void;
  readonly failures: number;
  readonly lastFailure: FailureKind | null;
};

export function createHealth(options: HealthLimits & { clock: Clock; random: () => number }): Health {
  const { clock, random } = options;
  let failures = 0;
  let restUntilMs = 0;
  let probing = false;
  let lastFailure: FailureKind | null = null;
  const restMs = () => Math.max(0, restUntilMs - clock.nowMs());

  function pauseMs(error: RpcError): number {
    if (FAILURES[error.kind].rests === "long") return options.pauseMsMax;
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
    restMs,
    ready: () => failures === 0 || (restMs() === 0 && !probing),
    take: () => {
      probing = failures > 0;
    },
    leave: () => {
      probing = false;
    },
    begin: () => failures,
    succeeded,
    failed(error, began) {
      lastFailure = error.kind;
      if (FAILURES[error.kind].rests === "no") return succeeded(began);
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
