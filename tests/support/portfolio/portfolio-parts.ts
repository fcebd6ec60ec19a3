// Small chains, holdings and ports in memory, for tests of what the portfolio makes of them.
import { parseDecimal } from "../../../src/lib/decimal.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import type { PortfolioSnapshot } from "../../../src/portfolio/snapshot-types.ts";
import type {
  AssetKey,
  ChainAt,
  ChainBook,
  ChainPort,
  FoundPosition,
  Holding,
  ListedToken,
} from "../../../src/portfolio/types.ts";
import type { AssetPrice, ChainParts } from "../../../src/portfolio/valuation/snapshot-data.ts";
import { valueSnapshot } from "../../../src/portfolio/valuation/value-snapshot.ts";

export const WALLET: Hex = "0x00000000000000000000000000000000000000aa";

export function contractOf(number: number): Hex {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

export function listed(number: number, symbol: string, decimals = 18): ListedToken {
  return { contract: contractOf(number), symbol, name: `${symbol} token`, decimals, logo: null };
}

export function held(asset: Omit<Holding, "rawBalance">, rawBalance: bigint): Holding {
  return { ...asset, rawBalance };
}

export const ether: Omit<Holding, "rawBalance"> = {
  contract: null,
  symbol: "ETH",
  name: "Ether",
  decimals: 18,
  logo: null,
};

export function bookOf(
  slug: string,
  chainId: number,
  tokens: readonly ListedToken[] = [],
  more: Partial<ChainBook> = {},
): ChainBook {
  return {
    slug,
    chainId,
    name: slug[0]?.toUpperCase() + slug.slice(1),
    native: { symbol: "ETH", name: "Ether", decimals: 18 },
    blockTimeMs: 2_000,
    tokens: new Map(tokens.map((token) => [token.contract, token])),
    stablecoins: new Set(),
    ...more,
  };
}

const block = { number: 7, hash: `0x${"ab".repeat(32)}`, timestamp: 1_700_000_000 } as const;

export function partsOf(chain: ChainBook, more: Partial<ChainParts> = {}): ChainParts {
  return {
    chain,
    block,
    holdings: [],
    positions: [],
    prices: new Map(),
    pricesComplete: true,
    activity: [],
    warnings: [],
    ...more,
  };
}

export function priced(prices: Partial<Record<AssetKey, string>>): ReadonlyMap<AssetKey, AssetPrice> {
  const entries = Object.entries(prices) as [AssetKey, string][];
  return new Map(entries.map(([key, text]) => [key, { price: parseDecimal(text, "price"), source: "feed" }]));
}

export function snapshotOf(...chains: readonly ChainParts[]): PortfolioSnapshot {
  return valueSnapshot({ wallet: WALLET, takenAtMs: 1_700_000_000_123, provider: "rpc", chains });
}

export function positionOf(more: Partial<FoundPosition>): FoundPosition {
  return { protocol: "Test", kind: "vault", name: "Test", contract: null, assets: [], replaces: [], ...more };
}

/** A chain that can be pinned and nothing else: whoever reads it in these tests is a double as well. */
export function portOf(chain: ChainBook, pinned: (signal: AbortSignal) => void = () => {}): ChainPort {
  const unread = () => Promise.reject(new Error("nothing is read from this chain"));
  const at: ChainAt = {
    ...{ chain, block, read: unread, readLent: unread, nativeBalance: unread },
    ...{ transfers: unread, timestamps: unread },
  };
  return {
    chain,
    pin: async (signal) => {
      pinned(signal);
      return at;
    },
  };
}

export function portsOf(...chains: readonly ChainBook[]): ReadonlyMap<string, ChainPort> {
  return new Map(chains.map((chain) => [chain.slug, portOf(chain)]));
}

export type Deferred<T> = {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
};

/** A promise that ends when the test says so. */
export function deferred<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, "promise"> = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}
