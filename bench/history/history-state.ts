// What the actions of a history know and change: counters as in the contracts, and the things still in play.

import type { Hex } from "../../src/lib/hex.ts";
import type { Deployment } from "../../src/protocol/deployment.ts";
import type { EncodedLog } from "./abi-encoder.ts";
import { createLiveSet } from "./bounded-set.ts";
import type { Entropy } from "./derived-values.ts";
import type { Dice } from "./seeded-random.ts";

export type OpenIntent = {
  readonly id: bigint;
  readonly deadline: bigint;
  readonly amountInMax: bigint;
  readonly amountOutMin: bigint;
  readonly dataHash: Hex;
  /** How many bids there are, and the one that will be taken. */
  bids: number;
  best: {
    readonly bidId: bigint;
    readonly solver: Hex;
    readonly amountIn: bigint;
    readonly amountOut: bigint;
  } | null;
};

export type Spending = { readonly account: Hex; readonly token: Hex; spent: bigint; windowStart: number };

export type PaymentPolicy = Spending & { readonly merchant: Hex; readonly facilitator: Hex };

export type SessionKey = { readonly account: Hex; readonly key: Hex; nonce: bigint };

export type OpenQuote = {
  readonly quoteHash: Hex;
  readonly merchantId: bigint;
  readonly serviceNumericId: bigint;
  readonly agent: Hex;
  readonly token: Hex;
  readonly facilitator: Hex;
  readonly amount: bigint;
  readonly paymentRail: number;
  readonly resourceHash: Hex;
  readonly expiresAt: bigint;
};

export type Receipt = { readonly id: bigint; readonly quote: OpenQuote };

/** One call and what it logged. */
export type Step = {
  readonly logs: readonly EncodedLog[];
  /** A call straight to a contract, whose calldata matters; null where any caller will do. */
  readonly call: { readonly from: Hex; readonly to: Hex; readonly input: Hex } | null;
};

/** Null when there is nothing to do it to at the moment. */
export type Action = (world: World) => Step | null;

export type World = ReturnType<typeof createWorld>;

// However long the history: what is in play fits a few megabytes, and still leaves rows that were long untouched.
const IN_PLAY_MAX = 5_000;
const TOKENS = 8;

export function createWorld(options: {
  contracts: Deployment["contracts"];
  dice: Dice;
  entropy: Entropy;
  accounts: number;
}) {
  const { contracts, dice, entropy } = options;
  const inPlay = <T>() => createLiveSet<T>(dice, IN_PLAY_MAX);
  const counters = new Map<string, number>();
  return {
    contracts,
    dice,
    entropy,
    /** Unix seconds of the block that is being made. */
    now: 0,
    /** The next id of a contract's counter, which starts at one. */
    next(counter: string): number {
      const n = (counters.get(counter) ?? 0) + 1;
      counters.set(counter, n);
      return n;
    },
    count: (counter: string) => counters.get(counter) ?? 0,
    agentOwner: (agentId: number) => entropy.address("agent owner", agentId),
    solver: (solverId: number) => entropy.address("solver", solverId),
    attester: (attestorId: number) => entropy.address("attestor", attestorId),
    merchantOwner: (merchantId: number) => entropy.address("merchant owner", merchantId),
    facilitator: (facilitatorId: number) => entropy.address("facilitator", facilitatorId),
    account: () => entropy.address("account", dice.skewed(options.accounts)),
    token: () => entropy.address("token", dice.skewed(TOKENS)),
    amount: () => BigInt(dice.between(1_000, 2_000_000_000)),
    /** Some new bytes that mean nothing to us. */
    anyHash(this: { next(counter: string): number }) {
      return entropy.hash("any", this.next("any"));
    },
    agents: inPlay<bigint>(),
    intents: inPlay<OpenIntent>(),
    chosenIntents: inPlay<OpenIntent>(),
    attestations: inPlay<bigint>(),
    merchants: inPlay<bigint>(),
    services: inPlay<{ readonly id: bigint; readonly merchantId: bigint }>(),
    facilitators: inPlay<bigint>(),
    quotes: inPlay<OpenQuote>(),
    receipts: inPlay<Receipt>(),
    disputes: inPlay<bigint>(),
    /** By account and token: never forgotten, because a limit may be set again. There are as many as accounts allow. */
    spendings: new Map<string, Spending>(),
    spenders: [] as Spending[],
    payments: inPlay<PaymentPolicy>(),
    sessionKeys: inPlay<SessionKey>(),
  };
}
