// Every way a node can fail, what each failure means for the next attempt, and the error that carries it.
import { Fault, type FaultCode } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";

/**
 * Thrown by a parser when a node's response cannot be true; the client counts it against that provider and retries.
 * `malformed`: the response is wrong. `missing`: the node does not have the requested data.
 */
export class InvalidResponseError extends Error {
  override readonly name = "InvalidResponseError";
  readonly kind: "malformed" | "missing";

  constructor(kind: "malformed" | "missing", message: string) {
    super(message);
    this.kind = kind;
  }
}

export function malformedResponse(message: string): InvalidResponseError {
  return new InvalidResponseError("malformed", message);
}

export function missingResult(message: string): InvalidResponseError {
  return new InvalidResponseError("missing", message);
}

type FailurePolicy = {
  readonly fault: FaultCode;
  /** retry: any provider may be tried again. other-provider: this one cannot help. give-up: none can. */
  readonly next: "retry" | "other-provider" | "give-up";
  /** How long the provider is left alone. `none` also means that it is alive: it understood the request. */
  readonly cooldown: "none" | "short" | "long";
};

// The kinds are values of the metric label `outcome` and of log fields: renaming one breaks dashboards.
export const RPC_FAILURES = {
  "rate-limited": { fault: "NODE_UNAVAILABLE", next: "retry", cooldown: "short" },
  timeout: { fault: "NODE_UNAVAILABLE", next: "retry", cooldown: "short" },
  transient: { fault: "NODE_UNAVAILABLE", next: "retry", cooldown: "short" },
  // Nothing listens at its address: it stays so for longer than a hiccup.
  unreachable: { fault: "NODE_UNAVAILABLE", next: "retry", cooldown: "short" },
  // A response that contradicts the request, the block or itself; also HTML, truncated JSON and foreign ids.
  malformed: { fault: "NODE_UNAVAILABLE", next: "retry", cooldown: "short" },
  // No cooldown, because such an error often belongs to one request and not to the provider.
  internal: { fault: "NODE_UNAVAILABLE", next: "retry", cooldown: "none" },
  missing: { fault: "BLOCK_MISSING", next: "retry", cooldown: "none" },
  // The provider started its cooldown while the request was queued; it was never sent.
  cooling: { fault: "NODE_UNAVAILABLE", next: "retry", cooldown: "none" },
  // A wrong key, plan or path does not heal by itself, but an operator may fix it.
  refused: { fault: "NODE_UNAVAILABLE", next: "other-provider", cooldown: "long" },
  "wrong-chain": { fault: "CHAIN_MISMATCH", next: "other-provider", cooldown: "long" },
  unsupported: { fault: "NODE_REFUSED", next: "other-provider", cooldown: "none" },
  "invalid-request": { fault: "NODE_REFUSED", next: "give-up", cooldown: "none" },
  reverted: { fault: "NODE_REFUSED", next: "give-up", cooldown: "none" },
  "range-too-large": { fault: "LOGS_TOO_LARGE", next: "give-up", cooldown: "none" },
  // More bytes than our own limit: the same request gets the same response.
  "response-too-large": { fault: "LOGS_TOO_LARGE", next: "give-up", cooldown: "none" },
} as const satisfies Record<string, FailurePolicy>;

export type RpcFailureKind = keyof typeof RPC_FAILURES;

/** Whether the same request may succeed later on the same provider. */
export function isTemporaryFailure(kind: RpcFailureKind): boolean {
  return RPC_FAILURES[kind].next === "retry";
}

/** The block range that a node says it would accept. */
export type RangeHint = {
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly blocksMax: number | null;
};

/** The JSON-RPC error object of a node: the message redacted, the data only if it is hex. */
type NodeError = {
  readonly code: number | null;
  readonly message: string;
  readonly data: Hex | null;
};

type RpcErrorDetail = {
  readonly host: string;
  readonly method: string;
  readonly httpStatus?: number | null;
  readonly nodeError?: NodeError | null;
  readonly revertData?: Hex | null;
  readonly range?: RangeHint | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
};

/** A failed call. The text is redacted; of the address it shows only the host. */
export class RpcError extends Fault {
  readonly kind: RpcFailureKind;
  readonly host: string;
  readonly method: string;
  /** The cause of the failure, without the host and the method. */
  readonly reason: string;
  /** Null if no HTTP response arrived. */
  readonly httpStatus: number | null;
  /** Null if the node sent none: the failure is then ours to explain, not the node's statement. */
  readonly nodeError: NodeError | null;
  readonly revertData: Hex | null;
  readonly range: RangeHint | null;
  readonly retryAfterMs: number | null;

  constructor(kind: RpcFailureKind, reason: string, detail: RpcErrorDetail) {
    const message = `The node at ${detail.host} failed ${detail.method}: ${reason}`;
    super(RPC_FAILURES[kind].fault, message, detail.cause === undefined ? {} : { cause: detail.cause });
    this.name = "RpcError";
    this.kind = kind;
    this.host = detail.host;
    this.method = detail.method;
    this.reason = reason;
    this.httpStatus = detail.httpStatus ?? null;
    this.nodeError = detail.nodeError ?? null;
    this.revertData = detail.revertData ?? null;
    this.range = detail.range ?? null;
    this.retryAfterMs = detail.retryAfterMs ?? null;
  }
}
