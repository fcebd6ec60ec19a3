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
  /** Newest first: transactions in which an amount of a listed token moved. Transfers of nothing or of unlisted tokens, which anyone can forge, are left out. The wallet's own transactions and the received ones each get about half of the entries. */
  recentActivity: RecentActivity[];
  /** Source of the balances. */
  provider: string;
  /** The kind of account at the address, one entry per requested chain, in the order of the request. */
  accounts: PortfolioAccount[];
  /** Each lending account among the positions, by the market's own numbers at the block of its chain. Ratios are rounded so that no loan looks safer than it is; summary.warnings says why one is unknown. */
  health: LendingHealth[];
  /** The transfers that the native balance pays for, one entry per requested chain, in the order of the request. */
  gas: GasReadiness[];
  /** The name of the wallet in ENS or, if it has none there, in Basenames, of the requested chains: its own record, verified to lead back to the wallet. Null when it has none. A name can be set to read like another one: pay to addresses. */
  name: string | null;
  /** The block that each chain was read at, in the order of the request. */
  blocks: SnapshotBlock[];
  /** Only if the service compares with a second source. Nothing of the snapshot comes from that source: differences are reported, not resolved. */
  crossCheck?: CrossCheck[];
  omitted?: OmittedHoldings;
  /** The id under which the snapshot is stored for 90 days, as the start of a difference: the SHA-256 of its figures. Missing if the service stores none. */
  snapshotId?: string;
  /** Only with `partial=allow`: chains that could not be read. Nothing of them is in the response, and no total includes them: it is null, or marked as partial. */
  failedChains?: string[];
};

export type OmittedHoldings = {
  /** The `min_usd` of the request. */
  minUsd: string;
  /** Tokens that are not listed. */
  tokens: number;
  /** The tokens left out whose value is not known. */
  unpricedTokens: number;
  /** Positions that are not listed. */
  positions: number;
};

export type CrossCheck = {
  /** The chain's slug. */
  chain: string;
  /** The second source. */
  source: string;
  /** Whether the source could be read. */
  status: "compared" | "unavailable";
  /** When the source read the chain; null when it does not say. */
  updatedAt: string | null;
  /** Assets that both have. */
  comparedCount: number;
  /** All differences, also those beyond the list. */
  differenceCount: number;
  differences: CrossCheckDifference[];
  /** Assets that only the source has and calls spam itself. */
  ignoredSpamCount: number;
};

export type CrossCheckDifference = {
  /** `only-there`: the source has an asset that is not among the holdings read here; `only-here` the reverse; `price`: more than 2 % apart. */
  kind: "balance" | "only-there" | "only-here" | "price";
  /** Null for the native coin. */
  contract: string | null;
  /** The symbol as we know it; never the source's. */
  symbol: string | null;
  /** Smallest units for balances, US dollars of one whole unit for a price; null if nothing was read. */
  ours: string | null;
  /** Smallest units for balances, US dollars of one whole unit for a price; null if nothing was read. */
  theirs: string | null;
};

export type SnapshotBlock = {
  /** The chain's slug. */
  chain: string;
  number: number;
  hash: string;
};

export type GasReadiness = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  /** The symbol of the native coin. */
  symbol: string;
  /** The balance of the native coin, in wei. */
  rawBalance: string;
  balance: string;
  /** The base fee of the pinned block and a usual tip, in wei for a unit of gas; null when unknown. */
  gasPrice: string | null;
  /** The fee for sending the native coin: 21,000 gas, and on Base, Optimism and Arbitrum the fee for data. In wei; null when unknown. */
  transferCost: string | null;
  /** How many such transfers the balance pays for, without the amounts sent. */
  transfers: string | null;
  /** The fee for sending a token: 65,000 gas. */
  tokenTransferCost: string | null;
  /** How many of those the balance pays for. */
  tokenTransfers: string | null;
  /** Whether the balance pays for at least one transfer of a token. A Safe or smart account may have others pay for it; see accounts. */
  ready: boolean | null;
};

