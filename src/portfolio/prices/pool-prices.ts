// Spot prices from the pools of known factories: from liquidity that stood for half an hour and buys, with what it could pay.

import { addDecimals, compareDecimals, type Decimal, multiplyDecimals } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { keepPresent } from "../../lib/lists.ts";
import { DECIMALS_MAX } from "../tokens/erc20.ts";
import {
  getAssetKey,
  isListed,
  type PinnedChain,
  type PriceQuery,
  type PriceResult,
  type PriceSource,
  type QuotedPrice,
  quotePrice,
} from "../types.ts";
import { collectPrices } from "./collect-prices.ts";
import { findPools, type PoolReading, readPools, type PoolToken as Token } from "./find-pools.ts";
import { findSellable, type SaleClaim, type Sales, type SimulatedSale } from "./simulate-sales.ts";
import { type QuoteToken, SPOT_MARKETS, type SpotMarket } from "./spot-markets.ts";
import type { Ratio } from "./spot-pools.ts";

// The amount that pools must be able to pay before their price is believed: with less, it is too cheap to move.
const DEPTH_USD_MIN: Decimal = { units: 50_000n, scale: 0 };
// Pools that differ more from the deepest one do not trade the same thing.
const POOL_DIFFERENCE_PERCENT_MAX = 10n;
// A sale of as much as an honest pool holds pays half of price times amount, because it moves the price.
const VALUE_PER_PAID_MAX = 2n;
// More digits than any feed has.
const PRICE_DIGITS = 24;

type PoolPriceOptions = {
  /** Price the tokens against which pools are read. */
  readonly trusted: readonly PriceSource[];
  readonly markets?: ReadonlyMap<number, SpotMarket> | undefined;
};

/** In dollars for one whole quote token. */
type QuotePrices = ReadonlyMap<Hex, Decimal>;

export function createPoolPriceSource({ trusted, markets = SPOT_MARKETS }: PoolPriceOptions): PriceSource {
  return {
    name: "pools",
    async prefetch(query, signal) {
      const { at, assets } = query;
      const { chainId } = at.chain;
      const market = markets.get(chainId);
      if (market === undefined) return;
      const open = assets.filter((asset) => !trusted.some(({ lists }) => lists?.(chainId, asset)));
      await findPools(at, market, listTokens(market, { ...query, assets: open }), signal);
    },
    async read(query, signal) {
      const { at, holder } = query;
      const market = markets.get(at.chain.chainId);
      const tokens = market === undefined ? [] : listTokens(market, query);
      if (market === undefined || tokens.length === 0) return { prices: new Map(), warnings: [] };
      const found = await findPools(at, market, tokens, signal);
      const [quotes, readings] = await Promise.all([
        found.pools.length > 0
          ? readQuotePrices(at, market, trusted, signal)
          : { prices: new Map(), warnings: [] },
        readPools(at, found.pools, signal),
      ]);
      const quotePrices = await addNativePrice(at, market, { readings, quotePrices: quotes.prices }, signal);
      const claims = claimPrices(at, tokens, { readings, quotePrices });
      const sales = await findSellable(at, { claims, wallet: holder?.wallet }, signal);
      return priceTokens(at, { tokens, found, readings, quotePrices, sales, warnings: quotes.warnings });
    },
  };
}

/** Listed tokens first: tokens that others send to a wallet must not use up its budget. */
function listTokens({ wrappedNative }: SpotMarket, { at, assets, holder }: PriceQuery): readonly Token[] {
  const inWallet = new Map(holder?.holdings.map(({ contract, rawBalance }) => [contract, rawBalance]));
  const tokens = new Map<Hex, Token>();
  for (const asset of assets) {
    // Without decimals the price of one whole token is undefined.
    if (asset.decimals === null || asset.decimals > DECIMALS_MAX) continue;
    const contract = asset.contract === null ? wrappedNative : (asset.contract.toLowerCase() as Hex);
    const known = tokens.get(contract);
    const isKnown = contract === wrappedNative || isListed(at.chain, { contract });
    const held = (known?.held ?? 0n) + (asset.rawBalance ?? 0n);
    tokens.set(contract, {
      contract,
      decimals: asset.decimals,
      isListed: isKnown,
      keys: [...(known?.keys ?? []), getAssetKey(asset)],
      held: isKnown ? held : (inWallet.get(contract) ?? 0n),
    });
  }
  return [...tokens.values()].sort((a, b) => Number(b.isListed) - Number(a.isListed));
}

async function readQuotePrices(
  at: PinnedChain,
  { quotes }: SpotMarket,
  trusted: readonly PriceSource[],
  signal: AbortSignal,
): Promise<{ readonly prices: QuotePrices; readonly warnings: readonly string[] }> {
  const unnamed = { symbol: null, name: null, logo: null };
  const assets = quotes.map(({ token, decimals }) => ({ contract: token, decimals, ...unnamed }));
  const { prices, warnings } = await collectPrices([trusted], { at, assets }, signal);
  const priced = quotes.flatMap(({ token }) => {
    const price = prices.get(token);
    return price ? [[token, price.usd] as const] : [];
  });
  return { prices: new Map(priced), warnings };
}

