// The words of the client: a call, its answer, what an observer is told, and what callers hold.
import type { RpcError, RpcFailureKind } from "./errors.ts";

// The bounds of the client, each with its reason; a deployment may set its own.

export type RpcLimits = {
  readonly requestTimeoutMs: number;
  readonly responseBytesMax: number;
  readonly batchMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
  readonly attemptsMax: number;
  readonly pauseMsBase: number;
  readonly pauseMsMax: number;
  readonly retryAfterMsMax: number;
  readonly waitMsMax: number;
};

export const RPC_LIMITS: RpcLimits = {
  // Vendors give up on a heavy log query after 10 to 15 seconds; a little longer lets us hear their reason.
  requestTimeoutMs: 20_000,
  // 10,000 logs are about 7 MB; more than this at once would only stall the process while it parses.
  responseBytesMax: 32 * 1024 * 1024,
  // Accepted by nearly everyone (geth allows 1,000, public gateways often 100, some 10: those are learnt).
  batchMax: 100,
  // Enough to hide latency, few enough for the free plan of any vendor.
  inFlightMax: 8,
  // Far above what our own callers queue; only there so that a defect can not fill the memory.
  waitingMax: 50_000,
  // Failures in a row before the caller hears of it; callers that must not give up have their own loop.
  attemptsMax: 6,
  // A hiccup is over in a quarter of a second, and a failed request is not felt.
  pauseMsBase: 250,
  // A provider that is down is asked twice a minute, which notices its return soon and bothers nobody.
  pauseMsMax: 30_000,
  // Some vendors ask for an hour when a daily plan is used up; then the caller should hear it instead of waiting.
  retryAfterMsMax: 60_000,
  // The longest a request waits for a resting provider when there is no other.
  waitMsMax: 65_000,
};

/** `parse` runs inside the retry: an answer it refuses (BadAnswer) counts against the node and is asked for again. */
export type RpcCall<T = unknown> = {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly parse?: (result: unknown) => T;
};

export type RpcResult<T = unknown> = { readonly ok: T } | { readonly error: RpcError };

export type RpcCallOptions = { readonly signal?: AbortSignal };

export type ObservedCall = {
  readonly provider: string;
  readonly method: string;
  readonly outcome: "ok" | RpcFailureKind;
  readonly ms: number;
};

export type CallObserver = (call: ObservedCall) => void;

export type ProviderHealth = {
  readonly host: string;
  readonly state: "ready" | "resting";
  readonly failures: number;
  readonly cooldownMs: number;
  readonly lastFailure: RpcFailureKind | null;
  readonly inFlight: number;
  readonly batchMax: number;
};

export type Rpc = {
  request<T = unknown>(
    method: string,
    params: readonly unknown[],
    options?: RpcCallOptions & { readonly parse?: (result: unknown) => T },
  ): Promise<T>;
  /** Answers in the order of the calls. Only giving up (the signal, or closing) throws; a failed call is an answer. */
  batch<T = unknown>(
    calls: readonly RpcCall<T>[],
    options?: RpcCallOptions,
  ): Promise<readonly RpcResult<T>[]>;
  /**
   * Related reads on one provider. When that provider fails, the whole work runs again on the next one, so it must
   * only read. A BadAnswer thrown by the work counts against the provider.
   */
  pinned<T>(work: (node: PinnedRpc) => Promise<T>, options?: PinOptions): Promise<T>;
  providers(): readonly ProviderHealth[];
  /** Ends what is under way; later calls are refused. */
  close(): void;
};

/** The client as seen through one provider: each call is tried once, the pinning client tries again elsewhere. */
export type PinnedRpc = Rpc & { readonly host: string; readonly providerIndex: number };

export type PinOptions = RpcCallOptions & {
  /** Another provider than these, if any is fit: for a second opinion. */
  readonly avoid?: readonly number[];
  /** None of these, even where no other is fit. */
  readonly exclude?: readonly number[];
  /** This provider and no other. */
  readonly only?: number;
  readonly attemptsMax?: number;
  /** After this much waiting for resting providers no further wait begins. */
  readonly waitMsMax?: number;
};

/** The values of a batch of which every member is needed; the first failure is thrown. */
export function unwrapResults<T>(answers: readonly RpcResult<T>[]): T[] {
  return answers.map((answer) => {
    if ("error" in answer) throw answer.error;
    return answer.ok;
  });
}
