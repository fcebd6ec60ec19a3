// The meaning of a signed message: permissions, transfers, orders and calls, each as far as the message itself says it.
import type { Hex } from "../../../lib/hex.ts";
import type { MessageProtocol } from "./contracts.ts";

/** Something that a wallet can own; `contract` is null for the native coin. */
export type SignedAsset = {
  readonly standard: "native" | "erc20" | "erc721" | "erc1155";
  readonly contract: Hex | null;
  /** Null for coins, and for a collection of which any item may be meant. */
  readonly tokenId: bigint | null;
};

export type SignedAmount = { readonly asset: SignedAsset; readonly amount: bigint };

/** Who may take how much of one asset of the owner, until the permission is used up, ended or expired. */
export type SignedPermission = {
  readonly kind: "erc20-allowance" | "permit2-allowance" | "nft-approval";
  readonly asset: SignedAsset;
  /** Null if the message does not say whose it is: then it is the signer's. */
  readonly owner: Hex | null;
  readonly spender: Hex;
  readonly amount: bigint;
  /** The last second; null for a permission that does not expire. */
  readonly expiresAt: bigint | null;
  readonly via: Hex | null;
};

/** A transfer that the signature alone makes possible, once. */
export type SignedTransfer = {
  readonly asset: SignedAsset;
  readonly from: Hex | null;
  /** Null if the one who carries it out chooses the receiver. */
  readonly to: Hex | null;
  /** Who may carry it out; null for anyone. */
  readonly by: Hex | null;
  readonly amount: bigint;
  /** False if less may be taken. */
  readonly isExact: boolean;
  /** The contract that needs the owner's allowance; null for the token itself. */
  readonly via: Hex | null;
};

export type SignedOrder = {
  readonly maker: Hex;
  readonly gives: readonly SignedAmount[];
  /** The least that it receives; null if the order's own text does not bound it. */
  readonly receives: readonly (SignedAmount & { readonly recipient: Hex })[] | null;
  /** Who takes what is given by the owner's allowance; null if the message does not name the contract. */
  readonly via: Hex | null;
  readonly isPartiallyFillable: boolean;
  /** Code of others decides on the order or runs with it. */
  readonly runsCode: boolean;
};

/** A call that an account makes once its signers have signed. */
export type SignedCall = {
  readonly account: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly data: Hex;
  readonly isDelegateCall: boolean;
  /** The account pays the sender of the transaction. */
  readonly hasRefund: boolean;
};

/** How the chain says whether the signature can still be used. */
export type SignedNonce =
  | {
      readonly kind: "counter" | "dai-counter" | "seaport-counter";
      readonly contract: Hex;
      readonly owner: Hex;
      readonly expected: bigint;
    }
  | { readonly kind: "authorization"; readonly contract: Hex; readonly owner: Hex; readonly nonce: Hex }
  | { readonly kind: "bitmap"; readonly contract: Hex; readonly owner: Hex; readonly nonce: bigint }
  | {
      readonly kind: "permit2-allowance";
      readonly contract: Hex;
      readonly owner: Hex;
      readonly token: Hex;
      readonly spender: Hex;
      readonly expected: bigint;
    }
  | { readonly kind: "safe"; readonly contract: Hex; readonly owner: Hex; readonly expected: bigint };

/** A voucher for money that is in a channel already. */
export type SignedVoucher = { readonly channelId: Hex; readonly total: bigint };

export type MessageContent = {
  /** A name for programs, such as `permit` or `permit2-batch`. */
  readonly standard: string;
  /** The contract that must verify it: a protocol's, the token's own, or an account's. */
  readonly verifier: MessageProtocol | "token" | "account";
  /** The account that the message says signs it; null if it does not say. */
  readonly signer: Hex | null;
  /** The last and the first second at which the signature can be used; null if it does not say. */
  readonly usableUntil: bigint | null;
  readonly usableFrom: bigint | null;
  readonly nonces: readonly SignedNonce[];
  readonly permissions: readonly SignedPermission[];
  readonly transfers: readonly SignedTransfer[];
  readonly orders: readonly SignedOrder[];
  readonly calls: readonly SignedCall[];
  readonly vouchers: readonly SignedVoucher[];
  /** A part of it is signed, and its meaning is unknown. */
  readonly hasUnknownPart: boolean;
  /** The contract that a protocol requires in another place of the message, such as the spender. */
  readonly requires: { readonly protocol: MessageProtocol; readonly address: Hex } | null;
};

/** A message of which `known` says what differs from one that grants nothing. */
export function createContent(
  standard: string,
  verifier: MessageContent["verifier"],
  known: Partial<MessageContent>,
): MessageContent {
  return {
    ...{ standard, verifier, signer: null, usableUntil: null, usableFrom: null, nonces: [] },
    ...{ permissions: [], transfers: [], orders: [], calls: [], vouchers: [] },
    ...{ hasUnknownPart: false, requires: null },
    ...known,
  };
}

export function coinOf(contract: Hex): SignedAsset {
  return { standard: "erc20", contract, tokenId: null };
}

/** Numbers of seconds that no clock reaches. */
const FOREVER_MIN = 2n ** 40n;

/** Null for a time that never comes. */
export function untilOf(seconds: bigint): bigint | null {
  return seconds >= FOREVER_MIN ? null : seconds;
}
