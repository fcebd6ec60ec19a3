// The words of the client: a call, its answer, what an observer is told, and what callers hold.
import type { RpcError, RpcFailureKind } from "./errors.ts";

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
