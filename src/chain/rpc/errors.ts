// Every way a node can fail us, what each means for the next attempt, and the error that carries it.
import { Fault, type FaultCode } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";

// What a reader throws when a node's answer can not be true: the client turns it into that provider's failure.

/** `malformed`: the answer is wrong; `missing`: the node does not have what was asked for. Both are asked again. */

export class InvalidResponseError extends Error {
  readonly kind: "malformed" | "missing";

  constructor(kind: "malformed" | "missing", message: string) {
    super(message);
    this.name = "BadAnswer";
    this.kind = kind;
  }
}

export function malformedResponse(message: string): InvalidResponseError {
  return new InvalidResponseError("malformed", message);
}

export function missingResult(message: string): InvalidResponseError {
  return new InvalidResponseError("missing", message);
}

type Failure = {
  readonly fault: FaultCode;
  /** retry: any provider may be asked again; elsewhere: only another provider can help; give-up: nobody can. */
  readonly next: "retry" | "elsewhere" | "give-up";
  /** How long the provider is left alone. `no` also means that it is alive: it understood us and answered. */
  readonly rests: "no" | "short" | "long";
};

export const RPC_FAILURES = {
  "rate-limited": { fault: "NODE_UNAVAILABLE", next: "retry", rests: "short" },
  timeout: { fault: "NODE_UNAVAILABLE", next: "retry", rests: "short" },
  transient: { fault: "NODE_UNAVAILABLE", next: "retry", rests: "short" },
  // An answer that contradicts the question, the block or itself; also HTML, cut JSON and foreign ids.
  malformed: { fault: "NODE_UNAVAILABLE", next: "retry", rests: "short" },
  // Not resting, because such an error often belongs to one request and not to the provider.
  internal: { fault: "NODE_UNAVAILABLE", next: "retry", rests: "no" },
  missing: { fault: "BLOCK_MISSING", next: "retry", rests: "no" },
  // The provider began to rest while the request waited for a place; it was never sent.
  resting: { fault: "NODE_UNAVAILABLE", next: "retry", rests: "no" },
  // A key, plan or path that is wrong does not heal by itself, but an operator may heal it.
  refused: { fault: "NODE_UNAVAILABLE", next: "elsewhere", rests: "long" },
  "wrong-chain": { fault: "CHAIN_MISMATCH", next: "elsewhere", rests: "long" },
  unsupported: { fault: "NODE_REFUSED", next: "elsewhere", rests: "no" },
  "invalid-request": { fault: "NODE_REFUSED", next: "give-up", rests: "no" },
  reverted: { fault: "NODE_REFUSED", next: "give-up", rests: "no" },
  "range-too-large": { fault: "LOGS_TOO_LARGE", next: "give-up", rests: "no" },
  // More bytes than our own limit: the same question gives the same answer.
  "response-too-large": { fault: "LOGS_TOO_LARGE", next: "give-up", rests: "no" },
} as const satisfies Record<string, Failure>;

export type RpcFailureKind = keyof typeof RPC_FAILURES;

/** What a node said about the block range it would accept. */
export type RangeHint = {
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly blocksMax: number | null;
};

export type RpcErrorDetail = {
  readonly host: string;
  readonly method: string;
  readonly rpcCode?: number | null;
  readonly revertData?: Hex | null;
  readonly range?: RangeHint | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
};

/** A failed call. The text is already free of keys; of the address only the host is ever shown. */
export class RpcError extends Fault {
  readonly kind: RpcFailureKind;
  readonly host: string;
  readonly method: string;
  readonly rpcCode: number | null;
  readonly revertData: Hex | null;
  readonly range: RangeHint | null;
  readonly retryAfterMs: number | null;

  constructor(kind: RpcFailureKind, what: string, detail: RpcErrorDetail) {
    const message = `The node at ${detail.host} failed ${detail.method}: ${what}`;
    super(RPC_FAILURES[kind].fault, message, detail.cause === undefined ? {} : { cause: detail.cause });
    this.name = "RpcError";
    this.kind = kind;
    this.host = detail.host;
    this.method = detail.method;
    this.rpcCode = detail.rpcCode ?? null;
    this.revertData = detail.revertData ?? null;
    this.range = detail.range ?? null;
    this.retryAfterMs = detail.retryAfterMs ?? null;
  }
}
