// Spot prices from the pools of known factories: only from liquidity that stood for half an hour, and with what it could pay.

import { addDecimals, compareDecimals, type Decimal, multiplyDecimals } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { DECIMALS_MAX } from "../tokens/erc20.ts";
import {
  type Asset,
  type AssetKey,
  getAssetKey,
  type PinnedChain,
  type PriceResult,
  type PriceSource,
  type QuotedPrice,
  quotePrice,
} from "../types.ts";
import { collectPrices } from "./collect-prices.ts";
import { findPools, type PoolToken as Token } from "./find-pools.ts";
import { type PoolReading, readPools } from "./read-pools.ts";
import { type QuoteToken, SPOT_MARKETS, type SpotMarket } from "./spot-markets.ts";
import type { Ratio } from "./spot-pools.ts";

// What pools must be able to pay before their price is believed: with less, it is too cheap to move.
const DEPTH_USD_MIN: Decimal = { units: 50_000n, scale: 0 };
// From here on pools also show that the token is genuine. Its maker could park that much for half an hour and take it out
// again; but that is no use for a lure that is worth at most what was parked.
const PROOF_USD_MIN: Decimal = { units: 250_000n, scale: 0 };
// Pools that differ more from the deepest one do not trade the same thing.
const POOL_DIFFERENCE_PERCENT_MAX = 10n;
// More digits than any feed has.
const PRICE_DIGITS = 24;

type PoolPriceOptions = {
  /** Price the tokens against which pools are read. */
  readonly trusted: readonly PriceSource[];
  readonly markets?: ReadonlyMap<number, SpotMarket>;
};

/** In dollars for one whole quote token. */
type QuotePrices = ReadonlyMap<Hex, Decimal>;

export function createPoolPriceSource({ trusted, markets = SPOT_MARKETS }: PoolPriceOptions): PriceSource {
  return {
    name: "pools",
    async read({ at, assets }, signal) {
      const market = markets.get(at.chain.chainId);
      const tokens = market === undefined ? [] : listTokens(at, market, assets);
      if (market === undefined || tokens.length === 0) return { prices: new Map(), warnings: [] };
      const [quotes, found] = await Promise.all([
        readQuotePrices(at, market, trusted, signal),
        findPools(at, market, tokens, signal),
      ]);
      const readings = await readPools(at, found.pools, signal);
      const quotePrices = await addNativePrice(at, market, { readings, quotePrices: quotes.prices }, signal);
      return priceTokens(at, { tokens, found, readings, quotePrices, warnings: quotes.warnings });
    },
  };
}

/** Listed tokens first: what strangers send to a wallet must not use up its budget. */
function listTokens(
  at: PinnedChain,
  { wrappedNative }: SpotMarket,
  assets: readonly Asset[],
): readonly Token[] {
  const tokens = new Map<Hex, Token>();
  for (const asset of assets) {
    // Without decimals the price of one whole token is undefined.
    if (asset.decimals === null || asset.decimals > DECIMALS_MAX) continue;
    const contract = asset.contract === null ? wrappedNative : (asset.contract.toLowerCase() as Hex);
    const keys = [...(tokens.get(contract)?.keys ?? []), getAssetKey(asset)];
    tokens.set(contract, { contract, decimals: asset.decimals, keys });
  }
  const isListed = ({ contract }: Token) => contract === wrappedNative || at.chain.tokens.has(contract);
  return [...tokens.values()].sort((a, b) => Number(isListed(b)) - Number(isListed(a)));
}

async function readQuotePrices(
  at: PinnedChain,
  { quotes }: SpotMarket,
  trusted: readonly PriceSource[],
  signal: AbortSignal,
): Promise<{ readonly prices: QuotePrices; readonly warnings: readonly string[] }> {
  const assets = quotes.map(({ token, decimals }) => ({
    ...{ contract: token, decimals, symbol: null, name: null, logo: null },
  }));
  const { prices, warnings } = await collectPrices([trusted], { at, assets }, signal);
  return {
    prices: new Map(
      quotes.flatMap(({ token }) => {
        const price = prices.get(token);
        return price ? [[token, price.usd] as const] : [];
      }),
    ),
    warnings,
  };
}

type Readings = { readonly readings: readonly PoolReading[]; readonly quotePrices: QuotePrices };

