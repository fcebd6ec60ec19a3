// One function for JSON-RPC requests, in process or over HTTP.
import { createClient, http } from "viem";

export type RpcRequestFunction = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** Sends requests over HTTP. */
export function createHttpRpcRequest(rpcUrl: string): RpcRequestFunction {
  const client = createClient({ transport: http(rpcUrl) });
  const request = client.request as (body: {
    method: string;
    params: readonly unknown[];
  }) => Promise<unknown>;
  return (method, params = []) => request({ method, params });
}
