// Whether a payment is signed: by a plain key, decided without a node, or as a contract account accepts it.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import {
  authorizationTypes,
  classifyErc6492Payer,
  type FacilitatorEvmSigner,
  verifyTypedDataSignature,
} from "@x402/evm";
import {
  hashTypedData,
  isAddressEqual,
  isErc6492Signature,
  parseErc6492Signature,
  recoverTypedDataAddress,
} from "viem";
import { chainIdOfNetwork } from "../../lib/caip2.ts";
import type { Hex } from "../../lib/hex.ts";
import { ACCOUNT_NOT_DEPLOYED, WRONG_SIGNATURE } from "../rejection-reasons.ts";

/** As it is in a payload; the numbers are decimal text. */
type SignedTransfer = {
  readonly authorization: Readonly<
    Record<"from" | "to" | "nonce", Hex> & Record<"value" | "validAfter" | "validBefore", string>
  >;
  readonly signature: Hex;
};

const KEY_SIGNATURE_LENGTH = "0x".length + 2 * 65;

/** Why a payment of an account without code is rejected; null if its key signed it. The reasons are the library's. */
export async function findSignatureRejection(
  { payload }: PaymentPayload,
  terms: PaymentRequirements,
): Promise<string | null> {
  const signed = payload as SignedTransfer;
  if (await isSignedByKey(signed, terms)) return null;
  const isWrapped = isErc6492Signature(signed.signature) && unwrapSignature({ payload }) !== null;
  return isWrapped ? ACCOUNT_NOT_DEPLOYED : WRONG_SIGNATURE;
}

/**
 * The signature inside of a wrapper of ERC-6492, or as it is without one. Null for a wrapper that cannot be decoded: the
 * library throws for it, as for a node that fails.
 */
export function unwrapSignature({ payload }: Pick<PaymentPayload, "payload">): Hex | null {
  try {
    return parseErc6492Signature((payload as SignedTransfer).signature).signature;
  } catch {
    return null;
  }
}

/** The same for an account with code, which a node calls once. */
export async function findContractRejection(
  signer: FacilitatorEvmSigner,
  { payload }: PaymentPayload,
  terms: PaymentRequirements,
): Promise<string | null> {
  const signed = payload as SignedTransfer;
  const { from: address } = signed.authorization;
  const { innerSignature: signature } = await classifyErc6492Payer(signer, signed.signature, address);
  const isSigned = await verifyTypedDataSignature(signer, {
    ...typedDataOf(signed, terms),
    address,
    signature,
  });
  return isSigned ? null : WRONG_SIGNATURE;
}

/** The hash that the payer signs (EIP-712). */
export function hashSignedPayment({ payload }: PaymentPayload, terms: PaymentRequirements): Hex {
  return hashTypedData(typedDataOf(payload as SignedTransfer, terms));
}

export function authorizationOf({ payload }: PaymentPayload): SignedTransfer["authorization"] {
  return (payload as SignedTransfer).authorization;
}

async function isSignedByKey(signed: SignedTransfer, terms: PaymentRequirements): Promise<boolean> {
  const { authorization, signature } = signed;
  if (signature.length !== KEY_SIGNATURE_LENGTH) return false;
  try {
    const signer = await recoverTypedDataAddress({ ...typedDataOf(signed, terms), signature });
    return isAddressEqual(signer, authorization.from);
  } catch {
    // Not a point on the curve: no key signed it.
    return false;
  }
}

function typedDataOf({ authorization }: SignedTransfer, { network, asset, extra }: PaymentRequirements) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { name, version } = extra as { name: string; version: string };
  return {
    domain: { name, version, chainId: chainIdOfNetwork(network), verifyingContract: asset as Hex },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization" as const,
    message: {
      from,
      to,
      nonce,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
    },
  };
}
