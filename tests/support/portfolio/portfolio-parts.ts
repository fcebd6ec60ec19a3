// In-memory chains, holdings and positions for portfolio tests.
import { parseDecimal } from "../../../src/lib/decimal.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import type { AccountFacts } from "../../../src/portfolio/account/kind.ts";
import {
  type AssetKey,
  type AssetPrice,
  type ChainConfig,
  type Holding,
  type ListedToken,
  type PinnedChain,
  type PortfolioChain,
  type ProtocolPosition,
  quotePrice,
} from "../../../src/portfolio/types.ts";
import type { ChainData } from "../../../src/portfolio/valuation/snapshot-data.ts";
import { valueSnapshot } from "../../../src/portfolio/valuation/value-snapshot.ts";
import type { PortfolioSnapshot } from "../../../src/schema/portfolio/snapshot.ts";

export const TEST_WALLET: Hex = "0x00000000000000000000000000000000000000aa";

export function numberedContract(number: number): Hex {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

export function makeListedToken(number: number, symbol: string, decimals = 18): ListedToken {
  return { contract: numberedContract(number), symbol, name: `${symbol} token`, decimals, logo: null };
}

export function makeHolding(asset: Omit<Holding, "rawBalance">, rawBalance: bigint): Holding {
  return { ...asset, rawBalance };
}

export const ETHER_ASSET: Omit<Holding, "rawBalance"> = {
  contract: null,
  symbol: "ETH",
  name: "Ether",
  decimals: 18,
  logo: null,
};

export function makeChainConfig(
  slug: string,
  chainId: number,
  tokens: readonly ListedToken[] = [],
  more: Partial<ChainConfig> = {},
): ChainConfig {
  return {
    slug,
    chainId,
    name: slug[0]?.toUpperCase() + slug.slice(1),
    native: { symbol: "ETH", name: "Ether", decimals: 18 },
    blockTimeMs: 2_000,
    explorerTxUrl: null,
    tokens: new Map(tokens.map((token) => [token.contract, token])),
    stablecoins: new Set(),
    ...more,
  };
}

const block = { number: 7, hash: `0x${"ab".repeat(32)}`, timestamp: 1_700_000_000 } as const;

const EOA: AccountFacts = {
  ...{ kind: "eoa", proven: true, delegate: null, implementation: null },
  ...{ version: null, owners: null, threshold: null, entryPoint: null },
};

export function makeChainData(chain: ChainConfig, more: Partial<ChainData> = {}): ChainData {
  return {
    chain,
    block,
    account: EOA,
    gas: { gasPrice: 1n, transferCost: 21_000n, tokenTransferCost: 65_000n },
    name: null,
    holdings: [],
    positions: [],
    health: [],
    unreadDebts: new Set(),
    prices: new Map(),
    incompletePrices: new Set(),
    provenTokens: new Set(),
    activity: [],
    warnings: [],
    ...more,
  };
}

export function makePrices(prices: Partial<Record<AssetKey, string>>): ReadonlyMap<AssetKey, AssetPrice> {
  const entries = Object.entries(prices) as [AssetKey, string][];
  return new Map(
    entries.map(([key, text]) => [key, { ...quotePrice(parseDecimal(text, "price")), source: "feed" }]),
  );
}

export function makeSnapshot(...chains: readonly ChainData[]): PortfolioSnapshot {
  return valueSnapshot({ wallet: TEST_WALLET, takenAtMs: 1_700_000_000_123, provider: "rpc", chains });
}

export function makePosition(more: Partial<ProtocolPosition>): ProtocolPosition {
  return {
    protocol: "Test",
    kind: "vault",
    name: "Test",
    contract: null,
    assets: [],
    receiptTokens: [],
    ...more,
  };
}

type ChainAccessOptions = {
  readonly onPin?: () => void;
  readonly read?: PinnedChain["read"];
};

/** A chain whose contracts return nothing, so that tokens keep the names of their lists; no other read is allowed. */
export function makeChainAccess(chain: ChainConfig, options: ChainAccessOptions = {}): PortfolioChain {
  const { onPin = () => {}, read = async (calls) => calls.map(() => null) } = options;
  const fail = () => Promise.reject(new Error("unexpected read from this chain"));
  const at: PinnedChain = {
    ...{ chain, block, read, callWithOverride: fail, callAsAccount: fail, nativeBalance: fail },
    ...{
      transfers: fail,
      logs: fail,
      timestamps: fail,
      senders: fail,
      code: async () => "0x",
      storage: fail,
      baseFee: async () => 1n,
    },
  };
  return {
    chain,
    pin: async () => {
      onPin();
      return at;
    },
    canPin: () => true,
    blockAt: async () => ({ number: 0, timestamp: 0 }),
  };
}

export function makeChainAccesses(...chains: readonly ChainConfig[]): ReadonlyMap<string, PortfolioChain> {
  return new Map(chains.map((chain) => [chain.slug, makeChainAccess(chain)]));
}

export type Deferred<T> = {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
};

/** A promise that the test settles. */
export function createDeferred<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, "promise"> = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}
