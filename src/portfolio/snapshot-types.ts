// The response to a portfolio request; every amount is plain decimal text.

import type { Account } from "./account/kind.ts";
import type { ChainCrossCheck } from "./cross-check/types.ts";
import type { LoanRatios } from "./health/loan.ts";
import type { PositionKind } from "./types.ts";

export type PortfolioAsset = {
  readonly contract: string | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly rawBalance: string;
  readonly balance: string | null;
  readonly priceUsd: string | null;
  readonly valueUsd: string | null;
  readonly priceSource: string | null;
  readonly priceContract: string | null;
  readonly priceTimestamp: string | null;
};

export type PortfolioToken = PortfolioAsset & {
  readonly chain: string;
  readonly chainId: string;
  readonly logo: string | null;
  readonly spam: boolean;
};

export type PortfolioPosition = {
  readonly chain: string;
  readonly chainId: string;
  readonly protocol: string;
  readonly kind: PositionKind;
  readonly name: string;
  readonly contract: string | null;
  readonly assets: readonly PortfolioAsset[];
  readonly valueUsd: string | null;
  readonly partial: boolean;
  readonly selfReported: boolean;
};

export type RecentActivity = {
  readonly chain: string;
  readonly hash: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly blockNumber: number | null;
  readonly timestamp: string | null;
  readonly sender: string | null;
  readonly lookalike: boolean;
  readonly transfer: ActivityTransfer | null;
};

type ActivityTransfer = {
  readonly contract: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly rawAmount: string;
  readonly amount: string | null;
};

export type ChainSummary = {
  readonly chain: string;
  readonly tokenCount: number;
  readonly pricedTokenCount: number;
  readonly unpricedTokenCount: number;
  readonly totalValueUsd: string | null;
};

export type TopHolding = {
  readonly chain: string;
  readonly contract: string | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly valueUsd: string;
};

type PortfolioSummary = Omit<ChainSummary, "chain"> & {
  readonly stablecoinValueUsd: string | null;
  readonly chains: readonly ChainSummary[];
  readonly topHoldings: readonly TopHolding[];
  readonly warnings: readonly string[];
  readonly unlistedValueUsd: string | null;
};

export type PortfolioAccount = Account & { readonly chain: string; readonly chainId: string };

/** A lending account; ratios and amounts by the market itself, null if unknown. */
export type LendingHealth = LoanRatios & {
  readonly chain: string;
  readonly chainId: string;
  readonly protocol: string;
  readonly name: string;
  readonly contract: string | null;
  readonly collateralUsd: string | null;
  readonly debtUsd: string | null;
};

/** Costs in wei; null if they are unknown. */
export type GasReadiness = {
  readonly chain: string;
  readonly chainId: string;
  readonly symbol: string;
  readonly rawBalance: string;
  readonly balance: string;
  readonly gasPrice: string | null;
  readonly transferCost: string | null;
  readonly transfers: string | null;
  readonly tokenTransferCost: string | null;
  readonly tokenTransfers: string | null;
  readonly ready: boolean | null;
};

/** The block that a chain was read at. */
export type SnapshotBlock = { readonly chain: string; readonly number: number; readonly hash: string };

export type PortfolioSnapshot = {
  readonly address: string;
  readonly timestamp: string;
  readonly chains: readonly string[];
  readonly summary: PortfolioSummary;
  readonly tokens: readonly PortfolioToken[];
  readonly positions: readonly PortfolioPosition[];
  readonly recentActivity: readonly RecentActivity[];
  readonly provider: string;
  /** Only where the request allows it and chains could not be read: their slugs. */
  readonly failedChains?: readonly string[];
  /** Only where the service compares with a second source: one entry per chain. */
  readonly crossCheck?: readonly ChainCrossCheck[];
  /** Under which its figures are stored; only if the service stores them. */
  readonly snapshotId?: string;
  /** Only where the request has a least value. */
  readonly omitted?: {
    readonly minUsd: string;
    readonly tokens: number;
    readonly unpricedTokens: number;
    readonly positions: number;
  };
  /** In the order of the request. */
  readonly accounts: readonly PortfolioAccount[];
  readonly health: readonly LendingHealth[];
  /** In the order of the request. */
  readonly gas: readonly GasReadiness[];
  readonly name: string | null;
  /** In the order of the request. */
  readonly blocks: readonly SnapshotBlock[];
};
