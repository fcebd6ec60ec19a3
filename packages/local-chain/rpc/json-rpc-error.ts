// Errors with a JSON-RPC code: thrown in process, sent as the error member of a response.
import type { Hex } from "viem";

/** For arguments of library callers and RPC clients alike. */
export function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new JsonRpcError(
    JSON_RPC_CODES.invalidParams,
    `${name} must be an integer from ${min} to ${max}, not ${value}`,
  );
}

/** Codes of the JSON-RPC 2.0 and EIP-1474 tables, plus 3, which Ethereum nodes use for a reverted call. */
export const JSON_RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  invalidParams: -32602,
  internal: -32603,
  server: -32000,
  methodNotSupported: -32004,
  limitExceeded: -32005,
  reverted: 3,
} as const;

export type JsonRpcErrorBody = { readonly code: number; readonly message: string; readonly data?: Hex };

export class JsonRpcError extends Error {
  override readonly name = "JsonRpcError";
  readonly code: number;
  readonly data: Hex | undefined;

  constructor(code: number, message: string, data?: Hex, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
  }

  toBody(): JsonRpcErrorBody {
    const { code, message, data } = this;
    return data === undefined ? { code, message } : { code, message, data };
  }
}

/** Error body for any thrown value. Nothing is hidden: the reader is the developer who runs the chain. */
export function toJsonRpcErrorBody(error: unknown): JsonRpcErrorBody {
  if (error instanceof JsonRpcError) return error.toBody();
  return { code: JSON_RPC_CODES.internal, message: error instanceof Error ? error.message : String(error) };
}
