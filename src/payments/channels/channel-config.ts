// Payment channels and what their two sides sign: ids, digests, and which signatures the contract takes.
import { concat, domainSeparator, keccak256, stringToHex } from "viem";
import { createParametersCodec } from "../../lib/abi/codec.ts";
import { chainIdOfNetwork } from "../../lib/caip2.ts";
import type { Hex } from "../../lib/hex.ts";
import { LruMap } from "../../lib/lru-map.ts";
import { recoverKeyAddress } from "../../lib/recover-address.ts";

/** The contracts of the scheme, at the same addresses on every chain. */
export const CHANNEL_CONTRACT: Hex = "0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003";
export const ERC3009_COLLECTOR: Hex = "0x4020806089470a89826cb9fb1f4059150b550004";

/** The parties and rules of a channel, which never change: its id is their digest. Addresses are lower case. */
export type ChannelConfig = {
  readonly payer: Hex;
  /** The key that signs vouchers. */
  readonly payerAuthorizer: Hex;
  readonly receiver: Hex;
  readonly receiverAuthorizer: Hex;
  readonly token: Hex;
  readonly withdrawDelay: number;
  readonly salt: Hex;
};

/** A voucher that is claimed. */
export type VoucherClaim = {
  readonly config: ChannelConfig;
  readonly maxClaimable: bigint;
  readonly signature: Hex;
  readonly totalClaimed: bigint;
};

const ENTRY = "ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)";

/** Hashes a struct whose members are words; `typeText` is what its type hash covers. */
function createStructHasher(typeText: string, types: readonly string[]) {
  const codec = createParametersCodec(["bytes32", ...types].map((type) => ({ type })));
  const typeHash = keccak256(stringToHex(typeText));
  return (values: readonly unknown[]): Hex => keccak256(codec.encode([typeHash, ...values]));
}

const hashConfig = createStructHasher(
  "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)",
  ["address", "address", "address", "address", "address", "uint40", "bytes32"],
);
const hashVoucher = createStructHasher("Voucher(bytes32 channelId,uint128 maxClaimableAmount)", [
  "bytes32",
  "uint128",
]);
const hashRefund = createStructHasher("Refund(bytes32 channelId,uint256 nonce,uint128 amount)", [
  "bytes32",
  "uint256",
  "uint128",
]);
const hashEntry = createStructHasher(ENTRY, ["bytes32", "uint128", "uint128"]);
const hashBatch = createStructHasher(`ClaimBatch(ClaimEntry[] claims)${ENTRY}`, ["bytes32"]);
const depositNonce = createParametersCodec([{ type: "bytes32" }, { type: "uint256" }]);

// Channels whose ids are remembered: half of the hashing of a call. About a kilobyte each.
const KNOWN_IDS_MAX = 5_000;

/** The id of a channel and all that is signed about channels of one network. */
export class ChannelDigests {
  readonly #separator: Hex;
  /** The key has everything that the id is a digest of. */
  readonly #ids = new LruMap<string, Hex>(KNOWN_IDS_MAX);

  constructor(network: string) {
    this.#separator = domainSeparator({
      domain: {
        name: "x402 Batch Settlement",
        version: "1",
        chainId: chainIdOfNetwork(network),
        verifyingContract: CHANNEL_CONTRACT,
      },
    });
  }

  #digest(structHash: Hex): Hex {
    return keccak256(concat(["0x1901", this.#separator, structHash]));
  }

  channelId(config: ChannelConfig): Hex {
    const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt } = config;
    const members = [payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt];
    const key = members.join(" ");
    const id = this.#ids.get(key) ?? this.#digest(hashConfig(members));
    this.#ids.set(key, id);
    return id;
  }

  voucher(channelId: Hex, maxClaimable: bigint): Hex {
    return this.#digest(hashVoucher([channelId, maxClaimable]));
  }

  refund(channelId: Hex, nonce: bigint, amount: bigint): Hex {
    return this.#digest(hashRefund([channelId, nonce, amount]));
  }

  claimBatch(claims: readonly VoucherClaim[]): Hex {
    const entries = claims.map(({ config, maxClaimable, totalClaimed }) =>
      hashEntry([this.channelId(config), maxClaimable, totalClaimed]),
    );
    return this.#digest(hashBatch([keccak256(concat(entries))]));
  }
}

/** The EIP-3009 nonce of a deposit, which binds it to its channel. */
export function depositNonceOf(channelId: Hex, salt: bigint): Hex {
  return keccak256(depositNonce.encode([channelId, salt]));
}

// Half of the order of the curve: the contract takes only the smaller s of the two that are valid.
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const SIGNATURE = /^0x[0-9a-f]{64}([0-9a-f]{64})(?:1b|1c)$/;

/** Stricter than recovery: a voucher that the contract rejects is worth nothing, however well we can read it. */
export async function isVoucherSignature(digest: Hex, signature: Hex, signer: Hex): Promise<boolean> {
  const s = SIGNATURE.exec(signature)?.[1];
  if (s === undefined || BigInt(`0x${s}`) > S_MAX) return false;
  return (await recoverKeyAddress(digest, signature)) === signer;
}
