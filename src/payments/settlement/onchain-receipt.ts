// What one transaction did with an authorization, read from its receipt.
import { toEventSelector } from "viem";
import { type NodeLog, parseLog } from "../../chain/logs/log.ts";
import { TRANSFER_TOPIC } from "../../chain/logs/transfers.ts";
import { malformedResponse, missingResult } from "../../chain/rpc/errors.ts";
import { readHash, readObject } from "../../chain/rpc/hex-values.ts";
import type { Rpc, RpcCallOptions } from "../../chain/rpc/types.ts";
import { createParametersCodec } from "../../lib/abi/codec.ts";
import { addressToTopic } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ExpectedTransfer, TransferFound } from "./lookup.ts";

export const AUTHORIZATION_USED_TOPIC = toEventSelector("AuthorizationUsed(address,bytes32)");
export const AUTHORIZATION_CANCELED_TOPIC = toEventSelector("AuthorizationCanceled(address,bytes32)");

/** The logs of a mined transaction, in order; a reverted one has none. Null where the node does not have it. */
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

export function isAuthorizedTransfer(
  { topics, data }: NodeLog,
  { from, to, value }: ExpectedTransfer,
): boolean {
  return (
    topics[0] === TRANSFER_TOPIC &&
    topics[1] === addressToTopic(from) &&
    topics[2] === addressToTopic(to) &&
    data === amount.encode([value])
  );
}
