// Whether a plain key signed a payment: decided without a node, before the payment counts against the key's money.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { authorizationTypes } from "@x402/evm";
import { isAddressEqual, isErc6492Signature, recoverTypedDataAddress } from "viem";
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

/** Why a payment of an account without code is rejected; null where its key signed it. The reasons are the library's. */
export async function findSignatureRejection(
  { payload }: PaymentPayload,
  terms: PaymentRequirements,
): Promise<string | null> {
  const signed = payload as SignedTransfer;
  if (await isSignedByKey(signed, terms)) return null;
  return isErc6492Signature(signed.signature) ? ACCOUNT_NOT_DEPLOYED : WRONG_SIGNATURE;
}

async function isSignedByKey(
  { authorization, signature }: SignedTransfer,
  { network, asset, extra }: PaymentRequirements,
): Promise<boolean> {
  if (signature.length !== KEY_SIGNATURE_LENGTH) return false;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { name, version } = extra as { name: string; version: string };
  try {
    const signer = await recoverTypedDataAddress({
      domain: { name, version, chainId: chainIdOfNetwork(network), verifyingContract: asset as Hex },
      types: authorizationTypes,
      primaryType: "TransferWithAuthorization",
      message: {
        ...{ from, to, nonce },
        value: BigInt(value),
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore),
      },
      signature,
    });
    return isAddressEqual(signer, from);
  } catch {
    // Not a point on the curve: no key signed it.
    return false;
  }
}
