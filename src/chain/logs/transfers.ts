// Token transfers of one account: logs of any contract by sender or receiver, checked against the filter.
import { addressToTopic, topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { RpcCall } from "../rpc/types.ts";
import type { NodeLog } from "./log.ts";
import { topicLogsCall } from "./topic-logs.ts";

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
