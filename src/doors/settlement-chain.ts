// The chain as the payments need it, over the JSON-RPC client: was an authorization used, and did its use move the money.
import { decodeFunctionResult, encodeFunctionData, parseAbi, toEventSelector } from "viem";
import { malformed, missing } from "../chain/bad-answer.ts";
import { readHeader } from "../chain/blocks.ts";
import { callBatch } from "../chain/calls.ts";
import { readFinalized } from "../chain/finality.ts";
import { type NodeLog, parseLog } from "../chain/log.ts";
import { readObject, toQuantity } from "../chain/quantity.ts";
import type { CallOptions, PinnedRpc, Rpc } from "../chain/rpc/call.ts";
import { TRANSFER_TOPIC } from "../chain/transfers.ts";
import type { Hex } from "../kit/hex.ts";
import type { Block, Evidence, SettlementChain, TransferWanted } from "../payments/settlement-chain.ts";

const ABI = parseAbi(["function authorizationState(address authorizer, bytes32 nonce) view returns (bool)"]);
const USED = toEventSelector("AuthorizationUsed(address,bytes32)");
const CANCELED = toEventSelector("AuthorizationCanceled(address,bytes32)");

// Accepted by every vendor; a reconciliation looks back over minutes, seldom over more than one such range.
const RANGE_MAX = 2_000;

export function settlementChain(
  rpc: Rpc,
  options: { readonly finalityDepth: number; readonly finalityDepthMin: number },
): SettlementChain {
  const finality = { depthFallback: options.finalityDepth, depthMin: options.finalityDepthMin };
  return {
    findSettlement: (wanted, signal) => {
      const call = callOptions(signal);
      return rpc.pinned((node) => findOn(node, wanted, call), call);
    },
    head: async (signal) => blockOf(await readHeader(rpc, "latest", callOptions(signal))),
    finalized: async (signal) => blockOf(await readFinalized(rpc, { ...finality, ...callOptions(signal) })),
  };
}

const callOptions = (signal: AbortSignal | undefined): CallOptions => (signal ? { signal } : {});

const blockOf = ({ number, timestamp }: Block): Block => ({ number, timestamp });

type Authorization = Pick<TransferWanted, "asset" | "from" | "nonce">;

async function isUsed(
  node: PinnedRpc,
  { asset, from, nonce }: Authorization,
  blockHash: Hex,
  options: CallOptions,
): Promise<boolean> {
  const data = encodeFunctionData({ abi: ABI, functionName: "authorizationState", args: [from, nonce] });
  const [result] = await callBatch(node, [{ to: asset, data, block: { blockHash } }], options);
  if (!result || !("ok" in result)) throw malformed("the token does not tell the state of authorizations");
  return decodeFunctionResult({ abi: ABI, functionName: "authorizationState", data: result.ok });
}

/** From one node and as of one block, so that its answers belong together. */
async function findOn(node: PinnedRpc, wanted: TransferWanted, options: CallOptions): Promise<Evidence> {
  const head = await readHeader(node, "latest", options);
  if (!(await isUsed(node, wanted, head.hash, options))) return { kind: "unused" };
  for (let to = head.number; to >= 0; to -= RANGE_MAX) {
    const from = Math.max(0, to - RANGE_MAX + 1);
    const [log] = await readLogs(node, wanted, { from, to }, options);
    if (log) return log.topics[0] === USED ? judged(node, wanted, log, options) : { kind: "spent" };
    if ((await readHeader(node, from, options)).timestamp < wanted.sinceSeconds) break;
  }
  // The token says that it was used, so there is a log: a node that does not show it is behind itself.
  throw missing("the use of an authorization is not in the logs");
}

async function readLogs(
  node: PinnedRpc,
  { asset, from: payer, nonce }: Authorization,
  { from, to }: { from: number; to: number },
  options: CallOptions,
): Promise<NodeLog[]> {
  const filter = {
    address: asset,
    topics: [[USED, CANCELED], word(payer), nonce],
    fromBlock: toQuantity(from),
    toBlock: toQuantity(to),
  };
  return node.request("eth_getLogs", [filter], {
    ...options,
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
  options: CallOptions,
): Promise<Evidence> {
  const logs = await node.request("eth_getTransactionReceipt", [used.transactionHash], {
    ...options,
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
    next.topics[0] === TRANSFER_TOPIC &&
    next.topics[1] === word(wanted.from) &&
    next.topics[2] === word(wanted.to) &&
    next.data === `0x${wanted.value.toString(16).padStart(64, "0")}`;
  if (!isTransfer) return { kind: "spent" };
  return { kind: "transferred", transaction: used.transactionHash, blockNumber: used.blockNumber };
}

function word(address: Hex): Hex {
  return `0x${address.slice(2).padStart(64, "0")}`;
}
