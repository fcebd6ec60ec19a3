// The report of a second source about the same wallet.
import type { Decimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { WalletQuery } from "../types.ts";

/** A fungible asset by the second source; null is the native coin. Its names are not read: anyone chooses them. */
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
