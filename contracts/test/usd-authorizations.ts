// Signs what the dollar token accepts: transfer authorizations (EIP-3009), cancellations, and permits (EIP-2612).

import type { LocalAccount } from "@sextant/local-chain/accounts";
import { type Address, type Hex, parseSignature, slice } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { EVM_CHAIN_ID } from "./evm.ts";

export type TestAuthorization = {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
};

export type UsdDomain = {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: Address;
};

export function usdDomain(token: Address, changes: Partial<UsdDomain> = {}): UsdDomain {
  return { name: "USD Coin", version: "2", chainId: EVM_CHAIN_ID, verifyingContract: token, ...changes };
}

const authorizationFields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;

export type AuthorizationKind = "TransferWithAuthorization" | "ReceiveWithAuthorization";

export function signAuthorization(
  key: LocalAccount,
  domain: UsdDomain,
  kind: AuthorizationKind,
  message: TestAuthorization,
): Promise<Hex> {
  const types = {
    TransferWithAuthorization: authorizationFields,
    ReceiveWithAuthorization: authorizationFields,
  } as const;
  return privateKeyToAccount(key.privateKey).signTypedData({ domain, types, primaryType: kind, message });
}

export function signCancellation(
  key: LocalAccount,
  domain: UsdDomain,
  authorizer: Address,
  nonce: Hex,
): Promise<Hex> {
  return privateKeyToAccount(key.privateKey).signTypedData({
    domain,
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer, nonce },
  });
}

export type Permit = {
  readonly owner: Address;
  readonly spender: Address;
  readonly value: bigint;
  readonly nonce: bigint;
  readonly deadline: bigint;
};

export function signPermit(key: LocalAccount, domain: UsdDomain, message: Permit): Promise<Hex> {
  return privateKeyToAccount(key.privateKey).signTypedData({
    domain,
    types: {
      Permit: [
        { name: "owner", type: "address" },
        { name: "spender", type: "address" },
        { name: "value", type: "uint256" },
        { name: "nonce", type: "uint256" },
        { name: "deadline", type: "uint256" },
      ],
    },
    primaryType: "Permit",
    message,
  });
}

export function authorizationArgs({ from, to, value, validAfter, validBefore, nonce }: TestAuthorization) {
  return [from, to, value, validAfter, validBefore, nonce] as const;
}

/** The three numbers of a signature, for functions from before signatures were bytes. */
export function vrs(signature: Hex): readonly [number, Hex, Hex] {
  return [Number(slice(signature, 64)), slice(signature, 0, 32), slice(signature, 32, 64)];
}

/** The other signature with the same meaning, which the curve's symmetry gives away for free. */
export function highS(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const { r, s, yParity } = parseSignature(signature);
  const mirrored = (order - BigInt(s)).toString(16).padStart(64, "0");
  return `${r}${mirrored}${yParity === 0 ? "1c" : "1b"}`;
}
