// The chain as the payments need it, over the JSON-RPC client: was an authorization used, and did its use move the money.
import { decodeFunctionResult, encodeFunctionData, parseAbi, toEventSelector } from "viem";
import { malformed, missing } from "../chain/bad-answer.ts";
import { readHeader } from "../chain/blocks.ts";
import { callBatch } from "../chain/calls.ts";
import { readFinalized } from "../chain/finality.ts";
import { type NodeLog, parseLog } from "../chain/log.ts";
import { readObject, toQuantity } from "../chain/quantity.ts";
import type { PinnedRpc, Rpc } from "../chain/rpc/call.ts";
import type { Hex } from "../kit/hex.ts";
import type { Block, Evidence, SettlementChain, TransferWanted } from "../payments/settlement-chain.ts";

const ABI = parseAbi(["function authorizationState(address authorizer, bytes32 nonce) view returns (bool)"]);
const USED = toEventSelector("AuthorizationUsed(address,bytes32)");
const CANCELED = toEventSelector("AuthorizationCanceled(address,bytes32)");
const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

// Accepted by every vendor; a reconciliation looks back over minutes, seldom over more than one such range.
const RANGE_MAX = 2_000;

export function settlementChain(rpc: Rpc, options: { readonly finalityDepth: number }): SettlementChain {
  const finality = { depthFallback: options.finalityDepth };
  return {
    authorizationUsed: (asset, from, nonce, signal) =>
      rpc.pinned((node) => readState(node, { asset, from, nonce }, signal), signal ? { signal } : {}),
    findSettlement: (wanted, signal) =>
      rpc.pinned((node) => findOn(node, wanted, signal), signal ? { signal } : {}),
    head: async (signal) => blockOf(await readHeader(rpc, "latest", signal ? { signal } : {})),
    finalized: async (signal) =>
      blockOf(await readFinalized(rpc, signal ? { ...finality, signal } : finality)),
  };
}

const blockOf = ({ number, timestamp }: Block): Block => ({ number, timestamp });

type Authorization = Pick<TransferWanted, "asset" | "from" | "nonce">;

async function readState(
  node: PinnedRpc,
  { asset, from, nonce }: Authorization,
  signal?: AbortSignal,
): Promise<boolean> {
  const head = await readHeader(node, "latest", signal ? { signal } : {});
  return stateAt(node, { asset, from, nonce }, head.hash, signal);
}

async function stateAt(
  node: PinnedRpc,
  { asset, from, nonce }: Authorization,
  blockHash: Hex,
  signal?: AbortSignal,
): Promise<boolean> {
  const data = encodeFunctionData({ abi: ABI, functionName: "authorizationState", args: [from, nonce] });
  const [result] = await callBatch(
    node,
    [{ to: asset, data, block: { blockHash } }],
    signal ? { signal } : {},
  );
  if (!result || !("ok" in result)) throw malformed("the token does not tell the state of authorizations");
  return decodeFunctionResult({ abi: ABI, functionName: "authorizationState", data: result.ok });
}

/** From one node and as of one block, so that its answers belong together. */
async function findOn(node: PinnedRpc, wanted: TransferWanted, signal?: AbortSignal): Promise<Evidence> {
  const head = await readHeader(node, "latest", signal ? { signal } : {});
  if (!(await stateAt(node, wanted, head.hash, signal))) return { kind: "unused" };
  for (let to = head.number; to >= 0; to -= RANGE_MAX) {
    const from = Math.max(0, to - RANGE_MAX + 1);
    const [log] = await readLogs(node, wanted, { from, to }, signal);
    if (log) return log.topics[0] === USED ? judged(node, wanted, log, signal) : { kind: "spent" };
    if ((await readHeader(node, from, signal ? { signal } : {})).timestamp < wanted.sinceSeconds) break;
  }
  // The token says that it was used, so there is a log: a node that does not show it is behind itself.
  throw missing("the use of an authorization is not in the logs");
}

async function readLogs(
  node: PinnedRpc,
  { asset, from: payer, nonce }: Authorization,
  { from, to }: { from: number; to: number },
  signal?: AbortSignal,
): Promise<NodeLog[]> {
  const filter = {
    address: asset,
    topics: [[USED, CANCELED], word(payer), nonce],
    fromBlock: toQuantity(from),
    toBlock: toQuantity(to),
  };
  return node.request("eth_getLogs", [filter], {
    ...(signal ? { signal } : {}),
    parse: (answer) => {
      if (!Array.isArray(answer)) throw malformed("the logs are not a list");
      const logs = answer.map(parseLog);
      const asked = (log: NodeLog) =>
        log.address === asset && log.topics[1] === word(payer) && log.topics[2] === nonce;
      if (!logs.every(asked)) throw malformed("a log was not asked for");
      return logs;
    },
  });
}

/**
 * The token's next log after the use must be the transfer itself. "Somewhere in the same transaction" would not do: a
 * payer could use two nonces there, one for himself and one for us, and have the one transfer counted for both.
 */
async function judged(
  node: PinnedRpc,
  wanted: TransferWanted,
  used: NodeLog,
  signal?: AbortSignal,
): Promise<Evidence> {
  const logs = await node.request("eth_getTransactionReceipt", [used.transactionHash], {
    ...(signal ? { signal } : {}),
    parse: (answer) => {
      if (answer === null) throw missing("the transaction of a log is not there");
      const { logs } = readObject(answer, "the receipt");
      if (!Array.isArray(logs)) throw malformed("the logs of a receipt are not a list");
      return logs.map(parseLog);
    },
  });
  const next = logs
    .filter((log) => log.address === wanted.asset && log.logIndex > used.logIndex)
    .sort((a, b) => a.logIndex - b.logIndex)[0];
  const isTransfer =
    next !== undefined &&
    next.topics[0] === TRANSFER &&
    next.topics[1] === word(wanted.from) &&
    next.topics[2] === word(wanted.to) &&
    next.data === `0x${wanted.value.toString(16).padStart(64, "0")}`;
  if (!isTransfer) return { kind: "spent" };
  return { kind: "transferred", transaction: used.transactionHash, blockNumber: used.blockNumber };
}

function word(address: Hex): Hex {
  return `0x${address.slice(2).padStart(64, "0")}`;
}
