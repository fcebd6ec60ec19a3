// A node that keeps the state of its last 128 blocks only, as geth does by default, in front of a chain that keeps all.
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { JsonRpcError, toJsonRpcErrorBody } from "@sextant/local-chain/rpc/json-rpc-error";
import { readBody, startLoopbackServer } from "../http/loopback-server.ts";
import type { NodeRpcCall } from "./node-faults.ts";

export type PrunedNode = {
  readonly url: string;
  /** How often each method was called. */
  readonly counts: ReadonlyMap<string, number>;
  stop(): Promise<void>;
};

export type PrunedNodeOptions = {
  readonly request: RpcRequestFunction;
  /** Whether the node offers debug_traceTransaction, for every block. */
  readonly traces: boolean;
  /** The node's error about a state that it dropped; geth's own text by default. */
  readonly onDroppedState?: () => unknown;
  /** How many blocks it keeps the state of, when that changes. */
  readonly blocksWithState?: () => number;
};

const BLOCKS_WITH_STATE = 128;

export async function startPrunedNode(options: PrunedNodeOptions): Promise<PrunedNode> {
  const counts = new Map<string, number>();
  const server = await startLoopbackServer(async (request, response) => {
    const parsed = JSON.parse((await readBody(request)).toString("utf8")) as NodeRpcCall | NodeRpcCall[];
    const results = await Promise.all((Array.isArray(parsed) ? parsed : [parsed]).map(respond));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(Array.isArray(parsed) ? results : results[0]));
  });

  async function respond({ id, method, params }: NodeRpcCall): Promise<object> {
    counts.set(method, (counts.get(method) ?? 0) + 1);
    try {
      return { jsonrpc: "2.0", id, result: await resultOf(method, params) };
    } catch (error) {
      return { jsonrpc: "2.0", id, error: toJsonRpcErrorBody(error) };
    }
  }

  async function resultOf(method: string, params: readonly unknown[]): Promise<unknown> {
    if (method === "debug_traceTransaction" && !options.traces) {
      throw new JsonRpcError(-32_601, `the method ${method} does not exist/is not available`);
    }
    if (method === "eth_call" && !(await hasState(params[1]))) return (options.onDroppedState ?? dropped)();
    return options.request(method, params);
  }

  async function hasState(block: unknown): Promise<boolean> {
    const found = isHashed(block)
      ? await options.request("eth_getBlockByHash", [block.blockHash, false])
      : await options.request("eth_getBlockByNumber", [block, false]);
    const head = Number(await options.request("eth_blockNumber", []));
    return (
      found !== null &&
      head - Number((found as { number: string }).number) < (options.blocksWithState?.() ?? BLOCKS_WITH_STATE)
    );
  }

  return { url: `${server.url}/`, counts, stop: server.stop };
}

function dropped(): never {
  const root = "1f".repeat(32);
  throw new JsonRpcError(
    -32_000,
    `missing trie node ${root} (path ) state 0x${root} is not available, not found`,
  );
}

function isHashed(block: unknown): block is { blockHash: string } {
  return typeof block === "object" && block !== null && "blockHash" in block;
}
