// The calls by which anyone who has a signature uses an authorization: carries it out, or cancels it.

import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import type { PaymentPayload } from "@x402/core/types";
import { encodeFunctionData, type Hex, type PrivateKeyAccount } from "viem";

type SignedAuthorization = {
  from: Hex;
  to: Hex;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: Hex;
};

const TYPES = {
  TransferWithAuthorization: [
    "address from",
    "address to",
    "uint256 value",
    "uint256 validAfter",
    "uint256 validBefore",
    "bytes32 nonce",
  ],
  CancelAuthorization: ["address authorizer", "bytes32 nonce"],
} as const;

/** The payer's signature of a message of the token. */
function signTokenMessage(
  account: PrivateKeyAccount,
  verifyingContract: Hex,
  primaryType: keyof typeof TYPES,
  message: Record<string, unknown>,
): Promise<Hex> {
  const fields = TYPES[primaryType].map((field) => {
    const [type = "", name = ""] = field.split(" ");
    return { type, name };
  });
  const domain = { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract };
  return account.signTypedData({ domain, types: { [primaryType]: fields }, primaryType, message });
}

export function authorizationIn({ payload }: PaymentPayload): SignedAuthorization {
  return payload.authorization as SignedAuthorization;
}

export function encodeSignedTransfer(payment: PaymentPayload): Hex {
  return encodeTransfer(authorizationIn(payment), payment.payload.signature as Hex);
}

/** Signs another authorization of the payer. */
export async function encodeOtherTransfer(
  account: PrivateKeyAccount,
  asset: Hex,
  authorization: SignedAuthorization,
): Promise<Hex> {
  const signature = await signTokenMessage(account, asset, "TransferWithAuthorization", authorization);
  return encodeTransfer(authorization, signature);
}

function encodeTransfer(signed: SignedAuthorization, signature: Hex): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = signed;
  return encodeFunctionData({
    abi: usdCoinAbi,
    functionName: "transferWithAuthorization",
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
  });
}

/** Signs the cancellation of an authorization. */
export async function encodeCancellation(account: PrivateKeyAccount, asset: Hex, nonce: Hex): Promise<Hex> {
  const message = { authorizer: account.address, nonce };
  const signature = await signTokenMessage(account, asset, "CancelAuthorization", message);
  const args = [account.address, nonce, signature] as const;
  return encodeFunctionData({ abi: usdCoinAbi, functionName: "cancelAuthorization", args });
}
