// Payment channels on a real EVM with a dollar token, keys of both sides, and everything that these keys sign.

import { type LocalAccount, localAccount } from "@sextant/local-chain/accounts";
import {
  type Address,
  concat,
  encodeAbiParameters,
  type Hex,
  hashTypedData,
  keccak256,
  numberToHex,
  pad,
  zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { CHANNEL_CONTRACTS, LOCAL_GENESIS_CODE } from "../deploy/deploy.ts";
import { batchSettlementAbi } from "../generated/batch-settlement.ts";
import { usdCoinAbi, usdCoinBytecode } from "../generated/usd-coin.ts";
import { permit2RuntimeBytecode } from "../published/permit2.ts";
import { actorBytecode, crookedTokenAbi, puppetAbi, smartWalletAbi } from "./actor-contracts.ts";
import { EVM_CHAIN_ID, startEvm } from "./evm.ts";
import { signAuthorization, usdDomain } from "./usd-authorizations.ts";

export const PERMIT2_ADDRESS: Address = "0x000000000022D473030F116dDEE9F6B43aC78BA3";

const wordOf = (value: number) => pad(numberToHex(value)).slice(2);
// The published code remembers the domain of chain 31337 at another address, where it was built. With chain 0 in its
// place it computes the domain.
const permit2Code = permit2RuntimeBytecode.replaceAll(wordOf(EVM_CHAIN_ID), wordOf(0)) as Hex;

/** Tokens of every payer when a test starts: a channel may hold half of it twice over and overflow. */
export const PAYER_DOLLARS = 2n ** 129n;

export type ChannelConfig = {
  readonly payer: Address;
  readonly payerAuthorizer: Address;
  readonly receiver: Address;
  readonly receiverAuthorizer: Address;
  readonly token: Address;
  readonly withdrawDelay: number;
  readonly salt: Hex;
};

export type VoucherClaim = {
  readonly voucher: { readonly channel: ChannelConfig; readonly maxClaimableAmount: bigint };
  readonly signature: Hex;
  readonly totalClaimed: bigint;
};

export const CHANNEL_DOMAIN = {
  name: "x402 Batch Settlement",
  version: "1",
  chainId: EVM_CHAIN_ID,
  verifyingContract: CHANNEL_CONTRACTS.settlement,
} as const;

const CHANNEL_TYPES = {
  ChannelConfig: [
    { name: "payer", type: "address" },
    { name: "payerAuthorizer", type: "address" },
    { name: "receiver", type: "address" },
    { name: "receiverAuthorizer", type: "address" },
    { name: "token", type: "address" },
    { name: "withdrawDelay", type: "uint40" },
    { name: "salt", type: "bytes32" },
  ],
  Voucher: [
    { name: "channelId", type: "bytes32" },
    { name: "maxClaimableAmount", type: "uint128" },
  ],
  Refund: [
    { name: "channelId", type: "bytes32" },
    { name: "nonce", type: "uint256" },
    { name: "amount", type: "uint128" },
  ],
  ClaimBatch: [{ name: "claims", type: "ClaimEntry[]" }],
  ClaimEntry: [
    { name: "channelId", type: "bytes32" },
    { name: "maxClaimableAmount", type: "uint128" },
    { name: "totalClaimed", type: "uint128" },
  ],
} as const;

const typed = { domain: CHANNEL_DOMAIN, types: CHANNEL_TYPES } as const;

export function channelIdOf(message: ChannelConfig): Hex {
  return hashTypedData({ ...typed, primaryType: "ChannelConfig", message });
}

export function voucherDigest(channelId: Hex, maxClaimableAmount: bigint): Hex {
  return hashTypedData({ ...typed, primaryType: "Voucher", message: { channelId, maxClaimableAmount } });
}

export function refundDigest(channelId: Hex, nonce: bigint, amount: bigint): Hex {
  return hashTypedData({ ...typed, primaryType: "Refund", message: { channelId, nonce, amount } });
}

export function claimBatchDigest(rows: readonly VoucherClaim[]): Hex {
  const claims = rows.map(({ voucher: { channel, maxClaimableAmount }, totalClaimed }) => ({
    channelId: channelIdOf(channel),
    maxClaimableAmount,
    totalClaimed,
  }));
  return hashTypedData({ ...typed, primaryType: "ClaimBatch", message: { claims } });
}

const signatures = new Map<string, Promise<Hex>>();

/** Signing in JavaScript takes milliseconds, and properties sign the same small numbers again and again. */
export function signDigest(key: LocalAccount, hash: Hex): Promise<Hex> {
  const found = signatures.get(`${key.address}${hash}`);
  if (found) return found;
  const signature = privateKeyToAccount(key.privateKey).sign({ hash });
  signatures.set(`${key.address}${hash}`, signature);
  return signature;
}

/** The permission that the EIP-3009 collector takes. */
export async function authorizeDeposit(
  key: LocalAccount,
  { payer, token, channelId, amount, salt }: DepositTerms,
): Promise<Hex> {
  const validBefore = 2n ** 40n;
  const nonce = keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "uint256" }], [channelId, salt]));
  const to = CHANNEL_CONTRACTS.erc3009Collector;
  const message = { from: payer, to, value: amount, validAfter: 0n, validBefore, nonce };
  const signature = await signAuthorization(key, usdDomain(token), "ReceiveWithAuthorization", message);
  return encodeAbiParameters(
    [{ type: "uint256" }, { type: "uint256" }, { type: "uint256" }, { type: "bytes" }],
    [0n, validBefore, salt, signature],
  );
}

