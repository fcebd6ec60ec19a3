// The JSON-RPC client: several providers in order of preference behind one interface, with retries and failover.
import { assertDefined } from "../../lib/assert-defined.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import type { Secret } from "../../lib/secret.ts";
import { InvalidResponseError, RPC_FAILURES, RpcError } from "./errors.ts";
import { RpcProvider } from "./provider.ts";
import {
  type CallObserver,
  type PinnedRpc,
  type PinOptions,
  type ProviderHealth,
  RPC_LIMITS,
  type Rpc,
  type RpcCall,
  type RpcCallOptions,
  type RpcLimits,
  type RpcResult,
  type RpcResults,
  type SendOptions,
} from "./types.ts";

type RetryOptions = SendOptions & {
  readonly providers: readonly RpcProvider[];
  readonly limits: RpcLimits;
  readonly clock: Clock;
  readonly random: () => number;
  /** Used only when no other provider is available. */
  readonly avoid?: readonly RpcProvider[];
  /** After this much waiting no further wait starts; without it, only the attempts are counted. */
  readonly waitMsMax?: number | null;
};

// A request that finds its provider cooling down was never sent and costs no attempt; this bounds how often.
const REQUEUES_MAX = 200;

/** Tries the first healthy provider, then the next ones, then waits; throws the last failure after the last attempt. */
async function tryProviders<T>(
  use: (provider: RpcProvider) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const selection = new ProviderSelection(options);
  while (selection.hasAttemptsLeft) {
    const provider = await selection.acquireNext();
    try {
      return await use(provider);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      selection.recordFailure(provider, error);
    } finally {
      provider.breaker.release();
    }
  }
  throw selection.lastFailure ?? noNodeConfigured();
}

