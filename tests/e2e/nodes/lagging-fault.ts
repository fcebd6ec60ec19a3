// A node that is behind: head, state, receipts and logs are all those of some blocks ago.
import { JSON_RPC_CODES, JsonRpcError } from "@sextant/local-chain/rpc/json-rpc-error";
import type { NodeFault, NodeRequest } from "./node-fault.ts";

export type LaggingFault = {
  readonly fault: NodeFault;
  /** How far behind it is from now on; 0 is level with the chain. */
  behind(blocks: number): void;
};

type Placed = { readonly blockNumber?: string | null } | null;

/** The position of the block among the parameters of a method, counted from 0. */
const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getBlockByNumber: 0,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getTransactionCount: 1,
};

const toQuantity = (value: number) => `0x${value.toString(16)}`;
const unknownBlock = () => new JsonRpcError(JSON_RPC_CODES.server, "header not found");

const isAhead = (placed: Placed, head: number) =>
  typeof placed?.blockNumber === "string" && Number(placed.blockNumber) > head;

/** Blocks after the head do not exist yet; a transaction of a later block still waits. */
function hideLater(method: string, found: unknown, head: number): unknown {
  if (method === "eth_getBlockByHash") {
    return found !== null && Number((found as { number: string }).number) > head ? null : found;
  }
  if (method === "eth_getTransactionReceipt") return isAhead(found as Placed, head) ? null : found;
  if (method === "eth_getTransactionByHash" && isAhead(found as Placed, head)) {
    return { ...(found as object), blockHash: null, blockNumber: null, transactionIndex: null };
  }
  return found;
}

export function createLaggingFault(options: {
  readonly finalityDepth: number;
  readonly onFault: () => void;
}): LaggingFault {
  let lag = 0;

  /** The block that a parameter means for a node whose head is `head`; null for one it does not have. */
  async function seen(block: unknown, head: number, next: NodeRequest): Promise<unknown> {
    if (block === undefined || block === "latest" || block === "pending") return toQuantity(head);
    if (block === "finalized" || block === "safe")
      return toQuantity(Math.max(0, head - options.finalityDepth));
    if (typeof block === "object" && block !== null && "blockHash" in block) {
      const found = (await next("eth_getBlockByHash", [block.blockHash, false])) as { number: string } | null;
      return found !== null && Number(found.number) <= head ? block : null;
    }
    return typeof block === "string" && block.startsWith("0x") && Number(block) > head ? null : block;
  }

  async function atBlock(method: string, params: readonly unknown[], head: number, next: NodeRequest) {
    const at = BLOCK_PARAMETER[method] ?? 0;
    // Transactions that wait are passed on from node to node, also to one whose blocks are late.
    if (method === "eth_getTransactionCount" && params[at] === "pending") return next(method, params);
    const block = await seen(params[at], head, next);
    if (block !== null) return next(method, [...params.slice(0, at), block, ...params.slice(at + 1)]);
    if (method === "eth_getBlockByNumber") return null;
    throw unknownBlock();
  }

  async function logs([filter]: readonly unknown[], head: number, next: NodeRequest) {
    const wanted = filter as Record<string, unknown>;
    if ("blockHash" in wanted) {
      if ((await seen(wanted, head, next)) === null) throw unknownBlock();
      return next("eth_getLogs", [filter]);
    }
    const fromBlock = (await seen(wanted.fromBlock, head, next)) ?? null;
    if (fromBlock === null) return [];
    // As nodes do: a range beyond the head silently ends at the head.
    const toBlock = (await seen(wanted.toBlock, head, next)) ?? toQuantity(head);
    return next("eth_getLogs", [{ ...wanted, fromBlock, toBlock }]);
  }

  async function late(method: string, params: readonly unknown[], next: NodeRequest): Promise<unknown> {
    const head = Math.max(0, Number(await next("eth_blockNumber", [])) - lag);
    if (method === "eth_blockNumber") return toQuantity(head);
    if (method in BLOCK_PARAMETER) return atBlock(method, params, head, next);
    if (method === "eth_getLogs") return logs(params, head, next);
    return hideLater(method, await next(method, params), head);
  }

  return {
    fault: (method, params, next) => {
      if (lag === 0) return next(method, params);
      options.onFault();
      return late(method, params, next);
    },
    behind: (blocks) => {
      lag = blocks;
    },
  };
}
