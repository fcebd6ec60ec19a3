// The pay page asks wallets for the signature that x402 verifies.
import { authorizationTypes } from "@x402/evm";
import { expect, it } from "vitest";
import type { PaymentTerms } from "../offering.ts";
import { buildTypedData, createAuthorization } from "./payment.ts";

const terms: PaymentTerms = {
  scheme: "exact",
  network: "eip155:8453",
  amount: "10000",
  asset: `0x${"aa".repeat(20)}`,
  payTo: `0x${"bb".repeat(20)}`,
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2" },
};

it("builds the typed data that the library of x402 verifies, with the type of the domain too", () => {
  const authorization = createAuthorization(terms, `0x${"cc".repeat(20)}`, 1_767_225_600_000);
  const domainType = "name string, version string, chainId uint256, verifyingContract address";
  const EIP712Domain = domainType.split(", ").map((field) => {
    const [name, type] = field.split(" ");
    return { name, type };
  });
  expect(buildTypedData(terms, authorization)).toEqual({
    domain: { name: "USD Coin", version: "2", chainId: 8_453, verifyingContract: terms.asset },
    primaryType: "TransferWithAuthorization",
    types: { EIP712Domain, ...authorizationTypes },
    message: authorization,
  });
});
