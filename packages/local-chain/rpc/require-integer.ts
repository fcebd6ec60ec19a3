// One wording for a number that is out of its range, whether a library caller or an RPC client gave it.
import { JSON_RPC_CODES, JsonRpcError } from "./json-rpc-error.ts";

export function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new JsonRpcError(
    JSON_RPC_CODES.invalidParams,
    `${name} must be an integer from ${min} to ${max}, not ${value}`,
  );
}
