// The simulator's knowledge of the chain: enough to decide which actions are possible.

import type { Intent } from "@sextant/contracts/hashes/intent-hash";
import type { Address, Hex } from "viem";
import type { AgentProfile } from "../transactions/agents.ts";
import type { AttestorProfile } from "../transactions/attestors.ts";
import type { BidTerms } from "../transactions/bids.ts";
import type { FacilitatorProfile } from "../transactions/facilitators.ts";
import type { MerchantProfile, ServiceProfile } from "../transactions/merchants.ts";
import type { PaymentRoute } from "../transactions/payments.ts";
import type { SolverProfile } from "../transactions/solvers.ts";
import type { Actor, Wallet } from "../world.ts";
import type { SimulatorAccounts } from "./accounts.ts";
import type { SpendWindow } from "./spend-window.ts";

/** Bounds memory in runs of days; older records see no more actions. */
const REMEMBERED_MAX = 64;

class BoundedList<T extends object> implements Iterable<T> {
  #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#items.length > REMEMBERED_MAX) this.#items.shift();
  }

  remove(item: T): void {
    this.retain((other) => other !== item);
  }

  retain(fits: (item: T) => boolean): void {
    this.#items = this.#items.filter(fits);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]();
  }
}

/** A wallet or account with policies. */
export type SimulatedPolicyHolder = {
  frozen: boolean;
  guardian: Wallet | undefined;
  readonly limits: Map<Address, SpendWindow>;
  readonly payments: SimulatedPaymentPolicy[];
};
export type SimulatedPaymentPolicy = {
  readonly route: PaymentRoute;
  readonly window: SpendWindow;
  maxPerPayment: bigint;
  allowed: boolean;
};
export type SimulatedOwner = SimulatedPolicyHolder & {
  readonly wallet: Wallet;
  usd: bigint;
  approved: boolean;
};
export type SimulatedSessionKey = {
  readonly wallet: Wallet;
  expiresAt: bigint;
  active: boolean;
  nextNonce: bigint;
};
export type SimulatedPolicyAccount = SimulatedPolicyHolder & {
  readonly address: Address;
  readonly signer: Wallet;
  /** The only recipient of its ether. */
  readonly payee: Wallet;
  readonly keys: SimulatedSessionKey[];
  functionsListed: boolean;
  usd: bigint;
  ether: bigint;
};
export type SimulatedAgent = {
  readonly id: bigint;
  readonly owner: Actor;
  /** The policy account that owns it, whose policies then apply. */
  readonly account?: SimulatedPolicyAccount;
  profile: Omit<AgentProfile, "pubkey">;
};
export type SimulatedBid = BidTerms & { readonly id: bigint; readonly solver: SimulatedSolver };
export type SimulatedIntent = {
  readonly id: bigint;
  readonly owner: Wallet;
  readonly intent: Intent;
  readonly bids: SimulatedBid[];
  selected: SimulatedBid | undefined;
};
export type SimulatedAttestation = {
  readonly id: bigint;
  readonly attester: Actor;
  readonly schema: Hex;
  readonly subject: Hex;
};
export type SimulatedSolver = {
  readonly wallet: Wallet;
  fills: number;
  entry: { readonly id: bigint; active: boolean; bond: bigint; profile: SolverProfile } | undefined;
};
export type SimulatedAttester = {
  readonly wallet: Wallet;
  given: number;
  entry: { readonly id: bigint; active: boolean; profile: AttestorProfile } | undefined;
};
export type SimulatedMerchant = { readonly id: bigint; readonly owner: Wallet; profile: MerchantProfile };
export type SimulatedService = {
  readonly id: bigint;
  readonly merchant: SimulatedMerchant;
  profile: ServiceProfile;
};
export type SimulatedFacilitator = {
  readonly wallet: Wallet;
  entry: { readonly id: bigint; active: boolean; profile: FacilitatorProfile } | undefined;
};
export type SimulatedQuote = {
  readonly hash: Hex;
  readonly merchant: SimulatedMerchant;
  /** Undefined for a policy account, which lets the merchant record. */
  readonly agent: Wallet | undefined;
  readonly facilitator: SimulatedFacilitator | undefined;
  readonly rail: number;
  readonly token: Address;
  readonly amount: bigint;
  readonly expiresAt: bigint;
  paid: boolean;
};
export type SimulatedReceipt = { readonly id: bigint; readonly quote: SimulatedQuote; fulfilled: boolean };
export type SimulatedDispute = { readonly id: bigint; readonly receipt: SimulatedReceipt };

export type SimulatorState = ReturnType<typeof createSimulatorState>;

export function createSimulatorState(accounts: SimulatorAccounts) {
  return {
    owners: accounts.owners.map(
      (wallet): SimulatedOwner => ({ wallet, usd: 0n, approved: false, ...createPolicyHolder() }),
    ),
    solvers: accounts.solvers.map((wallet): SimulatedSolver => ({ wallet, fills: 0, entry: undefined })),
    attesters: accounts.attesters.map(
      (wallet): SimulatedAttester => ({ wallet, given: 0, entry: undefined }),
    ),
    facilitators: accounts.facilitators.map((wallet): SimulatedFacilitator => ({ wallet, entry: undefined })),
    accounts: new BoundedList<SimulatedPolicyAccount>(),
    agents: new BoundedList<SimulatedAgent>(),
    intents: new BoundedList<SimulatedIntent>(),
    attestations: new BoundedList<SimulatedAttestation>(),
    merchants: new BoundedList<SimulatedMerchant>(),
    services: new BoundedList<SimulatedService>(),
    quotes: new BoundedList<SimulatedQuote>(),
    receipts: new BoundedList<SimulatedReceipt>(),
    disputes: new BoundedList<SimulatedDispute>(),
  };
}

/** Without any policy yet. */
export function createPolicyHolder(): SimulatedPolicyHolder {
  return { frozen: false, guardian: undefined, limits: new Map(), payments: [] };
}