/** The state of one retry loop: which provider comes next, when, and when to give up. */
class ProviderSelection {
  readonly #options: RetryOptions;
  /** Tried in this round; cleared when all were. */
  readonly #tried: Set<RpcProvider>;
  /** Cannot help with this request at all. */
  readonly #ruledOut = new Set<RpcProvider>();
  #attempt = 1;
  #requeues = 0;
  #waitedMs = 0;
  #lastFailure: RpcError | null = null;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.#tried = new Set(options.avoid);
  }

  get hasAttemptsLeft(): boolean {
    return this.#attempt <= this.#options.limits.attemptsMax;
  }

  get lastFailure(): RpcError | null {
    return this.#lastFailure;
  }

  /** Throws the failure if no further attempt can help. */
  recordFailure(provider: RpcProvider, error: RpcError): void {
    if (error.kind === "cooling") {
      this.#requeues += 1;
      if (this.#requeues > REQUEUES_MAX) throw error;
      return;
    }
    this.#lastFailure = error;
    this.#attempt += 1;
    this.#tried.add(provider);
    const { next } = RPC_FAILURES[error.kind];
    if (next === "give-up") throw error;
    if (next === "other-provider") this.#ruledOut.add(provider);
    if (this.#ruledOut.size === this.#options.providers.length) throw error;
  }

  async acquireNext(): Promise<RpcProvider> {
    for (const signal of this.#options.signals) signal.throwIfAborted();
    const candidates = this.#options.providers.filter((provider) => !this.#ruledOut.has(provider));
    const untried = candidates.find(
      (provider) => !this.#tried.has(provider) && provider.breaker.isAvailable(),
    );
    if (untried) return acquired(untried);

    // All were tried or cool down: wait until one is available, and start a new round.
    this.#tried.clear();
    await this.#wait(candidates);
    const soonest = [...candidates].sort((a, b) => a.breaker.cooldownMs() - b.breaker.cooldownMs())[0];
    const chosen = candidates.find((provider) => provider.breaker.isAvailable()) ?? soonest;
    if (!chosen) throw this.#lastFailure ?? noNodeConfigured();
    return acquired(chosen);
  }

  async #wait(candidates: readonly RpcProvider[]): Promise<void> {
    const { limits, clock, signals, waitMsMax } = this.#options;
    const cooldownMs = Math.min(...candidates.map((provider) => provider.breaker.cooldownMs()));
    const giveUp = () => this.#lastFailure ?? allCoolingDown(candidates, cooldownMs);
    if (cooldownMs > limits.waitMsMax) throw giveUp();
    const waitMs = Math.max(cooldownMs, this.#pauseMs());
    if (waitMs <= 0) return;
    if (this.#waitedMs >= (waitMsMax ?? Number.POSITIVE_INFINITY)) throw giveUp();
    const isDown = candidates.every(({ breaker }) => breaker.lastFailure === "unreachable");
    if (isDown && this.#waitedMs + waitMs > limits.unreachableMsMax) throw giveUp();
    this.#waitedMs += waitMs;
    await clock.sleep(waitMs, AbortSignal.any([...signals]));
  }

  /** A failure without a cooldown (a block that is not there yet) needs its own pause. */
  #pauseMs(): number {
    if (!this.#lastFailure || RPC_FAILURES[this.#lastFailure.kind].cooldown !== "none") return 0;
    const { pauseMsBase, pauseMsMax } = this.#options.limits;
    const bound = Math.min(pauseMsMax, pauseMsBase * 2 ** Math.min(this.#attempt - 1, 30));
    return Math.ceil((bound / 2) * (1 + this.#options.random()));
  }
}

// In the same tick as the choice, or requests that start together would all choose to be the probe.
function acquired(provider: RpcProvider): RpcProvider {
  provider.breaker.acquire();
  return provider;
}

function allCoolingDown(candidates: readonly RpcProvider[], cooldownMs: number): RpcError {
  const host = candidates.map((provider) => provider.host).join(", ");
  const reason = `cooling down after failures, next attempt in ${Math.ceil(cooldownMs / 1_000)} s.`;
  return new RpcError("cooling", reason, { host, method: "every call" });
}

function noNodeConfigured(): Fault {
  return new Fault("NODE_UNAVAILABLE", "No node is configured.");
}

/** One part of a batch across several attempts: which calls have their result, and which are still open. */
class BatchRun {
  readonly #members: { readonly call: RpcCall; result: RpcResult | null }[];
  #batchFailures: number;

  constructor(calls: readonly RpcCall[], batchFailuresBefore: number) {
    this.#members = calls.map((call) => ({ call, result: null }));
    this.#batchFailures = batchFailuresBefore;
  }

  /** Throws the first failure that another attempt may cure. */
  async attempt(provider: RpcProvider, sending: SendOptions): Promise<void> {
    const open = this.#open();
    const mode = this.#batchFailures >= BATCH_FAILURES_MAX ? "single" : "batched";
    const results = await provider.callMany(
      open.map(({ call }) => call),
      sending,
      mode,
    );
    for (const [i, member] of open.entries()) {
      member.result = assertDefined(results[i], "the result of a call");
    }
    const failed = this.#open()[0]?.result;
    if (!failed || !("error" in failed)) return;
    if (isBatchFailure(failed.error)) this.#batchFailures += 1;
    throw failed.error;
  }

  results(): RpcResult[] {
    return this.#members.map(({ result }) => assertDefined(result, "the result of a call"));
  }

  /** The results after the last attempt; `failure` stands for the calls that were never sent. */
  resultsOr(failure: RpcError): RpcResult[] {
    return this.#members.map(({ result }) => result ?? { error: failure });
  }

  #open() {
    return this.#members.filter(({ result }) => result === null || isWorthRetrying(result));
  }
}

// Calls that batches have left out or not finished twice are sent alone: some nodes never manage a heavy batch. Other
// failures keep the batch together, because a balancer sends a batch to one machine, but single requests to many.
const BATCH_FAILURES_MAX = 2;

function isBatchFailure(error: unknown): boolean {
  return error instanceof RpcError && (error.kind === "malformed" || error.kind === "timeout");
}

function isWorthRetrying(result: RpcResult): boolean {
  return "error" in result && RPC_FAILURES[result.error.kind].next !== "give-up";
}

type ClientState = {
  /** All configured ones; a pinned client uses one of them. */
  readonly providers: readonly RpcProvider[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly closing: AbortController;
};

class RpcClient implements Rpc {
  readonly #state: ClientState;
  readonly #usable: readonly RpcProvider[];
  readonly #limits: RpcLimits;
  readonly #batchFailures: number;

  constructor(state: ClientState, usable: readonly RpcProvider[], limits: RpcLimits, batchFailures = 0) {
    this.#state = state;
    this.#usable = usable;
    this.#limits = limits;
    this.#batchFailures = batchFailures;
  }

  request<T>(call: RpcCall<T>, given: RpcCallOptions = {}): Promise<T> {
    const options = this.#retryOptions(given);
    return tryProviders((provider) => provider.call(call, options), options);
  }

  async batch<const Calls extends readonly RpcCall[]>(
    calls: Calls,
    options: RpcCallOptions = {},
  ): Promise<RpcResults<Calls>> {
    const parts = splitIntoChunks(calls, this.#limits.batchMax);
    const results = (await Promise.all(parts.map((part) => this.#batchPart(part, options)))).flat();
    // The only place that knows: results come in the order of the calls, each from the parser of its own call.
    return results as unknown as RpcResults<Calls>;
  }

  async pinned<T>(work: (node: PinnedRpc) => Promise<T>, pin: PinOptions = {}): Promise<T> {
    const { providers } = this.#state;
    const only = pin.only === undefined ? null : providers[pin.only];
    if (only === undefined) throw new Fault("INTERNAL", `There is no provider ${pin.only}.`);
    const limits = { ...this.#limits, attemptsMax: pin.attemptsMax ?? this.#limits.attemptsMax };
    const isAllowed = (provider: RpcProvider) => !pin.exclude?.includes(providers.indexOf(provider));
    // One attempt and no waiting: when this provider fails, the outer loop chooses the next one.
    const pinnedLimits = { ...this.#limits, attemptsMax: 1, waitMsMax: 0 };
    let batchFailures = 0;
    return tryProviders(
      async (provider) => {
        try {
          return await work(new PinnedRpcClient(this.#state, provider, pinnedLimits, batchFailures));
        } catch (error) {
          if (isBatchFailure(error)) batchFailures += 1;
          if (error instanceof InvalidResponseError) {
            throw provider.recordBadResponse(error, "a group of reads");
          }
          throw error;
        }
      },
      {
        ...this.#retryOptions(pin),
        limits,
        providers: only ? [only] : this.#usable.filter(isAllowed),
        avoid: providers.filter((_, i) => pin.avoid?.includes(i)),
        waitMsMax: pin.waitMsMax ?? null,
      },
    );
  }

  providers(): readonly ProviderHealth[] {
    return this.#usable.map(healthOf);
  }

  close(): void {
    this.#state.closing.abort(new Fault("SHUTTING_DOWN", "The connection to the nodes is closed."));
  }

  async #batchPart(calls: readonly RpcCall[], given: RpcCallOptions): Promise<RpcResult[]> {
    const run = new BatchRun(calls, this.#batchFailures);
    const options = this.#retryOptions(given);
    try {
      await tryProviders((provider) => run.attempt(provider, options), options);
    } catch (error) {
      if (!(error instanceof Fault) || this.#state.closing.signal.aborted) throw error;
      return run.resultsOr(error instanceof RpcError ? error : toRpcError(error));
    }
    return run.results();
  }

  #retryOptions({ signal, onSend }: RpcCallOptions): RetryOptions {
    const { clock, random, closing } = this.#state;
    const signals = signal ? [signal, closing.signal] : [closing.signal];
    return { clock, random, signals, onSend, limits: this.#limits, providers: this.#usable };
  }
}

class PinnedRpcClient extends RpcClient implements PinnedRpc {
  readonly host: string;
  readonly providerIndex: number;

  constructor(state: ClientState, provider: RpcProvider, limits: RpcLimits, batchFailures: number) {
    super(state, [provider], limits, batchFailures);
    this.host = provider.host;
    this.providerIndex = state.providers.indexOf(provider);
  }
}

function toRpcError(fault: Fault): RpcError {
  return new RpcError("transient", fault.message, { host: "any provider", method: "a batch", cause: fault });
}

function healthOf({ host, breaker, inFlight, batchMax }: RpcProvider): ProviderHealth {
  const cooldownMs = breaker.cooldownMs();
  return {
    host,
    state: cooldownMs > 0 ? "cooling-down" : "ready",
    failures: breaker.failures,
    cooldownMs,
    lastFailure: breaker.lastFailure,
    inFlight,
    batchMax,
  };
}

export type RpcOptions = {
  /** In order of preference: the first healthy one is used. */
  readonly urls: readonly Secret<string>[];
  readonly log: Log;
  /** Required, so that no service forgets its metrics; null for commands and tests that publish none. */
  readonly onCall: CallObserver | null;
  /** When given, no provider is trusted before it has reported this chain. */
  readonly chainId?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly limits?: Partial<RpcLimits>;
};

export function createRpc(options: RpcOptions): Rpc {
  if (options.urls.length === 0) throw new Fault("CONFIG_INVALID", "At least one node address is needed.");
  const limits = { ...RPC_LIMITS, ...options.limits };
  const shared = {
    limits,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    log: options.log,
    chainId: options.chainId ?? null,
    onCall: options.onCall ?? (() => undefined),
  };
  const providers = options.urls.map(
    (url) => new RpcProvider({ ...shared, endpoint: createRemoteEndpoint(url) }),
  );
  return new RpcClient({ ...shared, providers, closing: new AbortController() }, providers, limits);
}
