// The page builds the same typed data as the payment guide; a browser cannot import the TypeScript of the latter.
import { expect, it } from "vitest";
import type { PaymentTerms } from "../offering.ts";
import { buildTransferTypedData } from "../payment-guide.ts";
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

it("builds the typed data of the payment guide, with the type of the domain listed too", () => {
  const authorization = createAuthorization(terms, `0x${"cc".repeat(20)}`, 1_767_225_600_000);
  const { EIP712Domain: domainType, ...types } = buildTypedData(terms, authorization).types as Record<
    string,
    readonly { readonly name: string; readonly type: string }[]
  >;
  expect({ ...buildTypedData(terms, authorization), types }).toEqual(
    buildTransferTypedData(terms, authorization),
  );
  expect(domainType?.map(({ name, type }) => `${name} ${type}`).join(", ")).toBe(
    "name string, version string, chainId uint256, verifyingContract address",
  );
});
