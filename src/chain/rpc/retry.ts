// The one retry loop of the client: which provider is asked next, when, and when to give up.
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { RPC_FAILURES, RpcError } from "./errors.ts";
import type { RpcLimits } from "./limits.ts";
import type { RpcProvider } from "./provider.ts";

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
