// The portfolio's domain types: a chain pinned to one block, holdings, prices, positions, and what reads each of them.
import type { ChainInfo } from "../chain/chains/chain-info.ts";
import type { ContractCallResult } from "../chain/contract-calls.ts";
import type { TopicFilter, TransferFilter } from "../chain/logs/get-logs.ts";
import type { NodeLog } from "../chain/logs/log.ts";
import type { PinnedRpc } from "../chain/rpc/types.ts";
import type { Decimal } from "../lib/decimal.ts";
import type { Hex } from "../lib/hex.ts";
import type { PortfolioPosition } from "../schema/portfolio/snapshot.ts";

/** A token as described by a list, a contract or a vendor. Addresses are lower-case; null is the native coin. */
export type Asset = {
  readonly contract: Hex | null;
  readonly symbol: string | null;
  readonly name: string | null;
  /** Null when unknown: only the raw balance is then shown. 0 is a valid value. */
  readonly decimals: number | null;
  readonly logo: string | null;
};

export type Holding = Asset & { readonly rawBalance: bigint };

export type ListedToken = Asset & { readonly contract: Hex; readonly decimals: number };

/** Facts about a chain that are known before reading it. */
export type ChainConfig = Pick<
  ChainInfo,
  "slug" | "chainId" | "name" | "native" | "blockTimeMs" | "explorerTxUrl"
> & {
  /** Built-in and operator token lists merged: one entry per contract, no pseudo-native addresses. */
  readonly tokens: ReadonlyMap<Hex, ListedToken>;
  /** Identified by address, never by symbol. */
  readonly stablecoins: ReadonlySet<Hex>;
};

export type PinnedBlock = {
  readonly number: number;
  readonly hash: Hex;
  /** Seconds since 1970. */
  readonly timestamp: number;
};

export type TimedBlock = Pick<PinnedBlock, "number" | "timestamp">;

export type ContractRead = {
  readonly to: Hex;
  readonly data: Hex;
  /** For contracts that anyone may have deployed; defaults to the chain access's own limit. */
  readonly gasMax?: number;
};

/** Results of calls at one block as the reads of one wallet use them, by `keyOfCall`. */
export type KnownResults = {
  /** Null for a contract that reverted; undefined for a result that is not known. */
  find(key: string): Hex | null | undefined;
  /** Keeps the result of a call, unless it may differ for another wallet, or says nothing about the contract. */
  keep(key: string, call: ContractRead, result: Hex | null): void;
};

/** A call, and what `keyOfCall` makes of it. */
export type KeyedRead = { readonly key: string; readonly call: ContractRead };

/** Results by key, as `KnownResults`. */
export type EarlyResults = ReadonlyMap<string, Hex | null>;

export type TransferLog = {
  /** Null for the native coin, whose transfers some chains log, too. */
  readonly contract: Hex | null;
  readonly from: Hex;
  readonly to: Hex;
  readonly transactionHash: Hex;
  readonly blockNumber: number;
  /** Null when the node does not include it in the log. */
  readonly blockTimestamp: number | null;
  readonly logIndex: number;
  /** Null when the log does not have exactly one word for it. */
  readonly amount: bigint | null;
  /** The log has a token id (ERC-721): the contract's balance counts items, not an amount. */
  readonly isErc721?: boolean;
  /** The id of an ERC-721 token; null for an ERC-20. */
  readonly tokenId?: bigint | null;
};

export type LogRange = { readonly fromBlock: number; readonly toBlock: number };

export type PlacedLog = { readonly blockNumber: number; readonly logIndex: number };

/** All logs of a kind in these blocks, ascending. */
export type RememberedLogs<Log extends PlacedLog = PlacedLog> = LogRange & {
  readonly logs: readonly Log[];
  /** When the part that was read first was read. */
  readonly sinceMs: number;
  /** The hash of the last block; null if nothing outlives the process. */
  readonly hash: Hex | null;
};

/** Logs of these events and this role of the wallet. */
export type LogKind = "from" | "to" | "approvals";

