// Logs by eth_getLogs, for a range of blocks or one block by its hash, or from receipts, and the checks of the results.

import { addressToTopic, topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import type { BloomCoverage } from "../chains/chain-info.ts";
import { malformedResponse, missingResult, type RpcError } from "../rpc/errors.ts";
import { readHash, readObject, toQuantity } from "../rpc/hex-values.ts";
import {
  type PinnedRpc,
  type RpcCall,
  type RpcCallOptions,
  type RpcResult,
  unwrapResults,
} from "../rpc/types.ts";
import {
  bloomMayContainLog,
  matchesLogFilter,
  type PreparedLogFilter,
  parseFilteredLogs,
  toFilterParams,
} from "./filter.ts";
import { compareLogPositions, type NodeLog, parseLog } from "./log.ts";

/** The logs of a block to read, and how far its bloom can be trusted. */
export type BlockLogQuery = {
  readonly filters: readonly PreparedLogFilter[];
  readonly bloom: BloomCoverage;
};

export function getLogsCall<T>(
  filter: Readonly<Record<string, unknown>>,
  parse: (logs: readonly unknown[]) => T,
): RpcCall<T> {
  return {
    method: "eth_getLogs",
    params: [filter],
    parse: (result) => {
      if (!Array.isArray(result)) throw malformedResponse("the logs are not a list");
      return parse(result);
    },
  };
}

export function rangeLogsCall(
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
  filter: PreparedLogFilter,
): RpcCall<NodeLog[]> {
  const blocks = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
  return getLogsCall({ ...blocks, ...toFilterParams(filter) }, (list) => {
    const logs = parseFilteredLogs(list, filter);
    // Sorted, so checking the ends checks them all.
    const [first, last] = [logs[0], logs.at(-1)];
    if (first && last && (first.blockNumber < fromBlock || last.blockNumber > toBlock)) {
      throw malformedResponse(`a log lies outside of blocks ${fromBlock} to ${toBlock}`);
    }
    return logs;
  });
}

export function needsSmallerRange({ kind, method }: RpcError): boolean {
  // A slow range and a slow node look the same; a smaller range is right for both.
  return (
    kind === "range-too-large" ||
    kind === "response-too-large" ||
    (kind === "timeout" && method.includes("eth_getLogs"))
  );
}

/** Throws the failure that a smaller range cures, if there is one among them. */
export function throwRangeErrorFirst(results: readonly RpcResult[]): void {
  for (const result of results) if ("error" in result && needsSmallerRange(result.error)) throw result.error;
}

/** The call that reads one filter's logs of one block; for callers that put it into a batch of their own. */
export function blockLogsCall(
  header: BlockHeader,
  filter: PreparedLogFilter,
  bloom: BloomCoverage,
): RpcCall<NodeLog[]> {
  return getLogsCall({ blockHash: header.hash, ...toFilterParams(filter) }, (list) => {
    const logs = parseFilteredLogs(list, filter);
    for (const log of logs) assertLogInBlock(log, header, bloom);
    return logs;
  });
}

/** A log that claims to be of this block must agree with the block's header. */
export function assertLogInBlock(log: NodeLog, header: BlockHeader, bloom: BloomCoverage): void {
  if (log.blockNumber !== header.number || log.blockHash !== header.hash) {
    throw malformedResponse(`got a log of block ${log.blockHash} for block ${header.hash}`);
  }
  if (log.blockTimestamp !== null && log.blockTimestamp !== header.timestamp) {
    throw malformedResponse(`a log and its block ${header.number} have different times`);
  }
  if (bloom === "complete" && !bloomMayContainLog(header.logsBloom, log)) {
    throw malformedResponse(`the bloom of block ${header.number} does not contain log ${log.logIndex}`);
  }
}

// A few batches. Receipts settle single suspicious blocks; larger ones have blooms too full to be suspicious.
const TRANSACTIONS_MAX = 500;

/**
 * Logs from receipts, another source inside a node than its log index: the matching ones by block number, in order;
 * without the blocks whose receipts the node cannot show.
 */
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

export type TopicFilter = {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** The topics at each position: one of these, or null for any. */
  readonly topics: readonly (readonly Hex[] | null)[];
  /** Only logs of these contracts; of any contract when absent. */
  readonly contracts?: readonly Hex[];
};

/** Ascending by position. */
export function topicLogsCall({ fromBlock, toBlock, topics, contracts }: TopicFilter): RpcCall<NodeLog[]> {
  const range = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
  // A single one without a list around it: the form that every node knows.
  const toParam = (allowed: readonly Hex[] | null) => (allowed?.length === 1 ? allowed[0] : allowed);
  const emitters = contracts === undefined ? {} : { address: toParam(contracts) };
  const allowedContracts = contracts && new Set(contracts);
  const params = topics.map(toParam);
  return getLogsCall({ ...range, ...emitters, topics: params }, (list) => {
    const logs = list.map(parseLog);
    for (const log of logs) {
      const isOfContract = allowedContracts === undefined || allowedContracts.has(log.address);
      const hasTopics = topics.every(
        (allowed, i) => allowed === null || allowed.includes(log.topics[i] ?? "0x"),
      );
      if (!isOfContract || !hasTopics) throw malformedResponse(`a log of ${log.address} was not requested`);
      if (log.blockNumber < fromBlock || log.blockNumber > toBlock) {
        throw malformedResponse(`a log lies outside of blocks ${fromBlock} to ${toBlock}`);
      }
    }
    return logs.sort(compareLogPositions);
  });
}

/** keccak256 of Transfer(address,address,uint256), which ERC-20 and ERC-721 share. */
export const TRANSFER_TOPIC: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** Chains with EIP-7708 log transfers of the native coin from this address, which has no code and no key. */
export const NATIVE_TRANSFERS: Hex = `0x${"ff".repeat(19)}fe`;

export type TransferFilter = {
  readonly wallet: Hex;
  readonly side: "from" | "to";
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Only transfers of this contract; of any contract when absent. */
  readonly contract?: Hex;
};

export type TokenTransfer = {
  readonly log: NodeLog;
  readonly from: Hex;
  readonly to: Hex;
  /** ERC-721 puts the token id into a fourth topic; ERC-20 has three. */
  readonly isErc721: boolean;
  /** Null for ERC-20. */
  readonly tokenId: bigint | null;
};

/** The call that reads one side of an account's transfers; ascending by position. */
export function transfersCall({
  wallet,
  side,
  contract,
  ...range
}: TransferFilter): RpcCall<TokenTransfer[]> {
  const account = [addressToTopic(wallet)];
  const topics = side === "from" ? [[TRANSFER_TOPIC], account] : [[TRANSFER_TOPIC], null, account];
  const call = topicLogsCall({ ...range, topics, ...(contract && { contracts: [contract] }) });
  return { ...call, parse: (result) => call.parse(result).flatMap(toTransfer) };
}

// Anyone may emit this topic with any data: a log that does not name two accounts is not a transfer.
function toTransfer(log: NodeLog): TokenTransfer[] {
  const [from, to] = [topicToAddress(log.topics[1]), topicToAddress(log.topics[2])];
  if (from === null || to === null) return [];
  const [, , , id] = log.topics;
  return [{ log, from, to, isErc721: id !== undefined, tokenId: id === undefined ? null : BigInt(id) }];
}