/** The permission that the Permit2 collector takes; `allowance` is a permit of the token, or empty. */
export async function permitDeposit(
  key: LocalAccount,
  { token, channelId, amount, salt }: DepositTerms,
  allowance: Hex = "0x",
): Promise<Hex> {
  const deadline = 2n ** 40n;
  const signature = await privateKeyToAccount(key.privateKey).signTypedData({
    domain: { name: "Permit2", chainId: EVM_CHAIN_ID, verifyingContract: PERMIT2_ADDRESS },
    types: {
      PermitWitnessTransferFrom: [
        { name: "permitted", type: "TokenPermissions" },
        { name: "spender", type: "address" },
        { name: "nonce", type: "uint256" },
        { name: "deadline", type: "uint256" },
        { name: "witness", type: "DepositWitness" },
      ],
      TokenPermissions: [
        { name: "token", type: "address" },
        { name: "amount", type: "uint256" },
      ],
      DepositWitness: [{ name: "channelId", type: "bytes32" }],
    },
    primaryType: "PermitWitnessTransferFrom",
    message: {
      permitted: { token, amount },
      spender: CHANNEL_CONTRACTS.permit2Collector,
      nonce: salt,
      deadline,
      witness: { channelId },
    },
  });
  return encodeAbiParameters(
    [{ type: "uint256" }, { type: "uint256" }, { type: "bytes" }, { type: "bytes" }],
    [salt, deadline, signature, allowance],
  );
}

export type DepositTerms = {
  readonly payer: Address;
  readonly token: Address;
  readonly channelId: Hex;
  readonly amount: bigint;
  /** Another number for each deposit. */
  readonly salt: bigint;
};

export type ChannelWorld = Awaited<ReturnType<typeof openChannelWorld>>;

export async function openChannelWorld() {
  const evm = await startEvm({ ...LOCAL_GENESIS_CODE, [PERMIT2_ADDRESS]: permit2Code });
  const { payer, merchant: receiver, facilitator: relayer, owner } = evm.chain.accounts;
  const [payerAuthorizer, receiverAuthorizer, intruder] = [
    localAccount(20),
    localAccount(21),
    localAccount(22),
  ];
  const channels = evm.at(batchSettlementAbi, CHANNEL_CONTRACTS.settlement);
  const usd = await evm.deploy(usdCoinAbi, usdCoinBytecode, []);
  const wallet = await evm.deploy(smartWalletAbi, actorBytecode("SmartWallet"), [payer.address]);
  const crooked = await evm.deploy(crookedTokenAbi, actorBytecode("CrookedToken"), []);
  const puppet = await evm.deploy(puppetAbi, actorBytecode("Puppet"), []);
  for (const account of [payer.address, wallet.address]) {
    await usd.send(owner.address, "mint", [account, PAYER_DOLLARS]);
  }
  /** A channel of the plain parties with a key for vouchers, for tests to change in one place. */
  const channelOf = (changes: Partial<ChannelConfig> = {}): ChannelConfig => ({
    payer: payer.address,
    payerAuthorizer: payerAuthorizer.address,
    receiver: receiver.address,
    receiverAuthorizer: receiverAuthorizer.address,
    token: usd.address,
    withdrawDelay: 900,
    salt: pad("0x01"),
    ...changes,
  });
  let deposits = 0n;
  /** The arguments of a deposit that the payer's key signs. */
  const depositArgs = async (config: ChannelConfig, amount: bigint, key: LocalAccount = payer) => {
    deposits += 1n;
    const terms = { ...config, channelId: channelIdOf(config), amount, salt: deposits };
    return [config, amount, CHANNEL_CONTRACTS.erc3009Collector, await authorizeDeposit(key, terms)] as const;
  };
  /** A row that claims, by default all of the voucher, signed by who has to sign. */
  const claimOf = async (
    channel: ChannelConfig,
    maxClaimableAmount: bigint,
    totalClaimed = maxClaimableAmount,
    key = channel.payerAuthorizer === zeroAddress ? payer : payerAuthorizer,
  ): Promise<VoucherClaim> => {
    const signature = await signDigest(key, voucherDigest(channelIdOf(channel), maxClaimableAmount));
    return { voucher: { channel, maxClaimableAmount }, signature, totalClaimed };
  };
  const keys = { payer, payerAuthorizer, receiver, receiverAuthorizer, relayer, intruder };
  return { evm, channels, usd, wallet, crooked, puppet, owner, keys, channelOf, depositArgs, claimOf };
}

/** A signature that no key gives: its r is not the abscissa of a point. */
export const BROKEN_SIGNATURE: Hex = concat([pad("0x05"), pad("0x01"), "0x1b"]);
