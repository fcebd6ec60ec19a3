// The logs of blocks from their receipts: another source inside a node than its log index.
import type { Hex } from "../../lib/hex.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { malformedResponse, missingResult } from "../rpc/errors.ts";
import { readHash, readObject } from "../rpc/hex-values.ts";
import { type PinnedRpc, type RpcCall, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { matchesLogFilter } from "./filter.ts";
import { assertLogInBlock, type BlockLogQuery } from "./get-logs.ts";
import { compareLogPositions, type NodeLog, parseLog } from "./log.ts";

// A few batches. Receipts settle single suspicious blocks; larger ones have blooms too full to be suspicious.
const TRANSACTIONS_MAX = 500;

/** The matching logs by block number, in order; without the blocks whose receipts the node cannot show. */
export async function readReceiptLogs(
  node: PinnedRpc,
  headers: readonly BlockHeader[],
  { filters, bloom }: BlockLogQuery,
  options: RpcCallOptions,
): Promise<ReadonlyMap<number, readonly NodeLog[]>> {
  const found = new Map<number, readonly NodeLog[]>();
  if (headers.length === 0) return found;
  const blocks = await node.batch(headers.map(transactionsCall), options);
  const chosen: { readonly header: BlockHeader; readonly transactions: readonly Hex[] }[] = [];
  let total = 0;
  for (const [i, header] of headers.entries()) {
    const block = blocks[i];
    if (!block || "error" in block || total + block.ok.length > TRANSACTIONS_MAX) continue;
    total += block.ok.length;
    chosen.push({ header, transactions: block.ok });
  }
  const receipts = await node.batch(
    chosen.flatMap(({ transactions }) => transactions.map(receiptCall)),
    options,
  );
  let at = 0;
  for (const { header, transactions } of chosen) {
    const own = receipts.slice(at, at + transactions.length);
    at += transactions.length;
    if (own.some((receipt) => "error" in receipt)) continue;
    const logs = unwrapResults(own)
      .flat()
      .filter((log) => filters.some((filter) => matchesLogFilter(log, filter)))
      .sort(compareLogPositions);
    for (const log of logs) assertLogInBlock(log, header, bloom);
    found.set(header.number, logs);
  }
  return found;
}

function transactionsCall({ hash: block }: BlockHeader): RpcCall<Hex[]> {
  return {
    method: "eth_getBlockByHash",
    params: [block, false],
    parse: (result) => {
      if (result === null) throw missingResult(`block ${block} not found`);
      const { transactions } = readObject(result, "the block");
      if (!Array.isArray(transactions)) throw malformedResponse("the transactions of a block are not a list");
      return transactions.map((hash) => readHash(hash, "a transaction hash"));
    },
  };
}

function receiptCall(transaction: Hex): RpcCall<NodeLog[]> {
  return {
    method: "eth_getTransactionReceipt",
    params: [transaction],
    parse: (result) => {
      if (result === null) throw missingResult(`the receipt of ${transaction} not found`);
      const { logs } = readObject(result, "the receipt");
      if (!Array.isArray(logs)) throw malformedResponse("the logs of a receipt are not a list");
      return logs.map(parseLog);
    },
  };
}
