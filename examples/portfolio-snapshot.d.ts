// The response to a portfolio request, generated from its schema: amounts are decimal text, null is unknown.

export type PortfolioSnapshot = {
  address: string;
  /** Time of the snapshot. */
  timestamp: string;
  chains: string[];
  summary: PortfolioSummary;
  /** Largest value first, tokens without a value last. */
  tokens: PortfolioToken[];
  positions: PortfolioPosition[];
  /** Newest first: transactions in which an amount of a listed token moved. Transfers of nothing or of unlisted tokens, which anyone can forge, are left out. What the wallet did and what it received each keep about half of the places. */
  recentActivity: RecentActivity[];
  /** Source of the balances. */
  provider: string;
};

export type RecentActivity = {
  chain: string | null;
  hash: string | null;
  /** Who paid in the first transfer from the wallet, or else to it. */
  from: string | null;
  /** Who received in that transfer. */
  to: string | null;
  blockNumber: number | string | null;
  timestamp: string | null;
  /** Who signed the transaction and paid for it; null when unknown. Only what the wallet signed is its own activity. It differs from `from` where a relayer, or an account with an allowance, moved the amount. */
  sender: string | null;
  /** The other party reads like another address of this list, or like the wallet: same first and last four digits. Never copy such an address. */
  lookalike: boolean;
  /** What moved from `from` to `to`; null when it is unknown, or when the transaction only called a contract. The transaction may have moved more. */
  transfer: ActivityTransfer | null;
};

export type ActivityTransfer = {
  /** Null for the native coin. */
  contract: string | null;
  /** From the token list; null when the list has none. */
  symbol: string | null;
  decimals: number | null;
  /** In the smallest unit. */
  rawAmount: string;
  /** Exact; null when the decimals are unknown. */
  amount: string | null;
};

export type PortfolioPosition = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  protocol: string;
  kind: "supplied" | "borrowed" | "vault" | "liquidity" | "staked";
  name: string;
  contract: string | null;
  assets: PositionAsset[];
  /** The sum of its assets that have a value; null when none has, negative for debt. */
  valueUsd: string | null;
  /** True when valueUsd leaves out an asset, because that has no known price. */
  partial: boolean;
};

export type PositionAsset = {
  /** Null for the native coin. */
  contract: string | null;
  symbol: string | null;
  name: string | null;
  decimals: number | null;
  /** In the smallest unit. */
  rawBalance: string;
  /** Exact; null when the decimals are unknown. */
  balance: string | null;
  /** Of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** balance × priceUsd, rounded half up to 6 decimals; negative for debt. Where the price comes from pools, at most what those could pay for the asset on this chain, in the wallet and in positions together; summary.warnings then says so. */
  valueUsd: string | null;
  /** Name of the source of the price. */
  priceSource: string | null;
  /** The contract that the price was read from; null for a vendor. */
  priceContract: string | null;
  /** When the source last set the price; null when it does not say. */
  priceTimestamp: string | null;
};

export type PortfolioToken = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  /** Null for the native coin. */
  contract: string | null;
  symbol: string | null;
  name: string | null;
  decimals: number | null;
  logo: string | null;
  /** In the smallest unit. */
  rawBalance: string;
  /** Exact; null when the decimals are unknown. */
  balance: string | null;
  /** Of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** balance × priceUsd, rounded half up to 6 decimals; negative for debt. Where the price comes from pools, at most what those could pay for the asset on this chain, in the wallet and in positions together; summary.warnings then says so. */
  valueUsd: string | null;
  /** Name of the source of the price. */
  priceSource: string | null;
  /** The contract that the price was read from; null for a vendor. */
  priceContract: string | null;
  /** When the source last set the price; null when it does not say. */
  priceTimestamp: string | null;
  /** When true, excluded from totals and top holdings; summary.warnings states why. */
  spam: boolean;
};

export type PortfolioSummary = {
  /** The sum of valueUsd over the positions and the tokens that are not spam. "0" for an empty wallet. Null when it is unknown: no holding has a price, a debt cannot be valued together with everything in the same market, or a lending protocol that may know a debt could not be read; summary.warnings says which. */
  totalValueUsd: string | null;
  /** The entries of tokens, with spam unless the request excludes it. Positions are not counted. */
  tokenCount: number;
  /** Those of them with a valueUsd. */
  pricedTokenCount: number;
  /** Those of them without. */
  unpricedTokenCount: number;
  /** The value of the dollar stablecoins held, identified by address: in the wallet and in positions. Debt is not subtracted. "0" when none is held, null when none of them has a price. */
  stablecoinValueUsd: string | null;
  /** One per requested chain, in the order of the request. */
  chains: ChainSummary[];
  /** The largest tokens and positions by value, without spam and debt. A position has its own name. */
  topHoldings: TopHolding[];
  /** The block of each chain, and what is missing, not counted or uncertain. */
  warnings: string[];
};

export type TopHolding = {
  /** The chain's slug. */
  chain: string;
  /** Null for the native coin. */
  contract: string | null;
  symbol: string | null;
  name: string | null;
  valueUsd: string;
};

export type ChainSummary = {
  /** The chain's slug. */
  chain: string;
  /** The entries of tokens, with spam unless the request excludes it. Positions are not counted. */
  tokenCount: number;
  /** Those of them with a valueUsd. */
  pricedTokenCount: number;
  /** Those of them without. */
  unpricedTokenCount: number;
  /** The sum of valueUsd over the positions and the tokens that are not spam. "0" for an empty wallet. Null when it is unknown: no holding has a price, a debt cannot be valued together with everything in the same market, or a lending protocol that may know a debt could not be read; summary.warnings says which. */
  totalValueUsd: string | null;
};
