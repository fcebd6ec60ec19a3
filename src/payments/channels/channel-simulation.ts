// Calls of the contract of channels, tried and looked up at our own node: it needs no facilitator for either.
import { callContracts } from "../../chain/contract-calls.ts";
import { malformedResponse } from "../../chain/rpc/errors.ts";
import { readObject } from "../../chain/rpc/hex-values.ts";
import type { Rpc, RpcCall } from "../../chain/rpc/types.ts";
import type { Hex } from "../../lib/hex.ts";
import { CHANNEL_CONTRACT } from "./channel-config.ts";
import type { ChannelSender } from "./channel-sender.ts";

/** Whether the call would succeed now, from any account. */
export async function wouldCallSucceed(rpc: Rpc, data: Hex, gasMax: number): Promise<boolean> {
  const call = { to: CHANNEL_CONTRACT, data, block: "latest", gasMax } as const;
  const [result] = await callContracts(rpc, [call]);
  if (result === undefined) throw malformedResponse("a node left a call out");
  return "ok" in result;
}

export async function readTransactionStatus(rpc: Rpc, hash: Hex): ReturnType<ChannelSender["readStatus"]> {
  const receipt: RpcCall<"mined" | "reverted" | null> = {
    method: "eth_getTransactionReceipt",
    params: [hash],
    parse: (result) => {
      if (result === null) return null;
      return readObject(result, "the receipt").status === "0x1" ? "mined" : "reverted";
    },
  };
  const mined = await rpc.request(receipt);
  if (mined !== null) return mined;
  const known: RpcCall<boolean> = {
    method: "eth_getTransactionByHash",
    params: [hash],
    parse: (result) => result !== null,
  };
  return (await rpc.request(known)) ? "pending" : "missing";
}