/** The memory of one wallet on one chain, as one read uses it. */
export type WalletMemory = {
  find(kind: LogKind): RememberedLogs | undefined;
  keep(kind: LogKind, logs: RememberedLogs): void;
  /** Another search then finds what a node left out. */
  readonly msMax: number;
  /** Blocks that may be missing before it is renewed. */
  readonly lagMax: number;
  /** The hash of a final block, by the node that is asked for logs; null if it cannot be read. */
  hashOf(block: number, signal: AbortSignal): Promise<Hex | null>;
  /** Uses nothing of it in this read; deletes all of the wallet if a node has shown that it is false. */
  forget(isFalse: boolean): void;
  /** Stores what was kept of a kind since it was loaded. */
  save(kind: LogKind): void;
};

/** One chain, with every read at the same block. Every rejection is a Fault. */
export type PinnedChain = {
  readonly chain: ChainConfig;
  readonly block: PinnedBlock;
  /**
   * The request named the block: what is read must follow from the chain at that block alone, so that it is the same at
   * any time and in any process. No vendor of the present, and no memory of earlier reads.
   */
  readonly asOf?: boolean;
  /** Results at this block that were read for any wallet. */
  readonly results?: KnownResults;
  /** Results at this block of calls that were sent early, because the wallet's last read led to them. */
  readonly early?: (calls: readonly KeyedRead[]) => EarlyResults | Promise<EarlyResults>;
  /** The logs that were remembered of the wallet; absent if nothing outlives the process. */
  readonly memory?: WalletMemory;
  /** Results in the order of the calls, in one round trip; null for a revert or a call that runs out of gas. */
  read(calls: readonly ContractRead[], signal: AbortSignal): Promise<readonly (Hex | null)[]>;
  /** The same at a block at least `seconds` before the pinned one; null when the node does not have that state. */
  readEarlier?(
    seconds: number,
    calls: readonly ContractRead[],
    signal: AbortSignal,
  ): Promise<readonly (Hex | null)[] | null>;
  /** Calls code placed by a state override at an empty address; null when the node does not support overrides. */
  callWithOverride(
    call: {
      readonly code: Hex;
      readonly data: Hex;
      readonly gasMax?: number;
      /** Travels with the other reads of the moment: it keeps no node busy. */
      readonly isSmall?: boolean;
      /** Travels with other large calls of the moment, each of which the node made for the wallet a short time ago. */
      readonly isRepeated?: boolean;
    },
    signal: AbortSignal,
  ): Promise<Hex | null>;
  /**
   * Calls code placed as `account` itself. A contract can see that code; so `plainCalls` come in the same batch from the
   * account as it is, each null when the node did not make it. Null as a whole like `callWithOverride`.
   */
  callAsAccount(
    call: {
      readonly account: Hex;
      readonly code: Hex;
      readonly data: Hex;
      readonly plainCalls: readonly ContractRead[];
    },
    signal: AbortSignal,
  ): Promise<{
    readonly returnData: Hex;
    readonly plainResults: readonly (ContractCallResult | null)[];
  } | null>;
  nativeBalance(wallet: Hex, signal: AbortSignal): Promise<bigint>;
  /** The base fee of the pinned block, in wei for a unit of gas; null for a block before EIP-1559. */
  baseFee(signal: AbortSignal): Promise<bigint | null>;
  /** `0x` for an account without code. Lower-case. */
  code(address: Hex, signal: AbortSignal): Promise<Hex>;
  /** One word of a contract's storage. */
  storage(address: Hex, slot: bigint, signal: AbortSignal): Promise<bigint>;
  /** ERC-20 and ERC-721 transfers up to the pinned block. Rejects with LOGS_TOO_LARGE when the node wants a smaller range. */
  transfers(filter: TransferFilter, signal: AbortSignal): Promise<readonly TransferLog[]>;
  /** Logs of any kind up to the pinned block, ascending. Rejects like `transfers`. */
  logs(filter: TopicFilter, signal: AbortSignal): Promise<readonly NodeLog[]>;
  /** The hash of a block up to the pinned one, in the request of the logs that are read at the same time. */
  blockHash?(number: number, signal: AbortSignal): Promise<Hex>;
  /** Timestamps in seconds, by number, of blocks up to the pinned one. */
  timestamps(blocks: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, number>>;
  /** Who sent each transaction; those that no node has are missing. Hashes are lower-case. */
  senders(hashes: readonly Hex[], signal: AbortSignal): Promise<ReadonlyMap<Hex, Hex>>;
};

export type PortfolioChain = {
  readonly chain: ChainConfig;
  /**
   * Pins the newest block, or the given one. Rejects with INPUT_INVALID for a block above the head, and with
   * STATE_UNAVAILABLE when no node has its state. At the newest block, the reads of a `wallet` use what those of others
   * have read there.
   */
  pin(signal: AbortSignal, block?: number, wallet?: Hex): Promise<PinnedChain>;
  /** Whether reads of the last minute show that this block can be pinned; throws if they show that it cannot. */
  canPin(block: number): boolean;
  /**
   * The last final block at or before a time in seconds since 1970. Rejects with INPUT_INVALID for a time before the
   * first block, or after the newest final one.
   */
  blockAt(seconds: number, signal: AbortSignal): Promise<TimedBlock>;
  /**
   * Runs work on one node after the other until it returns a value; null if it does on none. Only nodes that have the
   * state of a past block are asked about it. Absent for a chain that proves nothing.
   */
  tryNodes?<T>(
    at: { readonly number: number; readonly isPast: boolean },
    work: (node: PinnedRpc) => Promise<T | null>,
    signal: AbortSignal,
  ): Promise<T | null>;
};

/** An amount in the smallest unit; `contract` is null for the native coin. */
type MovedAmount = { readonly contract: Hex | null; readonly rawAmount: bigint };

export type WalletActivity = {
  readonly hash: Hex;
  /** Who signed the transaction and paid for it; null when unknown. */
  readonly sender: Hex | null;
  readonly from: Hex | null;
  readonly to: Hex | null;
  /** The amount that moved between them; null when unknown, or when nothing did. */
  readonly transfer: MovedAmount | null;
  /** The counterparty reads like another one, or like the wallet itself. */
  readonly lookalike: boolean;
  readonly blockNumber: number | null;
  /** Seconds since 1970. */
  readonly timestamp: number | null;
};

/** `native` or the lower-case contract. */
export type AssetKey = "native" | Hex;

export function getAssetKey({ contract }: Pick<Asset, "contract">): AssetKey {
  return contract ?? "native";
}

/** The native coin, and tokens that a list or our map of stablecoins has: no third party made them for this wallet. */
export function isListed(
  { tokens, stablecoins }: ChainConfig,
  { contract }: Pick<Asset, "contract">,
): boolean {
  return contract === null || tokens.has(contract) || stablecoins.has(contract);
}

export type WalletQuery = { readonly at: PinnedChain; readonly wallet: Hex };

export type HoldingsQuery = WalletQuery & {
  /** Leaves out recent activity, which costs requests of its own. */
  readonly withoutActivity?: boolean;
  /** Asks tokens for names and decimals along with the last balances, unless those of too many would be of no use. */
  readonly withMetadata?: boolean;
  /** Called with contracts that the wallet may hold, in the turn of the last reads: what is asked then travels with them. */
  readonly onHeld?: (contracts: readonly Hex[]) => void;
  /** Called once all that the wallet holds is known: activity may take longer, and no price or position needs it. */
  readonly onTokens?: (tokens: FoundTokens) => void;
};

export type FoundTokens = Pick<ChainHoldings, "holdings" | "metadata" | "transfers">;

export type TokenMetadata = Pick<Asset, "decimals" | "symbol" | "name">;

/** Metadata from the contracts of tokens; null if those of a kind failed or were late. */
export type TokensMetadata = {
  readonly listed: ReadonlyMap<Hex, TokenMetadata> | null;
  readonly unlisted: ReadonlyMap<Hex, TokenMetadata> | null;
};

/** The provider rejects unless the balances are complete; all else degrades to warnings. Zero balances are omitted. */
export type ChainHoldings = {
  readonly holdings: readonly Holding[];
  /** Newest first. */
  readonly activity: readonly WalletActivity[];
  readonly warnings: readonly string[];
  /** Prices that a vendor returns with its balances; the least trusted source. */
  readonly prices?: ReadonlyMap<AssetKey, QuotedPrice>;
  /** Metadata from contracts, if it was read along. */
  readonly metadata?: TokensMetadata;
  /** The recent transfers that were read on the way; missing if the provider reads none. */
  readonly transfers?: readonly TransferLog[];
};

export type HoldingsProvider = {
  readonly name: string;
  /** Knows the newest balances only: as of a block, balances are read from nodes instead. */
  readonly presentOnly?: boolean;
  read(query: HoldingsQuery, signal: AbortSignal): Promise<ChainHoldings>;
};

/** The price of one whole unit of an asset in US dollars, and its source. */
export type QuotedPrice = {
  readonly usd: Decimal;
  /** The contract that says so, such as the feed; null for a vendor. */
  readonly contract: Hex | null;
  /** When the source last set it, in seconds since 1970; null when unknown. */
  readonly timestamp: number | null;
  /**
   * The most that the markets behind an easily moved price could pay in all; null for a price that needs no such limit.
   */
  readonly payableUsdMax: Decimal | null;
  /** Whether it shows that the token is genuine: a feed or a reserve for exactly its address, or deep pools. */
  readonly provesToken: boolean;
};

/** A price of which only that is known which is given. */
export function quotePrice(usd: Decimal, known: Partial<Omit<QuotedPrice, "usd">> = {}): QuotedPrice {
  return { usd, contract: null, timestamp: null, payableUsdMax: null, provesToken: false, ...known };
}

export type AssetPrice = QuotedPrice & {
  /** The name of the price source. */
  readonly source: string;
};

export type PriceQuery = {
  readonly at: PinnedChain;
  /** Distinct assets that have no price yet, with how much is held of each as far as that is known. */
  readonly assets: readonly (Asset & { readonly rawBalance?: bigint })[];
  /** An unlisted token has a price of pools only if this wallet could sell what it holds of it. */
  readonly holder?: { readonly wallet: Hex; readonly holdings: readonly Holding[] };
};

/** An unknown or stale price is missing from the map; a known zero is 0. */
export type PriceResult = {
  readonly prices: ReadonlyMap<AssetKey, QuotedPrice>;
  /** Assets that were not looked up, for example beyond a limit: a missing price says nothing about them. */
  readonly unasked?: ReadonlySet<AssetKey>;
  readonly warnings: readonly string[];
};

export type PriceSource = {
  /** Shown as `priceSource`. */
  readonly name: string;
  /** Knows the newest prices only, and is left out as of a block. */
  readonly presentOnly?: boolean;
  /** Whether it prices the asset unless its contracts fail. */
  lists?(chainId: number, asset: Asset): boolean;
  /** Asks early what is the same for all wallets of a block: the block remembers the results. */
  prefetch?(query: PriceQuery, signal: AbortSignal): Promise<unknown>;
  /** May reject; the caller turns that into a warning and tries the next source. */
  read(query: PriceQuery, signal: AbortSignal): Promise<PriceResult>;
};

/** The price of one asset in another, by the market that holds both. */
export type MarketRate = {
  /** Whole units of `per` for one whole unit. */
  readonly rate: Decimal;
  /** Its own price, in dollars, makes this one a price in dollars. */
  readonly per: Asset & Pick<PositionAsset, "marketPrice">;
  readonly source: string;
  readonly contract: Hex;
  readonly timestamp: number | null;
};

/** An amount in a position, with what the protocol itself says about its price. */
export type PositionAsset = Holding & {
  /** Used when no price source knows the asset: the price by which its own market values it. */
  readonly marketPrice?: AssetPrice | null;
  /** The same for a market that does not count in dollars. */
  readonly marketRate?: MarketRate | null;
  /** Code that anyone may have written decides whether the wallet is paid this amount: it has no price here. */
  readonly isPayoutUnproven?: boolean;
};

export type PositionKind = PortfolioPosition["kind"];

/** Raw amounts are positive; `borrowed` makes their value negative. */
export type ProtocolPosition = {
  readonly protocol: string;
  readonly kind: PositionKind;
  readonly name: string;
  readonly contract: Hex | null;
  /** Set for a position that is an NFT in the wallet itself: an account that may take the NFT takes the position. */
  readonly tokenId?: bigint;
  /**
   * Positions of the same market are one account, in which collateral secures debt: they are valued together or not at
   * all. Null for a position that secures nothing.
   */
  readonly market?: string | null;
  /** A part of that account could not be read, so that what it owes says nothing about what it is worth. */
  readonly incomplete?: boolean;
  readonly assets: readonly PositionAsset[];
  /** Receipt and debt tokens that represent this position: they are not listed again as tokens. */
  readonly receiptTokens: readonly Hex[];
  /** A contract says so of itself, and only a token list vouches for it: its coins do not count as stablecoins. */
  readonly selfReported?: boolean;
};

export type WalletTokens = {
  readonly holdings: readonly Holding[];
  /** Recent transfers from and to the wallet, as far as they are known: they show where it staked what. */
  readonly transfers?: readonly TransferLog[];
};

export type PositionQuery = WalletQuery & WalletTokens;

/** A query that is made while the tokens are still being read: most protocols are asked for the wallet itself. */
export type EarlyPositionQuery = WalletQuery & { readonly tokens: Promise<WalletTokens> };

export type PositionResult = {
  readonly positions: readonly ProtocolPosition[];
  /** Tokens that a protocol's factory proves to be its own, such as vault shares: never spam, whatever their names. */
  readonly provenTokens?: ReadonlySet<Hex>;
  /** Tokens that behave like shares, which markets rarely trade: their lack of a price says nothing about them. */
  readonly unmarketedTokens?: ReadonlySet<Hex>;
  /** Contracts of which positions are missing, such as managers whose NFTs could not all be found. */
  readonly incompleteContracts?: ReadonlySet<Hex>;
  /** Nothing of a lending market could be read, so that a debt may be missing among the positions. */
  readonly hasUnreadDebt?: true;
  readonly warnings: readonly string[];
};

type DelegationTarget = {
  /** `protocol` of the positions. */
  readonly protocol: string;
  /** The pool, the market, the connector of all vaults, or the manager of the NFTs. */
  readonly contract: Hex;
};

/** A contract in which a wallet can let others act on its positions, by the view that tells for whom. */
export type Delegation =
  | (DelegationTarget & { readonly form: "comet" | "morpho" | "venus" | "euler" | "nft" })
  | (DelegationTarget & {
      readonly form: "aave";
      /** The asset that the pool counts in, with 18 decimals; dollars with 8 if it is absent. */
      readonly quote?: Hex;
      /** The asset that each debt token of our data lends. */
      readonly underlyingOf: ReadonlyMap<Hex, Hex>;
      /** The words of the pool's data about a reserve that name its debt tokens. */
      readonly debtWords: readonly number[];
      readonly words: number;
    });

export type HeldContracts = { readonly at: PinnedChain; readonly contracts: readonly Hex[] };

export type PositionReader = {
  readonly protocol: string;
  /** False for a chain on which the protocol has nothing to read; missing if it may have something on every chain. */
  isOn?(chainId: number): boolean;
  /** The contracts in which a wallet can let others act on what this reader finds; missing if it cannot. */
  delegations?(chainId: number): readonly Delegation[];
  /** The protocol lends: while it is not read, a debt may be unseen. */
  readonly readsDebt?: boolean;
  /** Asks early what any wallet's read of these tokens asks first: the block remembers the results. */
  prefetch?(query: HeldContracts, signal: AbortSignal): Promise<unknown>;
  /** May reject; the caller turns that into a warning and lists the receipt tokens as plain tokens. */
  read(query: PositionQuery | EarlyPositionQuery, signal: AbortSignal): Promise<PositionResult>;
};
