// How a node is asked: one function, whether it answers in process or over HTTP.
import { createClient, http } from "viem";

export type RpcRequest = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** Asks a node over HTTP. */
export function httpRequest(rpcUrl: string): RpcRequest {
  const client = createClient({ transport: http(rpcUrl) });
  const request = client.request as (body: {
    method: string;
    params: readonly unknown[];
  }) => Promise<unknown>;
  return (method, params = []) => request({ method, params });
}
