// The interface of the JSON-RPC client: calls, results, limits, and what an observer learns of each call.
import { assertDefined } from "../../lib/assert-defined.ts";
import type { RpcError, RpcFailureKind } from "./errors.ts";

/** Bounds of the client; a deployment may set its own. */
export const RPC_LIMITS = {
  // Vendors give up on a heavy log query after 10 to 15 seconds; waiting a little longer gets us their reason.
  requestTimeoutMs: 20_000,
  // 10,000 logs are about 7 MB; more than this at once would stall the process while it parses.
  responseBytesMax: 32 * 1024 * 1024,
  // Accepted by nearly every node (geth allows 1,000, public gateways often 100, some 10: the client learns those).
  batchMax: 100,
  // Enough to hide latency, few enough for the free plan of any vendor.
  inFlightMax: 8,
  // Far above what our own callers queue: it only keeps a defect from filling the memory.
  waitingMax: 50_000,
  // Consecutive failures before the caller gets the error; callers that must not give up have their own loop.
  attemptsMax: 6,
  // A hiccup is over in a quarter of a second, and one failed request does no harm.
  pauseMsBase: 250,
  // Two attempts per minute notice soon that a provider is back, and cost it nothing while it is down.
  pauseMsMax: 30_000,
  // Some vendors request an hour when a daily plan is used up; then the caller should get the error instead of waiting.
  retryAfterMsMax: 60_000,
  // The longest wait for the cooldown of a provider when there is no other.
  waitMsMax: 65_000,
  // How long a request waits in all while nothing listens at any address. Requests that follow a chain wait for their
  // node anyway, and the number of attempts bounds the wait.
  unreachableMsMax: Number.POSITIVE_INFINITY,
};

export type RpcLimits = Readonly<typeof RPC_LIMITS>;

/** `parse` runs inside the retry: an InvalidResponseError counts against the node, and the call is repeated. */
export type RpcCall<T = unknown> = {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly parse: (result: unknown) => T;
};

/** A call whose result is not checked. */
export function rawCall(method: string, params: readonly unknown[] = []): RpcCall {
  return { method, params, parse: (result) => result };
}

export type RpcResult<T = unknown> = { readonly ok: T } | { readonly error: RpcError };

/** One result per call, each typed by its own call. */
export type RpcResults<Calls extends readonly RpcCall[]> = {
  readonly [K in keyof Calls]: Calls[K] extends RpcCall<infer T> ? RpcResult<T> : never;
};

export type RpcCallOptions = {
  readonly signal?: AbortSignal;
  /** Called for each request, once the limit of requests in flight lets it through to the node. */
  readonly onSend?: (() => void) | undefined;
};

/** Options of each request that a call leads to. */
export type SendOptions = {
  readonly signals: readonly AbortSignal[];
  readonly onSend?: RpcCallOptions["onSend"];
};

export type ObservedCall = {
  readonly provider: string;
  readonly method: string;
  readonly outcome: "ok" | RpcFailureKind;
  readonly ms: number;
};

export type CallObserver = (call: ObservedCall) => void;

export type ProviderHealth = {
  readonly host: string;
  readonly state: "ready" | "cooling-down";
  readonly failures: number;
  readonly cooldownMs: number;
  readonly lastFailure: RpcFailureKind | null;
  readonly inFlight: number;
  readonly batchMax: number;
};

export type Rpc = {
  request<T>(call: RpcCall<T>, options?: RpcCallOptions): Promise<T>;
  /** Results in the order of the calls. A failed call is a result; only an abort or a closed client throws. */
  batch<const Calls extends readonly RpcCall[]>(
    calls: Calls,
    options?: RpcCallOptions,
  ): Promise<RpcResults<Calls>>;
  /**
   * Runs related reads on one provider. When that provider fails, the whole work runs again on the next one, so it must
   * only read. An InvalidResponseError thrown by the work counts against the provider.
   */
  pinned<T>(work: (node: PinnedRpc) => Promise<T>, options?: PinOptions): Promise<T>;
  providers(): readonly ProviderHealth[];
  /** Aborts the requests in flight; later calls fail. */
  close(): void;
};

/** The client restricted to one provider: each call is tried once, and the pinning client retries elsewhere. */
export type PinnedRpc = Rpc & { readonly host: string; readonly providerIndex: number };

export type PinOptions = RpcCallOptions & {
  /** Another provider than these, if any is available: for a cross-check. */
  readonly avoid?: readonly number[];
  /** None of these, even if no other is available. */
  readonly exclude?: readonly number[];
  /** This provider and no other. */
  readonly only?: number;
  readonly attemptsMax?: number;
  /** After this much waiting for cooldowns no further wait starts. */
  readonly waitMsMax?: number;
};

type Unwrapped<Results extends readonly RpcResult[]> = {
  -readonly [K in keyof Results]: Extract<Results[K], { readonly ok: unknown }>["ok"];
};

/** The values of a batch of which every member is needed; throws the first failure. */
export function unwrapResults<const Results extends readonly RpcResult[]>(
  results: Results,
): Unwrapped<Results> {
  const values = results.map((result) => {
    if ("error" in result) throw result.error;
    return result.ok;
  });
  return values as Unwrapped<Results>;
}

/** Groups of calls as one batch, sent in this order; the results come back per group. */
export async function batchGroups<const Groups extends readonly (readonly RpcCall[])[]>(
  rpc: Pick<Rpc, "batch">,
  groups: Groups,
  options: RpcCallOptions = {},
): Promise<{ readonly [K in keyof Groups]: RpcResults<Groups[K]> }> {
  const results: readonly RpcResult[] = await rpc.batch(groups.flat(), options);
  let start = 0;
  const perGroup = groups.map((group) => {
    const own = group.map((_, i) => assertDefined(results[start + i], "the result of a call"));
    start += group.length;
    return own;
  });
  return perGroup as unknown as { readonly [K in keyof Groups]: RpcResults<Groups[K]> };
}
