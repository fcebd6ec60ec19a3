// A small market for tests: one merchant with a service, a rival with another, a facilitator, and quotes on demand.
import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { commerceRegistryAbi, commerceRegistryBytecode } from "../generated/commerce-registry.ts";
import type { QuoteCommitment } from "../hashes/quote-hash.ts";
import type { Contract, Evm } from "./evm.ts";

export const PAYMENT_RAILS = { transfer: 0, swap: 1, facilitator: 2, x402: 3 } as const;

export type CommerceMarket = {
  readonly registry: Contract<typeof commerceRegistryAbi>;
  /** Owns merchant 1 with service 1. */
  readonly merchant: Address;
  /** Owns merchant 2 with service 2. */
  readonly rival: Address;
  /** Facilitator 1, active. */
  readonly facilitator: Address;
  /** Buys. */
  readonly agent: Address;
  readonly outsider: Address;
  /** Terms the merchant may commit as they are: by transfer, without a facilitator, for an hour. */
  readonly terms: (different?: Partial<QuoteCommitment>) => QuoteCommitment;
  /** Commits terms as the merchant. */
  readonly commit: (terms: QuoteCommitment) => Promise<Hex>;
};

export async function openCommerceMarket(evm: Evm): Promise<CommerceMarket> {
  const { accounts } = evm.chain;
  const registry = await evm.deploy(commerceRegistryAbi, commerceRegistryBytecode, []);
  const [merchant, rival] = [accounts.merchant.address, accounts.solver.address];
  const [facilitator, agent] = [accounts.facilitator.address, accounts.agent.address];
  await registry.send(merchant, "registerMerchant", [merchant, "ipfs://m", zeroHash]);
  await registry.send(rival, "registerMerchant", [rival, "ipfs://r", zeroHash]);
  await registry.send(merchant, "registerService", [1n, "search", "ipfs://s", zeroHash, zeroHash]);
  await registry.send(rival, "registerService", [2n, "search", "ipfs://t", zeroHash, zeroHash]);
  await registry.send(facilitator, "registerFacilitator", [facilitator, "ipfs://f", zeroHash]);
  const expiresAt = (await evm.now()) + 3_600n;
  return {
    registry,
    merchant,
    rival,
    facilitator,
    agent,
    outsider: accounts.payer.address,
    terms: (different = {}) => ({
      merchantId: 1n,
      serviceNumericId: 1n,
      agent,
      token: `0x${"70".repeat(20)}`,
      facilitator: zeroAddress,
      amount: 1_000_000n,
      paymentRail: PAYMENT_RAILS.transfer,
      expiresAt,
      paymentNonce: 0n,
      resourceHash: `0x${"5e".repeat(32)}`,
      termsHash: `0x${"7e".repeat(32)}`,
      x402PayloadHash: zeroHash,
      ...different,
    }),
    commit: async (terms) => {
      const hash = await registry.call(merchant, "commitQuote", [terms]);
      await registry.send(merchant, "commitQuote", [terms]);
      return hash;
    },
  };
}
