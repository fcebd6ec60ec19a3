// Payment channels as their payer knows them: the contract, the id of a channel, and what is signed for it.
import { encodeAbiParameters, hashTypedData, keccak256 } from "viem/utils";

type Hex = `0x${string}`;

/** The contracts of the x402 scheme batch-settlement, at the same addresses on every chain. */
export const CHANNEL_CONTRACT: Hex = "0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003";
export const DEPOSIT_COLLECTOR: Hex = "0x4020806089470a89826cb9fb1f4059150b550004";

/** The parties and rules of a channel, which never change: its id is their digest. Addresses are lower case. */
export type ChannelConfig = {
  readonly payer: Hex;
  /** The key that signs vouchers. */
  readonly payerAuthorizer: Hex;
  readonly receiver: Hex;
  readonly receiverAuthorizer: Hex;
  readonly token: Hex;
  /** Seconds. */
  readonly withdrawDelay: number;
  readonly salt: Hex;
};

export const CHANNEL_CONFIG_FIELDS = [
  { name: "payer", type: "address" },
  { name: "payerAuthorizer", type: "address" },
  { name: "receiver", type: "address" },
  { name: "receiverAuthorizer", type: "address" },
  { name: "token", type: "address" },
  { name: "withdrawDelay", type: "uint40" },
  { name: "salt", type: "bytes32" },
] as const;
const CONFIG_TYPES = { ChannelConfig: CHANNEL_CONFIG_FIELDS } as const;
const VOUCHER_TYPES = {
  Voucher: [
    { name: "channelId", type: "bytes32" },
    { name: "maxClaimableAmount", type: "uint128" },
  ],
} as const;

function domainOf(network: string) {
  const chainId = Number(network.slice("eip155:".length));
  return {
    name: "x402 Batch Settlement",
    version: "1",
    chainId,
    verifyingContract: CHANNEL_CONTRACT,
  } as const;
}

export function channelIdOf(network: string, config: ChannelConfig): Hex {
  const primaryType = "ChannelConfig";
  return hashTypedData({ domain: domainOf(network), types: CONFIG_TYPES, primaryType, message: config });
}

/** All that may be claimed of the channel in total. */
export function voucherTypedData(network: string, channelId: Hex, maxClaimableAmount: bigint) {
  const message = { channelId, maxClaimableAmount };
  return { domain: domainOf(network), primaryType: "Voucher", types: VOUCHER_TYPES, message } as const;
}

/** The EIP-3009 nonce of a deposit, which binds it to its channel. */
export function depositNonceOf(channelId: Hex, salt: Hex): Hex {
  return keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "bytes32" }], [channelId, salt]));
}