type Readings = { readonly readings: readonly PoolReading[]; readonly quotePrices: QuotePrices };

/** If neither a feed nor Aave prices the native coin, its own pools do, before others are read against it. */
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
  const token = { contract: wrappedNative, decimals, keys: [wrappedNative], isListed: true, held: 0n };
  const others = quotes.filter(({ token: quote }) => quotePrices.has(quote));
  const { pools } = await findPools(at, { ...market, quotes: others }, [token], signal);
  const claim = claimPrice(at, token, await readPools(at, pools, signal), quotePrices);
  return claim === null ? quotePrices : new Map([...quotePrices, [wrappedNative, claim.price.usd]]);
}

/** The value that the pools claim for a token, before anything is sold to them. */
type PriceClaim = SaleClaim & { readonly price: QuotedPrice };

function claimPrices(
  at: PinnedChain,
  tokens: readonly Token[],
  { readings, quotePrices }: Readings,
): readonly PriceClaim[] {
  return tokens.flatMap((token) => {
    const own = readings.filter((reading) => reading.token === token);
    return claimPrice(at, token, own, quotePrices) ?? [];
  });
}

function priceTokens(
  at: PinnedChain,
  query: Readings & {
    readonly tokens: readonly Token[];
    readonly found: { readonly unasked: readonly Token[] };
    readonly sales: Sales<PriceClaim>;
    readonly warnings: readonly string[];
  },
): PriceResult {
  const { tokens, found, readings, quotePrices, sales } = query;
  const prices = new Map(
    sales.sellable.flatMap((sale) => {
      const price = limitToSale(sale, quotePrices);
      return sale.claim.pool.token.keys.map((key) => [key, price] as const);
    }),
  );
  const unproven = tokens.filter(
    (token) =>
      !token.keys.some((key) => prices.has(key)) &&
      readings.some(
        (reading) => reading.token === token && isUnknown(reading, quotePrices.has(reading.quote.token)),
      ),
  );
  const unsold = sales.untried.map(({ pool }) => pool.token);
  const unasked = new Set([...found.unasked, ...unproven, ...unsold].flatMap(({ keys }) => keys));
  for (const key of prices.keys()) unasked.delete(key);
  return {
    prices,
    unasked,
    warnings: [
      ...query.warnings,
      ...describeMissing(at, { tokens, skipped: found.unasked, unproven, unsold }),
    ],
  };
}

/** The value of an unlisted token follows from a sale, and not from the depth of its pool: its code may be anything. */
function limitToSale({ claim, paid }: SimulatedSale<PriceClaim>, quotePrices: QuotePrices): QuotedPrice {
  const { pool, price } = claim;
  const quoteUsd = quotePrices.get(pool.quote.token);
  if (paid === null || quoteUsd === undefined || price.payableUsdMax === null) return price;
  const units = paid * VALUE_PER_PAID_MAX;
  const valueMax = multiplyDecimals({ units, scale: pool.quote.decimals }, quoteUsd);
  return compareDecimals(valueMax, price.payableUsdMax) < 0 ? { ...price, payableUsdMax: valueMax } : price;
}

/** Whether the pool could have a price that is not known. */
function isUnknown({ standing }: PoolReading, hasQuotePrice: boolean): boolean {
  return standing === undefined || (standing !== null && !hasQuotePrice);
}

function describeMissing(
  { chain }: PinnedChain,
  {
    tokens,
    skipped,
    unproven,
    unsold,
  }: Readonly<Record<"tokens" | "skipped" | "unproven" | "unsold", readonly Token[]>>,
): readonly string[] {
  return keepPresent(
    skipped.length > 0 &&
      `Pools on ${chain.name} were not searched for ${skipped.length} of ${tokens.length} tokens: too many for one snapshot.`,
    unproven.length > 0 &&
      `Prices of ${unproven.length} tokens on ${chain.name} are missing: the node cannot show that their pools stood for half an hour, or the coin in them has no price.`,
    unsold.length > 0 &&
      `Prices of ${unsold.length} unlisted tokens on ${chain.name} are missing: the node cannot simulate that the wallet sells them.`,
  );
}

/** The price of the deepest pool, with what all pools that agree with it could pay. */
function claimPrice(
  at: PinnedChain,
  token: Token,
  readings: readonly PoolReading[],
  quotePrices: QuotePrices,
): PriceClaim | null {
  const pools = readings.flatMap(({ standing, ...pool }) => {
    const quoteUsd = quotePrices.get(pool.quote.token);
    if (!standing || quoteUsd === undefined) return [];
    const depthUsd = multiplyDecimals({ units: standing.depth, scale: pool.quote.decimals }, quoteUsd);
    const usd = multiplyDecimals(perWholeToken(standing.rate, token, pool.quote), quoteUsd);
    return [{ pool, standing, depthUsd, usd }];
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
  const { pool, standing, usd } = deepest;
  const known = { contract: pool.address, timestamp: at.block.timestamp, payableUsdMax };
  return { pool, standing, price: quotePrice(usd, known) };
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