/** Where neither a feed nor Aave prices the native coin, its own pools do, before others are read against it. */
async function addNativePrice(
  at: PinnedChain,
  market: SpotMarket,
  { readings, quotePrices }: Readings,
  signal: AbortSignal,
): Promise<QuotePrices> {
  const { wrappedNative, quotes } = market;
  const isNeeded = readings.some(({ quote, standing }) => standing && quote.token === wrappedNative);
  if (!isNeeded || quotePrices.has(wrappedNative)) return quotePrices;
  const { decimals } = at.chain.native;
  const token: Token = { contract: wrappedNative, decimals, keys: [wrappedNative] };
  const others = quotes.filter(({ token: quote }) => quotePrices.has(quote));
  const { pools } = await findPools(at, { ...market, quotes: others }, [token], signal);
  const price = priceToken(at, token, await readPools(at, pools, signal), quotePrices);
  return price === null ? quotePrices : new Map([...quotePrices, [wrappedNative, price.usd]]);
}

function priceTokens(
  at: PinnedChain,
  query: Readings & {
    readonly tokens: readonly Token[];
    readonly found: { readonly unasked: readonly Token[] };
    readonly warnings: readonly string[];
  },
): PriceResult {
  const { tokens, found, readings, quotePrices } = query;
  const prices = new Map<AssetKey, QuotedPrice>();
  const unknown: Token[] = [];
  for (const token of tokens) {
    const own = readings.filter((reading) => reading.token === token);
    const price = priceToken(at, token, own, quotePrices);
    if (price !== null) for (const key of token.keys) prices.set(key, price);
    else if (
      own.some(({ standing, quote }) => standing === undefined || (standing && !quotePrices.has(quote.token)))
    )
      unknown.push(token);
  }
  const unasked = new Set([...found.unasked, ...unknown].flatMap(({ keys }) => keys));
  for (const key of prices.keys()) unasked.delete(key);
  const skipped = found.unasked.length;
  return {
    prices,
    unasked,
    warnings: [
      ...query.warnings,
      ...(skipped > 0
        ? [
            `Pools on ${at.chain.name} were not searched for ${skipped} of ${tokens.length} tokens: too many for one snapshot.`,
          ]
        : []),
      ...(unknown.length > 0
        ? [
            `Prices of ${unknown.length} tokens on ${at.chain.name} are missing: the node cannot show that their pools stood for half an hour, or the coin in them has no price.`,
          ]
        : []),
    ],
  };
}

/** The price of the deepest pool, with what all pools that agree with it could pay. */
function priceToken(
  at: PinnedChain,
  token: Token,
  readings: readonly PoolReading[],
  quotePrices: QuotePrices,
): QuotedPrice | null {
  const pools = readings.flatMap(({ standing, quote, address }) => {
    const quoteUsd = quotePrices.get(quote.token);
    if (!standing || quoteUsd === undefined) return [];
    const depthUsd = multiplyDecimals({ units: standing.depth, scale: quote.decimals }, quoteUsd);
    return [
      { address, depthUsd, usd: multiplyDecimals(perWholeToken(standing.rate, token, quote), quoteUsd) },
    ];
  });
  const [first, ...rest] = pools;
  if (first === undefined) return null;
  const deepest = rest.reduce(
    (best, pool) => (compareDecimals(pool.depthUsd, best.depthUsd) > 0 ? pool : best),
    first,
  );
  const payableUsdMax = pools
    .filter(({ usd }) => differByAtMost(usd, deepest.usd, POOL_DIFFERENCE_PERCENT_MAX))
    .map(({ depthUsd }) => depthUsd)
    .reduce(addDecimals);
  if (compareDecimals(payableUsdMax, DEPTH_USD_MIN) < 0) return null;
  return quotePrice(deepest.usd, {
    contract: deepest.address,
    timestamp: at.block.timestamp,
    payableUsdMax,
    provesToken: compareDecimals(payableUsdMax, PROOF_USD_MIN) >= 0,
  });
}

/** Whole quote tokens for one whole token, with enough digits however small it is. */
function perWholeToken([numerator, denominator]: Ratio, token: Token, quote: QuoteToken): Decimal {
  const units = numerator * 10n ** BigInt(token.decimals);
  const missing = PRICE_DIGITS + denominator.toString().length - units.toString().length;
  const extra = Math.max(0, missing);
  return { units: (units * 10n ** BigInt(extra)) / denominator, scale: quote.decimals + extra };
}

function differByAtMost(a: Decimal, b: Decimal, percentMax: bigint): boolean {
  const higher = multiplyDecimals(b, { units: 100n + percentMax, scale: 2 });
  const lower = multiplyDecimals(b, { units: 100n - percentMax, scale: 2 });
  return compareDecimals(a, higher) <= 0 && compareDecimals(a, lower) >= 0;
}
