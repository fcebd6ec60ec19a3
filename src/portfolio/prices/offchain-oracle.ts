// Spot prices from the 1inch OffchainOracle, accepted only when known pools are deep enough and agree.

import { decodeWord } from "../../lib/abi/return-data.ts";
import { compareDecimals, type Decimal, multiplyDecimals, SCALE_MAX } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder, readByMulticall } from "../multicall.ts";
import {
  type AssetKey,
  getAssetKey,
  type PinnedChain,
  type PriceSource,
  type QuotedPrice,
  quotePrice,
} from "../types.ts";
import { SPOT_MARKETS, type SpotMarket } from "./spot-markets.ts";
import { listPoolLookups, type SpotPool } from "./spot-pools.ts";

const getRateToEth = createCallEncoder(
  "function getRateToEthWithThreshold(address, bool, uint256) view returns (uint256)",
);

// One rate reads dozens of pools; a wallet full of unknown tokens must not take minutes of a node's time.
const TOKENS_MAX = 20;
// Nodes commonly limit a call to 50 million; a rate needs a few, and a token that burns more gets no price.
const RATE_GAS_MAX = 20_000_000;
// Ignores pools with less than a tenth of the largest weight: those are cheap to manipulate.
const WEIGHT_PERCENT_MIN = 10n;
// The rate is an integer: below this it is mostly rounding error.
const RATE_MIN = 1_000n;
// Minimum of the native coin in a token's pools, in dollars: with less, anyone could set the price.
const LIQUIDITY_USD_MIN: Decimal = { units: 50_000n, scale: 0 };
// Weights count liquidity near the price, which is cheap to fake; so the deepest pool must agree.
const DIFFERENCE_PERCENT_MAX = 10n;
const NATIVE_DECIMALS = 18;

type OffchainOracleOptions = {
  /** Prices the native coin; without it this source returns no price. */
  readonly nativePrice: PriceSource;
  readonly markets?: ReadonlyMap<number, SpotMarket>;
};

type Token = { readonly key: AssetKey; readonly contract: Hex; readonly decimals: number };
type Quote = Token & { readonly rate: bigint; readonly pools: readonly SpotPool[] };

export function createOffchainOracleSource(options: OffchainOracleOptions): PriceSource {
  const markets = options.markets ?? SPOT_MARKETS;
  return {
    name: "1inch-spot",
    async read({ at, assets }, signal) {
      const market = markets.get(at.chain.chainId);
      const priceable = assets.flatMap((asset) =>
        toToken(asset.contract, asset.decimals, getAssetKey(asset)),
      );
      if (market === undefined || priceable.length === 0) return { prices: new Map(), warnings: [] };
      const tokens = priceable.slice(0, TOKENS_MAX);
      const warnings =
        priceable.length > tokens.length
          ? [`Only ${TOKENS_MAX} of ${priceable.length} tokens got a spot price lookup on ${at.chain.name}.`]
          : [];

      const native = { contract: null, ...at.chain.native, logo: null };
      const [nativeResult, quotes] = await Promise.all([
        options.nativePrice.read({ at, assets: [native] }, signal),
        readQuotes(at, market, tokens, signal),
      ]);
      const unasked = new Set(priceable.slice(TOKENS_MAX).map(({ key }) => key));
      const nativeUsd = nativeResult.prices.get("native")?.usd;
      if (nativeUsd === undefined || quotes.length === 0) return { prices: new Map(), unasked, warnings };
      return { prices: await priceQuotes(at, market, quotes, nativeUsd, signal), unasked, warnings };
    },
  };
}

/** Rates and the pools behind them, in one round trip. */
async function readQuotes(
  at: PinnedChain,
  market: SpotMarket,
  tokens: readonly Token[],
  signal: AbortSignal,
): Promise<readonly Quote[]> {
  const lookups = tokens.map((token) => ({ token, pools: listPoolLookups(market, token.contract) }));
  const calls = lookups.flatMap(({ token, pools }) => [
    getRateToEth(market.oracle, [token.contract, false, WEIGHT_PERCENT_MIN], RATE_GAS_MAX),
    ...pools.map(({ call }) => call),
  ]);
  const results = (await readByMulticall(at, calls, signal)).values();
  return lookups.flatMap(({ token, pools }) => {
    const rate = decodeWord(results.next().value);
    const existing = pools.flatMap(({ decode }) => decode(results.next().value) ?? []);
    return rate === null || rate < RATE_MIN || existing.length === 0
      ? []
      : [{ ...token, rate, pools: existing }];
  });
}

/** Second round trip: the depth and rate of the pools decide whether a rate becomes a price. */
async function priceQuotes(
  at: PinnedChain,
  { oracle }: SpotMarket,
  quotes: readonly Quote[],
  nativeUsd: Decimal,
  signal: AbortSignal,
): Promise<ReadonlyMap<AssetKey, QuotedPrice>> {
  const calls = quotes.flatMap(({ pools }) => pools.flatMap((pool) => pool.calls));
  const results = (await readByMulticall(at, calls, signal)).values();
  const prices = new Map<AssetKey, QuotedPrice>();
  for (const quote of quotes) {
    const pools = quote.pools.map((pool) => pool.decodeState(results.next().value, results.next().value));
    const depth = pools.reduce((sum, pool) => sum + pool.nativeBalance, 0n);
    const depthUsd = multiplyDecimals({ units: depth, scale: NATIVE_DECIMALS }, nativeUsd);
    const deepest = pools.reduce((best, pool) => (pool.nativeBalance > best.nativeBalance ? pool : best));
    if (compareDecimals(depthUsd, LIQUIDITY_USD_MIN) < 0 || !ratesAgree(quote.rate, deepest.rate)) continue;
    const usd = multiplyDecimals(nativePerToken(quote), nativeUsd);
    const known = { contract: oracle, timestamp: at.block.timestamp, payableUsdMax: depthUsd };
    prices.set(quote.key, quotePrice(usd, known));
  }
  return prices;
}

function ratesAgree(rate: bigint, poolRate: bigint | null): boolean {
  if (poolRate === null) return false;
  const difference = rate > poolRate ? rate - poolRate : poolRate - rate;
  return difference * 100n <= poolRate * DIFFERENCE_PERCENT_MAX;
}

/** Native coins per whole token; the rate is in native units per 10^18 token units. */
function nativePerToken({ rate, decimals }: Quote): Decimal {
  const scale = 18 + NATIVE_DECIMALS - decimals;
  return scale >= 0 ? { units: rate, scale } : { units: rate * 10n ** BigInt(-scale), scale: 0 };
}

// Without decimals the price of one whole token is undefined.
function toToken(contract: Hex | null, decimals: number | null, key: AssetKey): Token[] {
  if (contract === null || decimals === null || decimals > SCALE_MAX) return [];
  return [{ key, contract: lowerCase(contract), decimals }];
}

function lowerCase(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
