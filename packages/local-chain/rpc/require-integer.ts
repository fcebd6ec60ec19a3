// One wording for a number that is out of its range, whether a library caller or an RPC client gave it.
import { RPC_CODES, RpcFault } from "./json-rpc-error.ts";

export function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RpcFault(
    RPC_CODES.invalidParams,
    `${name} must be an integer from ${min} to ${max}, not ${value}`,
  );
}
