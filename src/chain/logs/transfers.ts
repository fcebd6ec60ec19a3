// Token transfers of one account: logs of any contract by sender or receiver, each checked against the question.
import type { Hex } from "../../lib/hex.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { toQuantity } from "../rpc/hex-values.ts";
import type { RpcCall } from "../rpc/types.ts";
import { compareLogPositions, type NodeLog, parseLog } from "./log.ts";

/** keccak256 of Transfer(address,address,uint256), which ERC-20 and ERC-721 share. */
export const TRANSFER_TOPIC: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

export type TransferFilter = {
  readonly wallet: Hex;
  readonly side: "from" | "to";
  readonly fromBlock: number;
  readonly toBlock: number;
};

export type TokenTransfer = {
  readonly log: NodeLog;
  readonly from: Hex;
  readonly to: Hex;
  /** ERC-721 puts the token id into a fourth topic; ERC-20 has three. */
  readonly isErc721: boolean;
};

/** The call that reads one side of an account's transfers; ascending by position. */
export function transfersCall(filter: TransferFilter): RpcCall<TokenTransfer[]> {
  const { fromBlock, toBlock } = filter;
  const account: Hex = `0x${"0".repeat(24)}${filter.wallet.slice(2).toLowerCase()}`;
  const place = filter.side === "from" ? 1 : 2;
  const topics = place === 1 ? [TRANSFER_TOPIC, account] : [TRANSFER_TOPIC, null, account];
  return {
    method: "eth_getLogs",
    params: [{ fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock), topics }],
    parse: (answer) => {
      if (!Array.isArray(answer)) throw malformedResponse("the logs are not a list");
      const logs = answer.map(parseLog);
      for (const log of logs) {
        if (log.topics[0] !== TRANSFER_TOPIC || log.topics[place] !== account) {
          throw malformedResponse(`a log of ${log.address} was not asked for`);
        }
        if (log.blockNumber < fromBlock || log.blockNumber > toBlock) {
          throw malformedResponse(`a log lies outside of blocks ${fromBlock} to ${toBlock}`);
        }
      }
      return logs.sort(compareLogPositions).flatMap(asTransfer);
    },
  };
}

// Anyone may emit this topic with anything beside it: what does not name two accounts is no transfer.
function asTransfer(log: NodeLog): TokenTransfer[] {
  const [from, to] = [accountOf(log.topics[1]), accountOf(log.topics[2])];
  if (from === null || to === null) return [];
  return [{ log, from, to, isErc721: log.topics.length > 3 }];
}

function accountOf(topic: Hex | undefined): Hex | null {
  return topic?.startsWith(`0x${"0".repeat(24)}`) ? `0x${topic.slice(26)}` : null;
}
