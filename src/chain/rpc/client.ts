// The JSON-RPC client: several providers in order of preference behind one face that only gives usable answers.
import { type Clock, systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import type { Secret } from "../../lib/secret.ts";
import { InvalidResponseError, RPC_FAILURES, RpcError } from "./errors.ts";
import { createRpcProvider, type RpcProvider } from "./provider.ts";
import type {
  CallObserver,
  PinnedRpc,
  PinOptions,
  ProviderHealth,
  Rpc,
  RpcCall,
  RpcResult,
} from "./types.ts";
import { RPC_LIMITS, type RpcLimits } from "./types.ts";

// The one retry loop of the client: which provider is asked next, when, and when to give up.

export type TryProvidersOptions = {
  readonly providers: readonly RpcProvider[];
  readonly limits: RpcLimits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signals: readonly AbortSignal[];
  /** Asked only when nobody else is fit. */
  readonly avoid?: readonly RpcProvider[];
  /** After this much waiting no further wait begins; without it, only the attempts are counted. */
  readonly waitMsMax?: number | null;
};

/** How long this request has waited for resting providers so far. */
type Waited = { ms: number };

// A request that finds its provider resting was never sent and costs no attempt; this bounds how often that may happen.
const REQUEUES_MAX = 200;

/** Uses the first healthy provider, then the next ones, then waits; throws the last failure when all is used up. */
export async function tryProviders<T>(
  use: (provider: RpcProvider, attemptNumber: number) => Promise<T>,
  options: TryProvidersOptions,
): Promise<T> {
  // Tried in this round; forgotten when everybody was. Barred: can not help with this request at all.
  const tried = new Set<RpcProvider>(options.avoid);
  const barred = new Set<RpcProvider>();
  let last: RpcError | null = null;
  let requeues = 0;
  const waited: Waited = { ms: 0 };
  for (let number = 1; number <= options.limits.attemptsMax; ) {
    const provider = await choose(tried, barred, number, last, options, waited);
    try {
      return await use(provider, number);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.kind === "resting") {
        requeues += 1;
        if (requeues > REQUEUES_MAX) throw error;
        continue;
      }
      last = error;
      number += 1;
      tried.add(provider);
      const { next } = RPC_FAILURES[error.kind];
      if (next === "give-up") throw error;
      if (next === "elsewhere") barred.add(provider);
      if (barred.size === options.providers.length) throw error;
    } finally {
      provider.breaker.release();
    }
  }
  throw last ?? new Fault("NODE_UNAVAILABLE", "No node is configured.");
}

async function choose(
  tried: Set<RpcProvider>,
  barred: ReadonlySet<RpcProvider>,
  number: number,
  last: RpcError | null,
  options: TryProvidersOptions,
  waited: Waited,
): Promise<RpcProvider> {
  for (const signal of options.signals) signal.throwIfAborted();
  const candidates = options.providers.filter((provider) => !barred.has(provider));
  const fresh = candidates.find((provider) => !tried.has(provider) && provider.breaker.isAvailable());
  if (fresh) return taken(fresh);

  // Everybody was tried or rests: wait until one may be asked again, and begin a new round.
  tried.clear();
  const restMs = Math.min(...candidates.map((provider) => provider.breaker.cooldownMs()));
  if (restMs > options.limits.waitMsMax) throw last ?? allResting(candidates, restMs);
  const { pauseMsBase, pauseMsMax } = options.limits;
  const bound = Math.min(pauseMsMax, pauseMsBase * 2 ** Math.min(number - 1, 30));
  // A failure that puts nobody to rest (a block not there yet) needs its own pause.
  const pauseMs =
    last && RPC_FAILURES[last.kind].rests === "no" ? Math.ceil((bound / 2) * (1 + options.random())) : 0;
  const waitMs = Math.max(restMs, pauseMs);
  if (waitMs > 0) {
    if (waited.ms >= (options.waitMsMax ?? Number.POSITIVE_INFINITY)) {
      throw last ?? allResting(candidates, restMs);
    }
    waited.ms += waitMs;
    await options.clock.sleep(waitMs, AbortSignal.any([...options.signals]));
  }

  const soonest = [...candidates].sort((a, b) => a.breaker.cooldownMs() - b.breaker.cooldownMs())[0];
  const chosen = candidates.find((provider) => provider.breaker.isAvailable()) ?? soonest;
  if (!chosen) throw last ?? new Fault("NODE_UNAVAILABLE", "No node is configured.");
  return taken(chosen);
}

// In the same turn as the choice, or requests that start together would all choose to be the probe.
function taken(provider: RpcProvider): RpcProvider {
  provider.breaker.acquire();
  return provider;
}

function allResting(candidates: readonly RpcProvider[], restMs: number): RpcError {
  const host = candidates.map((provider) => provider.host).join(", ");
  const what = `it rests after failures; the next try is in ${Math.ceil(restMs / 1_000)} s.`;
  return new RpcError("resting", what, { host, method: "every call" });
}

