// What exists in the economy, as far as its players remember: enough to know which moves are possible.

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
import type { Cast } from "./accounts.ts";
import type { SpendWindow } from "./spend-window.ts";

/** An economy may run for days: what is older is left alone, as in life. */
const REMEMBERED_MAX = 64;

export class Shelf<T extends object> implements Iterable<T> {
  #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#items.length > REMEMBERED_MAX) this.#items.shift();
  }

  remove(item: T): void {
    this.keep((other) => other !== item);
  }

  keep(fits: (item: T) => boolean): void {
    this.#items = this.#items.filter(fits);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]();
  }
}

/** Whoever has policies. */
export type Holder = {
  frozen: boolean;
  guardian: Wallet | undefined;
  readonly limits: Map<Address, SpendWindow>;
  readonly payments: PaymentPolicy[];
};
export type PaymentPolicy = {
  readonly route: PaymentRoute;
  readonly window: SpendWindow;
  maxPerPayment: bigint;
  allowed: boolean;
};
export type Person = Holder & { readonly wallet: Wallet; usd: bigint; approved: boolean };
export type SessionKey = { readonly wallet: Wallet; expiresAt: bigint; active: boolean; nextNonce: bigint };
export type Account = Holder & {
  readonly address: Address;
  readonly signer: Wallet;
  /** Whom it may send ether. */
  readonly payee: Wallet;
  readonly keys: SessionKey[];
  functionsListed: boolean;
  usd: bigint;
  ether: bigint;
};
export type Agent = {
  readonly id: bigint;
  readonly owner: Actor;
  /** The account it belongs to, whose policies then decide. */
  readonly account?: Account;
  profile: Omit<AgentProfile, "pubkey">;
};
export type Bid = BidTerms & { readonly id: bigint; readonly solver: Solver };
export type OpenIntent = {
  readonly id: bigint;
  readonly owner: Wallet;
  readonly intent: Intent;
  readonly bids: Bid[];
  selected: Bid | undefined;
};
export type Attestation = {
  readonly id: bigint;
  readonly attester: Actor;
  readonly schema: Hex;
  readonly subject: Hex;
};
export type Solver = {
  readonly wallet: Wallet;
  fills: number;
  entry: { readonly id: bigint; active: boolean; bond: bigint; profile: SolverProfile } | undefined;
};
export type Attester = {
  readonly wallet: Wallet;
  given: number;
  entry: { readonly id: bigint; active: boolean; profile: AttestorProfile } | undefined;
};
export type Merchant = { readonly id: bigint; readonly owner: Wallet; profile: MerchantProfile };
export type Service = { readonly id: bigint; readonly merchant: Merchant; profile: ServiceProfile };
export type Facilitator = {
  readonly wallet: Wallet;
  entry: { readonly id: bigint; active: boolean; profile: FacilitatorProfile } | undefined;
};
export type Quote = {
  readonly hash: Hex;
  readonly merchant: Merchant;
  /** Undefined for a policy account, which lets the merchant record. */
  readonly agent: Wallet | undefined;
  readonly facilitator: Facilitator | undefined;
  readonly rail: number;
  readonly token: Address;
  readonly amount: bigint;
  readonly expiresAt: bigint;
  paid: boolean;
};
export type PaidQuote = { readonly id: bigint; readonly quote: Quote; fulfilled: boolean };
export type Dispute = { readonly id: bigint; readonly receipt: PaidQuote };

export type Ledger = ReturnType<typeof openLedger>;

export function openLedger(cast: Cast) {
  return {
    people: cast.owners.map((wallet): Person => ({ wallet, usd: 0n, approved: false, ...holder() })),
    solvers: cast.solvers.map((wallet): Solver => ({ wallet, fills: 0, entry: undefined })),
    attesters: cast.attesters.map((wallet): Attester => ({ wallet, given: 0, entry: undefined })),
    facilitators: cast.facilitators.map((wallet): Facilitator => ({ wallet, entry: undefined })),
    accounts: new Shelf<Account>(),
    agents: new Shelf<Agent>(),
    intents: new Shelf<OpenIntent>(),
    attestations: new Shelf<Attestation>(),
    merchants: new Shelf<Merchant>(),
    services: new Shelf<Service>(),
    quotes: new Shelf<Quote>(),
    receipts: new Shelf<PaidQuote>(),
    disputes: new Shelf<Dispute>(),
  };
}

/** Somebody without any policy yet. */
export function holder(): Holder {
  return { frozen: false, guardian: undefined, limits: new Map(), payments: [] };
}
