// What a second source says about the same wallet, and how the response reports where it differs.
import type { Decimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { WalletQuery } from "../types.ts";

/** A fungible asset by the second source; null is the native coin. Its names are not read: strangers choose them. */
export type SecondHolding = {
  readonly contract: Hex | null;
  readonly rawBalance: bigint;
  /** Null when the source does not know it. */
  readonly priceUsd: Decimal | null;
  readonly isSpam: boolean;
};

export type SecondOpinion = {
  readonly holdings: readonly SecondHolding[];
  /** When the source read the chain, ISO 8601; null when it does not say. */
  readonly updatedAt: string | null;
};

export type CrossCheckSource = {
  readonly name: string;
  /** May reject; the chain is then reported as unavailable. */
  read(query: WalletQuery, signal: AbortSignal): Promise<SecondOpinion>;
};

export type CrossCheckDifference = {
  readonly kind: "balance" | "only-there" | "only-here" | "price";
  readonly contract: Hex | null;
  readonly symbol: string | null;
  /** Smallest units, or US dollars of one whole unit for a price; null if nothing was read. */
  readonly ours: string | null;
  readonly theirs: string | null;
};

export type ChainCrossCheck = {
  readonly chain: string;
  readonly source: string;
  readonly status: "compared" | "unavailable";
  readonly updatedAt: string | null;
  /** Assets that both have. */
  readonly comparedCount: number;
  readonly differenceCount: number;
  /** The first of them; `differenceCount` says how many there are. */
  readonly differences: readonly CrossCheckDifference[];
  /** Assets that only the source has, and which it calls spam itself. */
  readonly ignoredSpamCount: number;
};