export type RpcOptions = {
  /** In order of preference: the first healthy one is asked. */
  readonly urls: readonly Secret<string>[];
  readonly log: Log;
  /** When given, no provider is believed before it has said that it serves this chain. */
  readonly chainId?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly limits?: Partial<RpcLimits>;
  readonly onCall?: CallObserver;
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
  const providers = options.urls.map((url) =>
    createRpcProvider({ ...shared, endpoint: createRemoteEndpoint(url) }),
  );
  const closing = new AbortController();

  /** The client over some of the providers: all of them, or the one of a pinned piece of work. */
  function over(usable: readonly RpcProvider[], bounds: RpcLimits, troublesBefore: number): Rpc {
    const loop = (signal: AbortSignal | undefined) => ({
      ...shared,
      limits: bounds,
      providers: usable,
      signals: signal ? [signal, closing.signal] : [closing.signal],
    });

    async function batchPart<T>(
      calls: readonly RpcCall<T>[],
      signal: AbortSignal | undefined,
    ): Promise<RpcResult<T>[]> {
      const answers = new Map<number, RpcResult<T>>();
      const open = () => calls.map((_, i) => i).filter((i) => !isSettled(answers.get(i)));
      const options = loop(signal);
      let troubles = troublesBefore;
      try {
        await tryProviders(async (provider) => {
          const left = open();
          const manner = troubles >= BATCH_TROUBLES_MAX ? "alone" : "batched";
          const asked = left.map((i) => calls[i] as RpcCall<T>);
          const got = await provider.callMany(asked, options.signals, manner);
          for (const [at, i] of left.entries()) answers.set(i, got[at] as RpcResult<T>);
          const failed = open()
            .map((i) => answers.get(i))
            .find((answer) => answer !== undefined);
          if (failed && "error" in failed) {
            troubles += isBatchTrouble(failed.error) ? 1 : 0;
            throw failed.error;
          }
        }, options);
      } catch (error) {
        if (!(error instanceof Fault) || closing.signal.aborted) throw error;
        const failure = error instanceof RpcError ? error : asRpcError(error);
        return calls.map((_, i) => answers.get(i) ?? { error: failure });
      }
      return calls.map((_, i) => answers.get(i) as RpcResult<T>);
    }

    return {
      request: (method, params, { signal, parse } = {}) => {
        const call = parse ? { method, params, parse } : { method, params };
        const options = loop(signal);
        return tryProviders((provider) => provider.call(call, options.signals), options) as Promise<never>;
      },
      async batch(calls, { signal } = {}) {
        const parts: Promise<RpcResult<never>[]>[] = [];
        for (let at = 0; at < calls.length; at += limits.batchMax) {
          parts.push(batchPart(calls.slice(at, at + limits.batchMax), signal) as Promise<RpcResult<never>[]>);
        }
        return (await Promise.all(parts)).flat();
      },
      pinned: (work, pin = {}) => pinned(work, pin, usable, bounds),
      providers: () => usable.map(healthOf),
      close: () => closing.abort(new Fault("SHUTTING_DOWN", "The connection to the nodes is closed.")),
    };
  }

  async function pinned<T>(
    work: (node: PinnedRpc) => Promise<T>,
    pin: PinOptions,
    usable: readonly RpcProvider[],
    bounds: RpcLimits,
  ): Promise<T> {
    const only = pin.only === undefined ? null : providers[pin.only];
    if (only === undefined) throw new Fault("INTERNAL", `There is no provider ${pin.only}.`);
    const limits = { ...bounds, attemptsMax: pin.attemptsMax ?? bounds.attemptsMax };
    const signals = pin.signal ? [pin.signal, closing.signal] : [closing.signal];
    const avoid = providers.filter((_, i) => pin.avoid?.includes(i));
    const allowed = only ? [only] : usable.filter((each) => !pin.exclude?.includes(providers.indexOf(each)));
    // One try and no waiting: when this provider can not, the loop out here knows where to go on.
    const once = { ...bounds, attemptsMax: 1, waitMsMax: 0 };
    let troubles = 0;
    return tryProviders(
      async (provider) => {
        const node = {
          ...over([provider], once, troubles),
          host: provider.host,
          providerIndex: providers.indexOf(provider),
        };
        try {
          return await work(node);
        } catch (error) {
          if (isBatchTrouble(error)) troubles += 1;
          if (error instanceof InvalidResponseError)
            throw provider.recordBadResponse(error, "a group of reads");
          throw error;
        }
      },
      { ...shared, limits, providers: allowed, signals, avoid, waitMsMax: pin.waitMsMax ?? null },
    );
  }

  return over(providers, limits, 0);
}

// What batches have left out or not finished twice is asked for alone: some nodes never manage a heavy batch. Other
// failures keep it together, because a balancer sends a batch to one machine, but single requests to many.
const BATCH_TROUBLES_MAX = 2;

function isBatchTrouble(error: unknown): boolean {
  return error instanceof RpcError && (error.kind === "malformed" || error.kind === "timeout");
}

function isSettled(answer: RpcResult<unknown> | undefined): boolean {
  return answer !== undefined && (!("error" in answer) || RPC_FAILURES[answer.error.kind].next === "give-up");
}

function asRpcError(fault: Fault): RpcError {
  return new RpcError("transient", fault.message, { host: "any provider", method: "a batch", cause: fault });
}

function healthOf(provider: RpcProvider): ProviderHealth {
  const restMs = provider.breaker.cooldownMs();
  return {
    host: provider.host,
    state: restMs > 0 ? "resting" : "ready",
    failures: provider.breaker.failures,
    cooldownMs: restMs,
    lastFailure: provider.breaker.lastFailure,
    inFlight: provider.inFlight,
    batchMax: provider.batchMax,
  };
}
