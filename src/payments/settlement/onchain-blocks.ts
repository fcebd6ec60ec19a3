// Settlement lookup by block: which blocks are still canonical, and which transfers the logs of a block prove.

import { headerCall, readHeader } from "../../chain/headers.ts";
import { type NodeLog, parseLog } from "../../chain/logs/log.ts";
import { TRANSFER_TOPIC } from "../../chain/logs/transfers.ts";
import { malformedResponse, missingResult } from "../../chain/rpc/errors.ts";
import { type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "../../chain/rpc/types.ts";
import { addressToTopic } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BlockComparison, BlockId, BlockTransferQuery, ExpectedTransfer } from "./lookup.ts";
import { AUTHORIZATION_USED_TOPIC, isAuthorizedTransfer } from "./onchain-receipt.ts";

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
    chunksOf(wanted).map((chunk) => ({ index, block, wanted: chunk })),
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

function chunksOf(wanted: readonly ExpectedTransfer[]): readonly (readonly ExpectedTransfer[])[] {
  const count = Math.ceil(wanted.length / PAYMENTS_PER_QUERY);
  return Array.from({ length: count }, (_, i) =>
    wanted.slice(i * PAYMENTS_PER_QUERY, (i + 1) * PAYMENTS_PER_QUERY),
  );
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
 * Not all logs of the token are read, so only the log right after the use counts as its transfer. Where a token logs
 * in between, the receipt has to be read.
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
