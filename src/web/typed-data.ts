// What a payer signs: EIP-3009 TransferWithAuthorization as EIP-712 typed data.
import { chainIdOfNetwork } from "../lib/caip2.ts";
import type { PaymentTerms } from "./offering.ts";

export type TransferAuthorization = {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
};

const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};

export function buildTransferTypedData(terms: PaymentTerms, message: TransferAuthorization) {
  return {
    domain: {
      name: terms.extra.name,
      version: terms.extra.version,
      chainId: chainIdOfNetwork(terms.network),
      verifyingContract: terms.asset,
    },
    primaryType: "TransferWithAuthorization" as const,
    types: TYPES,
    message,
  };
}
