// Reads channels from the contract by a node of the caller's choice.
import { encodeFunctionData } from "viem/utils";
import { SextantError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import type { ChannelEntry } from "../journal/channel-book.ts";
import { callNode, readBlock, readQuantity, type Source } from "../payments/charge-proof.ts";
import { CHANNEL_CONTRACT } from "./channel-typed-data.ts";

const view = (name: string, outputs: readonly string[]) =>
  ({
    type: "function",
    name,
    stateMutability: "view",
    inputs: [{ name: "channelId", type: "bytes32" }],
    outputs: outputs.map((type) => ({ name: "", type })),
  }) as const;
const CHANNELS = view("channels", ["uint128", "uint128"]);
const WITHDRAWALS = view("pendingWithdrawals", ["uint128", "uint40"]);
const TWO_WORDS = /^0x([0-9a-f]{64})([0-9a-f]{64})$/;

/** The contract of every chain that recovers signers. */
const RECOVERY = "0x0000000000000000000000000000000000000001";
const SIGNATURE = /^0x([0-9a-f]{128})(1b|1c)$/;
const ADDRESS_WORD = /^0x0{24}([0-9a-f]{40})$/;

/** The address whose key signed; null for what is not a signature. */
export async function recoverByNode(
  transport: Transport,
  source: Source,
  digest: string,
  signature: string,
): Promise<string | null> {
  const [, words, v] = SIGNATURE.exec(signature.toLowerCase()) ?? [];
  if (words === undefined || v === undefined) return null;
  const data = `${digest}${v.padStart(64, "0")}${words}`;
  const found = await callNode(transport, source, "eth_call", [{ to: RECOVERY, data }, "latest"]);
  const [, address] = ADDRESS_WORD.exec(String(found)) ?? [];
  return address === undefined ? null : `0x${address}`;
}

/** A channel in the contract. */
export type ChannelOnChain = {
  /** Without what was returned; claims do not lower it. */
  readonly balance: bigint;
  readonly totalClaimed: bigint;
  readonly withdrawAmount: bigint;
  /** Unix seconds of the chain; 0 without a withdrawal. */
  readonly withdrawStarted: number;
  /** The time of the block. */
  readonly time: bigint;
  readonly block: string;
};

export async function readChannel(
  transport: Transport,
  source: Source,
  { id, network }: Pick<ChannelEntry, "id" | "network">,
  tag: "latest" | "finalized",
): Promise<ChannelOnChain> {
  const call = (method: string, params: readonly unknown[]) => callNode(transport, source, method, params);
  const found = `eip155:${readQuantity(await call("eth_chainId", []))}`;
  if (found !== network) {
    throw new SextantError("NOT_CONFIGURED", `guard.node is of ${found}, the channel of ${network}.`);
  }
  const { number: block, time } = await readBlock(call, tag);
  const read = async (abi: typeof CHANNELS) => {
    const data = encodeFunctionData({ abi: [abi], functionName: abi.name, args: [id] });
    const words = await call("eth_call", [{ to: CHANNEL_CONTRACT, data }, block]);
    const [, first, second] = TWO_WORDS.exec(String(words)) ?? [];
    // The final block of a young chain may be older than the contract.
    if (words === "0x" && tag === "finalized") return [0n, 0n] as const;
    if (first !== undefined && second !== undefined)
      return [BigInt(`0x${first}`), BigInt(`0x${second}`)] as const;
    throw new SextantError("RESPONSE_INVALID", "guard.node sent no state of the channel.");
  };
  const [balance, totalClaimed] = await read(CHANNELS);
  const [withdrawAmount, started] = await read(WITHDRAWALS);
  return { balance, totalClaimed, withdrawAmount, withdrawStarted: Number(started), time, block };
}
