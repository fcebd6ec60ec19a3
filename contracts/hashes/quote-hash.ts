// The identity of a quote, as the commerce registry computes it.
import { type Address, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from "viem";

// Fixed in the deployed registry; a registry with another rate gives other hashes.
const protocolFeeBps = 0;
const bpsWhole = 10_000n;

const serviceTermsParameters = parseAbiParameters("uint256, uint256, bytes32, bytes32");
const paymentTermsParameters = parseAbiParameters(
  "address, address, address, uint256, uint8, uint256, uint256, bytes32",
);
const quoteParameters = parseAbiParameters("uint256, address, bytes32, bytes32, uint16, uint256");

export type QuoteCommitment = {
  readonly merchantId: bigint;
  readonly serviceNumericId: bigint;
  readonly agent: Address;
  readonly token: Address;
  readonly facilitator: Address;
  readonly amount: bigint;
  readonly paymentRail: number;
  readonly expiresAt: bigint;
  readonly paymentNonce: bigint;
  readonly resourceHash: Hex;
  readonly termsHash: Hex;
  readonly x402PayloadHash: Hex;
};

export function quoteHash(quote: QuoteCommitment, chainId: bigint, commerceRegistry: Address): Hex {
  const serviceTerms = keccak256(
    encodeAbiParameters(serviceTermsParameters, [
      quote.merchantId,
      quote.serviceNumericId,
      quote.resourceHash,
      quote.termsHash,
    ]),
  );
  const paymentTerms = keccak256(
    encodeAbiParameters(paymentTermsParameters, [
      quote.agent,
      quote.token,
      quote.facilitator,
      quote.amount,
      quote.paymentRail,
      quote.expiresAt,
      quote.paymentNonce,
      quote.x402PayloadHash,
    ]),
  );
  const feeAmount = (quote.amount * BigInt(protocolFeeBps)) / bpsWhole;
  return keccak256(
    encodeAbiParameters(quoteParameters, [
      chainId,
      commerceRegistry,
      serviceTerms,
      paymentTerms,
      protocolFeeBps,
      feeAmount,
    ]),
  );
}
