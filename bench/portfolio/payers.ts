// Payers with their payments signed beforehand, so that no signing is measured.

import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { x402Client } from "@x402/fetch";
import { encodeFunctionData, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { PaymentChainReady } from "./paid-chain-child.ts";

/** The payments that one payer will send, one after the other. */
export type SignedPayments = readonly PaymentPayload[];

export async function signPayments(
  url: string,
  { asset, chainId, payerKeys }: PaymentChainReady,
  each: number,
): Promise<readonly SignedPayments[]> {
  const text = (await fetch(url)).headers.get("payment-required");
  if (text === null) throw new Error(`${url} requires no payment`);
  const required = JSON.parse(Buffer.from(text, "base64").toString()) as PaymentRequired;
  const network = `eip155:${chainId}` as const;
  return Promise.all(
    payerKeys.map(async (key) => {
      const client = x402Client.fromConfig({
        schemes: [{ network, client: new ExactEvmScheme(privateKeyToAccount(key)) }],
        spendControls: { allowedAssets: [{ network, asset, maxAmountPerPayment: "1000000" }] },
      });
      return Promise.all(Array.from({ length: each }, () => client.createPaymentPayload(required)));
    }),
  );
}

export function encodeBenchPaymentHeader(payment: PaymentPayload): string {
  return encodePaymentSignatureHeader(payment);
}

type Authorization = {
  readonly from: Hex;
  readonly to: Hex;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: Hex;
};

/** The same payment as the bare call of the token that carries it out. */
export function encodeTransferCall({ payload }: PaymentPayload): Hex {
  const { authorization, signature } = payload as { authorization: Authorization; signature: Hex };
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return encodeFunctionData({
    abi: usdCoinAbi,
    functionName: "transferWithAuthorization",
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
  });
}
