// The call by which anyone who has a signed payment carries it out.

import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import type { PaymentPayload } from "@x402/core/types";
import { encodeFunctionData, type Hex } from "viem";

type Signed = { from: Hex; to: Hex; value: string; validAfter: string; validBefore: string; nonce: Hex };

export function encodeSignedTransfer({ payload }: PaymentPayload): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization as Signed;
  return encodeFunctionData({
    abi: usdCoinAbi,
    functionName: "transferWithAuthorization",
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, payload.signature as Hex],
  });
}
