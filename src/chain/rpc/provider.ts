// One node behind one address: its health, the check that it serves our chain, and the connection to it.
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { RpcConnection, type TrackOutcome, toRpcError } from "./connection.ts";
import { type InvalidResponseError, RPC_FAILURES, RpcError, type RpcFailureKind } from "./errors.ts";
import { readQuantity } from "./hex-values.ts";
import type { CallObserver, RpcCall, RpcLimits, RpcResult, SendOptions } from "./types.ts";

type CircuitBreakerOptions = Pick<RpcLimits, "pauseMsBase" | "pauseMsMax" | "retryAfterMsMax"> & {
  readonly clock: Clock;
  readonly random: () => number;
};

/** After a failure the provider cools down, longer each time; the first request after a cooldown is a probe. */
class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #lastFailure: RpcFailureKind | null = null;
  #cooldownUntilMs = 0;
  #isProbing = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  get lastFailure(): RpcFailureKind | null {
    return this.#lastFailure;
  }

  cooldownMs(): number {
    return Math.max(0, this.#cooldownUntilMs - this.#options.clock.nowMs());
  }

  /** Never failed, or its cooldown is over and no probe is under way. */
  isAvailable(): boolean {
    return this.#failures === 0 || (this.cooldownMs() === 0 && !this.#isProbing);
  }

  /** For one request: after a failure, that request is the probe and others go elsewhere meanwhile. */
  acquire(): void {
    this.#isProbing = this.#failures > 0;
  }

  /** The request that acquired it has ended, with any outcome. */
  release(): void {
    this.#isProbing = false;
  }

  /** Marks the sending of a request; pass the number back with its outcome. */
  startRequest(): number {
    return this.#failures;
  }

  recordSuccess(failuresAtStart: number): void {
    // A request sent before the last failure says nothing about the time after it.
    if (failuresAtStart !== this.#failures) return;
    this.#failures = 0;
    this.#cooldownUntilMs = 0;
  }

  recordFailure(error: RpcError, failuresAtStart: number): void {
    this.#lastFailure = error.kind;
    if (RPC_FAILURES[error.kind].cooldown === "none") {
      this.recordSuccess(failuresAtStart);
      return;
    }
    // Requests in flight together fail together: they are one failure, not many.
    if (failuresAtStart !== this.#failures) return;
    this.#failures += 1;
    this.#cooldownUntilMs = this.#options.clock.nowMs() + this.#nextCooldownMs(error);
  }

  #nextCooldownMs(error: RpcError): number {
    const { pauseMsBase, pauseMsMax, retryAfterMsMax, random } = this.#options;
    if (RPC_FAILURES[error.kind].cooldown === "long") return pauseMsMax;
    const bound = Math.min(pauseMsMax, pauseMsBase * 2 ** Math.min(this.#failures - 1, 30));
    // Half fixed, so that pauses grow reliably; half random, so that clients which failed together spread out.
    const drawn = Math.ceil(bound / 2 + (random() * bound) / 2);
    return Math.max(drawn, Math.min(error.retryAfterMs ?? 0, retryAfterMsMax));
  }
}

type RpcProviderOptions = {
  readonly endpoint: RemoteEndpoint;
  readonly limits: RpcLimits;
  readonly chainId: number | null;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onCall: CallObserver;
};

export class RpcProvider {
  readonly breaker: CircuitBreaker;
  readonly #options: RpcProviderOptions;
  readonly #connection: RpcConnection;
  #chainCheck: Promise<void> | null = null;

  constructor(options: RpcProviderOptions) {
    const { limits, clock, random } = options;
    this.#options = options;
    this.breaker = new CircuitBreaker({ ...limits, clock, random });
    this.#connection = new RpcConnection({ ...options, trackOutcome: this.#trackOutcome });
  }

  get host(): string {
    return this.#options.endpoint.host;
  }

  get batchMax(): number {
    return this.#connection.batchMax;
  }

  get inFlight(): number {
    return this.#connection.inFlight;
  }

  async call<T>(call: RpcCall<T>, sending: SendOptions): Promise<T> {
    await this.#ensureChain();
    return this.#connection.call(call, sending);
  }

  /** One result per call. `single`: as single requests, for calls that batches have left out before. */
  async callMany<T>(
    calls: readonly RpcCall<T>[],
    sending: SendOptions,
    mode: "batched" | "single",
  ): Promise<readonly RpcResult<T>[]> {
    await this.#ensureChain();
    return mode === "single"
      ? this.#connection.callEach(calls, sending)
      : this.#connection.callBatched(calls, sending);
  }

  /** Records a contradiction that only the caller could see, and returns the error to throw. */
  recordBadResponse(bad: InvalidResponseError, method: string): RpcError {
    const error = toRpcError(bad, this.host, method);
    this.#recordFailure(error, this.breaker.failures);
    return error;
  }

  readonly #trackOutcome: TrackOutcome = async (method, send, failureIn) => {
    const { breaker, host } = this;
    if (breaker.cooldownMs() > 0)
      throw new RpcError("cooling", "cooling down after a failure.", { host, method });
    const failuresAtStart = breaker.startRequest();
    try {
      const value = await send();
      const failure = failureIn?.(value) ?? null;
      if (failure) this.#recordFailure(failure, failuresAtStart);
      else this.#recordSuccess(failuresAtStart);
      return value;
    } catch (error) {
      if (error instanceof RpcError) this.#recordFailure(error, failuresAtStart);
      throw error;
    }
  };

  #recordSuccess(failuresAtStart: number): void {
    if (failuresAtStart > 0 && failuresAtStart === this.breaker.failures) {
      this.#options.log.info(
        { component: "chain", event: "node_recovered", provider: this.host },
        "Node recovered",
      );
    }
    this.breaker.recordSuccess(failuresAtStart);
  }

  #recordFailure(error: RpcError, failuresAtStart: number): void {
    const { breaker } = this;
    const failuresBefore = breaker.failures;
    breaker.recordFailure(error, failuresAtStart);
    const { kind, method } = error;
    // A provider that came back may be another machine, on another chain: its chain is checked again.
    if (RPC_FAILURES[kind].cooldown !== "none" && kind !== "rate-limited") this.#chainCheck = null;
    const { log } = this.#options;
    const fields = {
      provider: this.host,
      method,
      kind,
      reason: error.reason,
      cooldownMs: breaker.cooldownMs(),
    };
    // One warning per series of failures: a provider that stays down would fill the log otherwise.
    if (failuresBefore === 0 && breaker.failures > 0) {
      log.warn({ component: "chain", event: "node_request_failed", ...fields }, "Node request failed");
    } else {
      log.debug({ component: "chain", event: "node_request_failed", ...fields }, "Node request failed");
    }
  }

  /** No response is trusted before the node has reported our chain id. */
  async #ensureChain(): Promise<void> {
    if (this.#options.chainId === null) return;
    this.#chainCheck ??= this.#checkChain(this.#options.chainId);
    const check = this.#chainCheck;
    try {
      await check;
    } catch (error) {
      if (this.#chainCheck === check) this.#chainCheck = null;
      throw error;
    }
  }

  async #checkChain(expected: number): Promise<void> {
    const parse = (id: unknown) => readQuantity(id, "the chain id");
    const found = await this.#connection.call({ method: "eth_chainId", params: [], parse }, { signals: [] });
    if (found === expected) return;
    const reason = `it serves chain ${found}, but chain ${expected} is expected.`;
    const error = new RpcError("wrong-chain", reason, { host: this.host, method: "eth_chainId" });
    this.#recordFailure(error, this.breaker.failures);
    throw error;
  }
}