export type LendingHealth = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  protocol: string;
  name: string;
  /** The pool, market or vault that decides about a liquidation. */
  contract: string | null;
  /** How many times the collateral, each at its liquidation threshold, covers the debt; below 1 it can be liquidated. Null without debt, and when unknown. */
  healthFactor: string | null;
  /** Debt divided by collateral. */
  loanToValue: string | null;
  /** The loanToValue at which liquidation begins, for this collateral. */
  liquidationThreshold: string | null;
  /** The part of its value that the whole collateral can lose before liquidation begins. Null without debt, and when unknown. */
  distanceToLiquidation: string | null;
  /** Whether the account can be liquidated, by the market's own check if it has one. Null when unknown. */
  liquidatable: boolean | null;
  /** The value by the prices of the market itself, which decide about a liquidation. Null when unknown, or when the market counts in an asset without a known price. */
  collateralUsd: string | null;
  /** The debt by the same prices; "0" without debt. */
  debtUsd: string | null;
};

export type PortfolioAccount = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  /** eoa: no code. delegated: an EOA that runs the code of `delegate` (EIP-7702). safe: a Safe. smart-account: a contract that names an ERC-4337 entry point. contract: any other code. Null when it could not be read. */
  kind: "eoa" | "delegated" | "safe" | "smart-account" | "contract" | null;
  /** True when the code itself shows the kind. False when the contract only says so: any contract can name an entry point, owners and a version. */
  proven: boolean;
  /** The contract whose code a delegated account runs. */
  delegate: string | null;
  /** The contract whose code a Safe or a Coinbase Smart Wallet runs, when its code is their published proxy. */
  implementation: string | null;
  /** The version of a Safe: as published when proven, else as the contract says. */
  version: string | null;
  /** The owners of a Safe; null for other kinds, and for one with more than 60 owners. */
  owners: string[] | null;
  /** How many owners must sign. */
  threshold: number | null;
  /** The ERC-4337 entry point that the account names, if bundlers use it. */
  entryPoint: string | null;
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
  /** Who signed the transaction and paid for it; null when unknown. Only what the wallet signed is its own activity. It differs from `from` if a relayer, or an account with an allowance, moved the amount. */
  sender: string | null;
  /** The other party reads like another address of this list, or like the wallet: same first and last four digits. Never copy such an address. */
  lookalike: boolean;
  /** The asset that moved from `from` to `to`; null when it is unknown, or when the transaction only called a contract. The transaction may have moved more. */
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
  /** True for a vault that only a token list vouches for: it counts with what it says that it could pay now, at most what it holds, and never among the stablecoins. */
  selfReported: boolean;
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
  /** The price of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** balance × priceUsd, rounded half up to 6 decimals; negative for debt. If the price comes from pools, at most what those could pay for the asset on this chain, in the wallet and in positions together; summary.warnings then says so. */
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
  /** The price of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** balance × priceUsd, rounded half up to 6 decimals; negative for debt. If the price comes from pools, at most what those could pay for the asset on this chain, in the wallet and in positions together; summary.warnings then says so. */
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
  /** The entries with a valueUsd. */
  pricedTokenCount: number;
  /** The entries without a valueUsd. */
  unpricedTokenCount: number;
  /** The value of the dollar stablecoins held, identified by address: in the wallet and in positions. Debt is not subtracted. "0" when none is held, null when none of them has a price. */
  stablecoinValueUsd: string | null;
  /** One per requested chain, in the order of the request. */
  chains: ChainSummary[];
  /** The largest tokens and positions by value, without spam and debt. A position has its own name. */
  topHoldings: TopHolding[];
  /** The block of each chain, and what is missing, not counted or uncertain. */
  warnings: string[];
  /** How much of the value held rests on prices of tokens that no list has: only the pools that buy them show what they are worth. "0" when there is none, null when a chain could not be read. */
  unlistedValueUsd: string | null;
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
  /** The entries with a valueUsd. */
  pricedTokenCount: number;
  /** The entries without a valueUsd. */
  unpricedTokenCount: number;
  /** The sum of valueUsd over the positions and the tokens that are not spam. "0" for an empty wallet. Null when it is unknown: no holding has a price, a debt cannot be valued together with everything in the same market, or a lending protocol that may know a debt could not be read; summary.warnings says which. */
  totalValueUsd: string | null;
};
