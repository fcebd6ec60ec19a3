// The chain's proof of a settlement: which blocks are canonical, which transfers the logs of a block or receipt show.

import { headerCall, readHeader } from "../../chain/headers.ts";
import { TRANSFER_TOPIC } from "../../chain/logs/get-logs.ts";
import { type NodeLog, parseLog } from "../../chain/logs/log.ts";
import { malformedResponse, missingResult } from "../../chain/rpc/errors.ts";
import { readHash, readObject } from "../../chain/rpc/hex-values.ts";
import { type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "../../chain/rpc/types.ts";
import { createParametersCodec, hashEvent } from "../../lib/abi/codec.ts";
import { addressToTopic } from "../../lib/abi/words.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BlockId } from "../../schema/chain-log.ts";
import type { BlockComparison, BlockTransferQuery, ExpectedTransfer, TransferFound } from "./lookup.ts";

/** Reads from one node, below a head that it has before and after. */
export async function findBlocksOnChain(
  rpc: Rpc,
  blocks: readonly BlockId[],
  options: RpcCallOptions,
): Promise<BlockComparison> {
  return rpc.pinned(async (node) => {
    const { number, hash, timestamp } = await readHeader(node, "latest", options);
    const below = blocks.filter((block) => block.number <= number);
    const numbers = [...new Set(below.map((block) => block.number))];
    const headers = unwrapResults(await node.batch(numbers.map(headerCall), options));
    const hashes = new Map(headers.map((header) => [header.number, header.hash]));
    if ((await readHeader(node, number, options)).hash !== hash) {
      throw missingResult("the chain changed while its blocks were compared");
    }
    const canonical = new Set<Hex>();
    const orphaned = new Set<Hex>();
    for (const block of below)
      (hashes.get(block.number) === block.hash ? canonical : orphaned).add(block.hash);
    return { head: { number, hash, timestamp }, canonical, orphaned };
  }, options);
}

// Some vendors reject long lists of topics; a block seldom holds more payments of ours.
const PAYMENTS_PER_QUERY = 100;

/** The logs of every block in one batch, however many payments are in it. */
export async function readAuthorizationTransfers(
  rpc: Rpc,
  blocks: readonly BlockTransferQuery[],
  options: RpcCallOptions,
): Promise<readonly (readonly (Hex | null)[])[]> {
  const parts = blocks.flatMap(({ block, transfers: wanted }, index) =>
    splitIntoChunks(wanted, PAYMENTS_PER_QUERY).map((chunk) => ({ index, block, wanted: chunk })),
  );
  const calls = parts.flatMap(({ block, wanted }) => logCalls(block, wanted));
  const lists = unwrapResults(await rpc.batch(calls, options));
  const found: (Hex | null)[][] = blocks.map(() => []);
  for (const [i, { index, wanted }] of parts.entries()) {
    const logs = [...(lists[2 * i] ?? []), ...(lists[2 * i + 1] ?? [])];
    found[index]?.push(...transactionsOf(logs, wanted));
  }
  return found;
}

/** Two calls: the uses of these authorizations in this block, and the transfers between these accounts. */
function logCalls(block: BlockId, wanted: readonly ExpectedTransfer[]): readonly RpcCall<NodeLog[]>[] {
  const distinct = (values: readonly Hex[]) => [...new Set(values)];
  const payers = distinct(wanted.map(({ from }) => addressToTopic(from)));
  const nonces = distinct(wanted.map(({ nonce }) => nonce));
  const payees = distinct(wanted.map(({ to }) => addressToTopic(to)));
  const address = distinct(wanted.map(({ asset }) => asset));
  return [
    [[AUTHORIZATION_USED_TOPIC], payers, nonces],
    [[TRANSFER_TOPIC], payers, payees],
  ].map((topics) => ({
    method: "eth_getLogs",
    params: [{ blockHash: block.hash, address, topics }],
    parse: (result) => parseBlockLogs(result, block),
  }));
}

function parseBlockLogs(result: unknown, { number, hash }: BlockId): NodeLog[] {
  if (!Array.isArray(result)) throw malformedResponse("the logs are not a list");
  const logs = result.map(parseLog);
  if (logs.some(({ blockNumber, blockHash }) => blockNumber !== number || blockHash !== hash)) {
    throw malformedResponse(`a log of another block was given for block ${hash}`);
  }
  return logs;
}

/**
 * Not all logs of the token are read, so only the log right after the use counts as its transfer. If a token logs in
 * between, the receipt has to be read.
 */
function transactionsOf(
  logs: readonly NodeLog[],
  wanted: readonly ExpectedTransfer[],
): readonly (Hex | null)[] {
  const useKey = (payer: Hex | undefined, nonce: Hex | undefined) => `${payer}:${nonce}`;
  const uses = new Map<string, NodeLog>();
  const byIndex = new Map<number, NodeLog>();
  for (const log of logs) {
    if (log.topics[0] === AUTHORIZATION_USED_TOPIC) uses.set(useKey(log.topics[1], log.topics[2]), log);
    else byIndex.set(log.logIndex, log);
  }
  return wanted.map((each) => {
    const use = uses.get(useKey(addressToTopic(each.from), each.nonce));
    const next = use && byIndex.get(use.logIndex + 1);
    if (!use || !next || use.address !== each.asset || next.address !== each.asset) return null;
    return next.transactionHash === use.transactionHash && isAuthorizedTransfer(next, each)
      ? use.transactionHash
      : null;
  });
}

export const AUTHORIZATION_USED_TOPIC = hashEvent("AuthorizationUsed(address,bytes32)");
export const AUTHORIZATION_CANCELED_TOPIC = hashEvent("AuthorizationCanceled(address,bytes32)");

/** The logs of a mined transaction, in order; a reverted one has none. Null if the node does not have it. */
export async function readTransactionLogs(
  rpc: Rpc,
  transaction: Hex,
  options: RpcCallOptions,
): Promise<readonly NodeLog[] | null> {
  const parse = (receipt: unknown) => (receipt === null ? null : parseReceiptLogs(receipt, transaction));
  return rpc.request({ method: "eth_getTransactionReceipt", params: [transaction], parse }, options);
}

function parseReceiptLogs(receipt: unknown, transaction: Hex): NodeLog[] {
  const { logs, transactionHash } = readObject(receipt, "the receipt");
  if (readHash(transactionHash, "the transaction hash of a receipt") !== transaction) {
    throw malformedResponse("the receipt is of another transaction");
  }
  if (!Array.isArray(logs)) throw malformedResponse("the logs of a receipt are not a list");
  const parsed = logs.map(parseLog);
  if (parsed.some(({ transactionHash: hash }) => hash !== transaction)) {
    throw malformedResponse("a log of a receipt is of another transaction");
  }
  return parsed.sort((a, b) => a.logIndex - b.logIndex);
}

/** The log of the use of the authorization; null without one. */
export function findAuthorizationUse(
  logs: readonly NodeLog[],
  { asset, from, nonce }: ExpectedTransfer,
): NodeLog | null {
  const isUse = ({ address, topics }: NodeLog) =>
    address === asset &&
    topics[0] === AUTHORIZATION_USED_TOPIC &&
    topics[1] === addressToTopic(from) &&
    topics[2] === nonce;
  return logs.find(isUse) ?? null;
}

/**
 * The token's next log after the use must be the transfer itself. "Somewhere in the same transaction" is not enough: a
 * payer could use two nonces there and have one transfer counted for both. Without any next log of the token nothing is
 * known: every use by a transfer has one, so the node omitted it.
 */
export function findAuthorizedTransfer(
  logs: readonly NodeLog[],
  wanted: ExpectedTransfer,
  used: NodeLog,
): TransferFound | null {
  const next = logs.find((log) => log.address === wanted.asset && log.logIndex > used.logIndex);
  if (next === undefined) throw missingResult("the log of a transfer is not in its receipt");
  if (!isAuthorizedTransfer(next, wanted)) return null;
  const block = { number: used.blockNumber, hash: used.blockHash };
  return { kind: "transferred", transaction: used.transactionHash, block };
}

const amount = createParametersCodec([{ type: "uint256" }]);

function isAuthorizedTransfer({ topics, data }: NodeLog, { from, to, value }: ExpectedTransfer): boolean {
  return (
    topics[0] === TRANSFER_TOPIC &&
    topics[1] === addressToTopic(from) &&
    topics[2] === addressToTopic(to) &&
    data === amount.encode([value])
  );
}
