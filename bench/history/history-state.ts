// The state that actions of a history know and change: counters as in the contracts, and the things still in play.

import type { Hex } from "../../src/lib/hex.ts";
import type { Deployment } from "../../src/protocol/deployment.ts";
import type { EncodedLog } from "./abi-encoder.ts";
import { createBoundedSet } from "./bounded-set.ts";
import type { DerivedValues } from "./derived-values.ts";
import type { SeededDraws } from "./seeded-random.ts";

export type HistoryIntent = {
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

export type HistorySpendWindow = {
  readonly account: Hex;
  readonly token: Hex;
  spent: bigint;
  windowStart: number;
};

type HistoryPaymentPolicy = HistorySpendWindow & { readonly merchant: Hex; readonly facilitator: Hex };

type HistorySessionKey = { readonly account: Hex; readonly key: Hex; nonce: bigint };

export type HistoryQuote = {
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

type HistoryReceipt = { readonly id: bigint; readonly quote: HistoryQuote };

/** One call and what it logged. */
export type HistoryStep = {
  readonly logs: readonly EncodedLog[];
  /** A call straight to a contract, whose calldata matters; null if any caller will do. */
  readonly call: { readonly from: Hex; readonly to: Hex; readonly input: Hex } | null;
};

/** Null when there is nothing to do it to at the moment. */
export type HistoryAction = (world: HistoryState) => HistoryStep | null;

export type HistoryState = ReturnType<typeof createHistoryState>;

// However long the history: what is in play fits a few megabytes, and still leaves rows that were long untouched.
const IN_PLAY_MAX = 5_000;
const TOKENS = 8;

export function createHistoryState(options: {
  contracts: Deployment["contracts"];
  dice: SeededDraws;
  entropy: DerivedValues;
  accounts: number;
}) {
  const { contracts, dice, entropy } = options;
  const inPlay = <T>() => createBoundedSet<T>(dice, IN_PLAY_MAX);
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
    intents: inPlay<HistoryIntent>(),
    chosenIntents: inPlay<HistoryIntent>(),
    attestations: inPlay<bigint>(),
    merchants: inPlay<bigint>(),
    services: inPlay<{ readonly id: bigint; readonly merchantId: bigint }>(),
    facilitators: inPlay<bigint>(),
    quotes: inPlay<HistoryQuote>(),
    receipts: inPlay<HistoryReceipt>(),
    disputes: inPlay<bigint>(),
    /**
     * Keyed by account and token; never forgotten, because a limit may be set again. There are as many as accounts
     * allow.
     */
    spendings: new Map<string, HistorySpendWindow>(),
    spenders: [] as HistorySpendWindow[],
    payments: inPlay<HistoryPaymentPolicy>(),
    sessionKeys: inPlay<HistorySessionKey>(),
  };
}
