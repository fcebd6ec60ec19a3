// Logs of any contract by their topics, in a range of blocks, checked against what was requested; and token transfers.

import { addressToTopic, topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { toQuantity } from "../rpc/hex-values.ts";
import type { RpcCall } from "../rpc/types.ts";
import { getLogsCall } from "./get-logs.ts";
import { compareLogPositions, type NodeLog, parseLog } from "./log.ts";

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
