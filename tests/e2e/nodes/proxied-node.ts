// A node with an address of its own in front of a chain; requests pass through its faults.
import { startJsonRpcServer } from "@sextant/local-chain/rpc/json-rpc-server";
import { type NodeFault, type NodeRequest, withFaults } from "./node-fault.ts";

type ProxiedNode = { readonly url: string; stop(): Promise<void> };

export async function startProxiedNode(
  chain: NodeRequest,
  faults: readonly NodeFault[],
): Promise<ProxiedNode> {
  const request = withFaults(chain, faults);
  const hostname = "127.0.0.1";
  const server = await startJsonRpcServer({
    hostname,
    port: 0,
    greeting: "A node with faults: POST JSON-RPC here.",
    handle: async (method, params) => JSON.stringify(await request(method, params)),
    onDisconnect: async () => undefined,
  });
  return { url: `http://${hostname}:${server.port}`, stop: server.close };
}
