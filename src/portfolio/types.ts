// The words of the portfolio: a chain at one block, what is held there, prices and positions; doors and siblings fill them.
import type { Decimal } from "../lib/decimal.ts";
import type { Hex } from "../lib/hex.ts";

/** A token as a list, a contract or a vendor describes it. Addresses are lower-case; null is the native coin. */
export type Asset = {
  readonly contract: Hex | null;
  readonly symbol: string | null;
  readonly name: string | null;
  /** Null when nobody could say: the balance is then raw only. 0 is real. */
  readonly decimals: number | null;
  readonly logo: string | null;
};

export type Holding = Asset & { readonly rawBalance: bigint };

export type ListedToken = Asset & { readonly contract: Hex; readonly decimals: number };

/** What is known of a chain beforehand. */
export type ChainConfig = {
  readonly slug: string;
  readonly chainId: number;
  readonly name: string;
  readonly native: { readonly symbol: string; readonly name: string; readonly decimals: number };
  readonly blockTimeMs: number;
  /** The token universe: built-in and operator lists, one entry per contract, no pseudo-native rows. */
  readonly tokens: ReadonlyMap<Hex, ListedToken>;
  /** By address, never by symbol. */
  readonly stablecoins: ReadonlySet<Hex>;
};

export type PinnedBlock = {
  readonly number: number;
  readonly hash: Hex;
  /** Seconds since 1970. */
  readonly timestamp: number;
};

export type ContractRead = {
  readonly to: Hex;
  readonly data: Hex;
  /** For contracts anyone may have deployed; the port puts its own limit where this is missing. */
  readonly gasMax?: number;
};

export type TransferLog = {
  readonly contract: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly transactionHash: Hex;
  readonly blockNumber: number;
  /** Null where the node does not say it with the log. */
  readonly blockTimestamp: number | null;
  readonly logIndex: number;
  /** The log names a token id (ERC-721): its contract counts pieces, not an amount. */
  readonly isErc721?: boolean;
};

/** ERC-20 and ERC-721 transfers by sender or receiver, from an inclusive range that ends at or below the pinned block. */
export type WalletTransferQuery = {
  readonly wallet: Hex;
  readonly side: "from" | "to";
  readonly fromBlock: number;
  readonly toBlock: number;
};

/** One chain, everything read at the same block. Whatever rejects, rejects with a Fault. */
export type PinnedChain = {
  readonly chain: ChainConfig;
  readonly block: PinnedBlock;
  /** Calls in order, in one round trip; null for a revert or an answer that cannot be had within its gas. */
  read(calls: readonly ContractRead[], signal: AbortSignal): Promise<readonly (Hex | null)[]>;
  /** One call to code that is lent to an empty address for this call; null when the node does not lend. */
  callWithOverride(
    call: { readonly code: Hex; readonly data: Hex; readonly gasMax?: number },
    signal: AbortSignal,
  ): Promise<Hex | null>;
  nativeBalance(wallet: Hex, signal: AbortSignal): Promise<bigint>;
  /** Rejects with LOGS_TOO_LARGE when the node wants a smaller range. */
  transfers(question: WalletTransferQuery, signal: AbortSignal): Promise<readonly TransferLog[]>;
  /** Timestamps of blocks at or below the pinned one, in seconds, in order. */
  timestamps(blocks: readonly number[], signal: AbortSignal): Promise<readonly number[]>;
};

/** Pins the newest block of a chain. */
export type PortfolioChain = { readonly chain: ChainConfig; pin(signal: AbortSignal): Promise<PinnedChain> };

export type WalletActivity = {
  readonly hash: Hex;
  readonly from: Hex | null;
  readonly to: Hex | null;
  readonly blockNumber: number | null;
  /** Seconds since 1970. */
  readonly timestamp: number | null;
};

/** Enough to see what a wallet is doing; its history is another question. */
export const ACTIVITY_MAX = 25;

/** `native` or the lower-case contract. */
export type AssetKey = "native" | Hex;

export function getAssetKey({ contract }: Pick<Asset, "contract">): AssetKey {
  return contract ?? "native";
}

export type WalletQuery = { readonly at: PinnedChain; readonly wallet: Hex };

/** Balances are complete, or the provider rejects; everything else degrades to warnings. Zero balances are left out. */
export type ChainHoldings = {
  readonly holdings: readonly Holding[];
  /** Newest first. */
  readonly activity: readonly WalletActivity[];
  readonly warnings: readonly string[];
  /** Prices a vendor delivers with its balances; the last source that is believed. */
  readonly prices?: ReadonlyMap<AssetKey, Decimal>;
};

export type HoldingsProvider = {
  readonly name: string;
  read(question: WalletQuery, signal: AbortSignal): Promise<ChainHoldings>;
};

export type PriceQuery = {
  readonly at: PinnedChain;
  /** Distinct, only those that still lack a price. */
  readonly assets: readonly Asset[];
};

/** Only prices it vouches for; a price it does not know, or no longer believes, is simply missing. Known zero is 0. */
export type PriceResult = {
  readonly prices: ReadonlyMap<AssetKey, Decimal>;
  readonly warnings: readonly string[];
};

export type PriceSource = {
  /** Shown as `priceSource`. */
  readonly name: string;
  /** May reject; the caller turns that into a warning and asks the next source. */
  read(question: PriceQuery, signal: AbortSignal): Promise<PriceResult>;
};

export type PositionKind = "supplied" | "borrowed" | "vault" | "liquidity" | "staked";

/** Raw amounts are positive; `borrowed` makes their value negative. */
export type ProtocolPosition = {
  readonly protocol: string;
  readonly kind: PositionKind;
  readonly name: string;
  readonly contract: Hex | null;
  readonly assets: readonly Holding[];
  /** Receipt and debt tokens this position stands for: they are not shown as tokens again. */
  readonly receiptTokens: readonly Hex[];
};

export type PositionQuery = WalletQuery & { readonly holdings: readonly Holding[] };

export type PositionResult = {
  readonly positions: readonly ProtocolPosition[];
  readonly warnings: readonly string[];
};

export type PositionReader = {
  readonly protocol: string;
  /** May reject; the caller turns that into a warning, and the receipt tokens stay plain tokens. */
  read(question: PositionQuery, signal: AbortSignal): Promise<PositionResult>;
};
