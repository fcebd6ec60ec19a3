// US dollar values: balance × price, rounded once. Sums add the rounded values, so that clients can verify them.
// The price of an asset in a position is that of a price source, else of the market that the position is in.
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  formatDecimal,
  multiplyDecimals,
  roundDecimal,
} from "../../lib/decimal.ts";
import type { PortfolioAsset } from "../../schema/portfolio/snapshot.ts";
import { DECIMALS_MAX } from "../tokens/erc20.ts";
import { type AssetPrice, getAssetKey, type Holding, type PositionAsset, quotePrice } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";

type ValuedAsset = {
  readonly asset: PortfolioAsset;
  readonly value: UsdValue;
  /** The value is the limit, because balance × price is more. */
  readonly isLimited: boolean;
};

type ValueOptions = {
  /** A debt is negative, and no limit makes it smaller. */
  readonly isDebt?: boolean;
  /** The most that the markets behind the price could pay, unless another limit is given. */
  readonly valueMax?: Decimal | null;
};

export function valueAsset(
  holding: Holding,
  price: AssetPrice | null,
  { isDebt = false, valueMax = price?.payableUsdMax ?? null }: ValueOptions = {},
): ValuedAsset {
  const decimals = validDecimals(holding.decimals);
  const balance = decimals === null ? null : { units: holding.rawBalance, scale: decimals };
  const signed = balance && { ...balance, units: isDebt ? -balance.units : balance.units };
  const { value, isLimited } = valueBalance(signed, price, isDebt ? null : valueMax);
  return {
    asset: {
      contract: holding.contract,
      symbol: holding.symbol,
      name: holding.name,
      decimals,
      rawBalance: holding.rawBalance.toString(),
      balance: balance && formatDecimal(balance),
      priceUsd: price && formatDecimal(price.usd),
      valueUsd: formatUsdValue(value),
      priceSource: price?.source ?? null,
      priceContract: price?.contract ?? null,
      priceTimestamp: formatUnixSeconds(price?.timestamp ?? null),
    },
    value,
    isLimited,
  };
}

/** The value of what a wallet holds or moves; null without a price or decimals. */
export function valueAmount(
  { units, decimals }: { readonly units: bigint; readonly decimals: number | null },
  price: AssetPrice | null,
): UsdValue {
  const scale = validDecimals(decimals);
  return valueBalance(scale === null ? null : { units, scale }, price, price?.payableUsdMax ?? null).value;
}

function valueBalance(
  balance: Decimal | null,
  price: AssetPrice | null,
  valueMax: Decimal | null,
): Pick<ValuedAsset, "value" | "isLimited"> {
  const full = balance && price && computeUsdValue(balance, price.usd);
  const limit = valueMax && roundDecimal(valueMax, USD_SCALE, "down");
  const isLimited = full !== null && limit !== null && compareDecimals(full, limit) > 0;
  return { value: isLimited ? limit : full, isLimited };
}

/** A vendor may send anything; more than ERC-20 allows would lead to numbers of any length. */
function validDecimals(decimals: number | null): number | null {
  return Number.isInteger(decimals) && decimals !== null && decimals >= 0 && decimals <= DECIMALS_MAX
    ? decimals
    : null;
}

/** Null when unknown. */
export type UsdValue = Decimal | null;

// A ten-thousandth of a cent: finer than the accuracy of any price, and still readable.
const USD_SCALE = 6;
const ZERO: Decimal = { units: 0n, scale: USD_SCALE };

function computeUsdValue(balance: Decimal, price: Decimal): Decimal {
  return roundDecimal(multiplyDecimals(balance, price), USD_SCALE, "half-up");
}

/** The sum of the known values: 0 for an empty list, null when no value is known. */
export function sumKnownValues(values: readonly UsdValue[]): UsdValue {
  const known = values.filter((value) => value !== null);
  return known.length === 0 && values.length > 0 ? null : known.reduce(addDecimals, ZERO);
}

/** The rest of a limit; never below zero, because no value exceeds it. */
export function subtractValue(limit: Decimal, value: Decimal): Decimal {
  return addDecimals(limit, { ...value, units: -value.units });
}

export function formatUsdValue(value: UsdValue): string | null {
  return value && formatDecimal(value);
}

/** Largest first, unknown last. */
export function compareByValue(a: { readonly value: UsdValue }, b: { readonly value: UsdValue }): number {
  if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
  return compareDecimals(b.value, a.value);
}

/** The input for the price of an asset; plain tokens have no market. */
type PricedAsset = Pick<PositionAsset, "contract" | "marketPrice" | "marketRate" | "isPayoutUnproven">;

// More digits than any price source has.
const PRICE_SCALE = 18;

/**
 * Markets come last: their prices are for liquidations, and only the market vouches for them. They never price a
 * plain token.
 */
export function findAssetPrice(asset: PricedAsset, prices: ChainData["prices"]): AssetPrice | null {
  if (asset.isPayoutUnproven) return null;
  const own = prices.get(getAssetKey(asset)) ?? asset.marketPrice ?? null;
  const { marketRate } = asset;
  if (own !== null || !marketRate) return own;
  const per = findAssetPrice(marketRate.per, prices);
  if (per === null) return null;
  const usd = roundDecimal(multiplyDecimals(marketRate.rate, per.usd), PRICE_SCALE, "half-up");
  const { source, contract } = marketRate;
  const timestamps = [marketRate.timestamp, per.timestamp].filter((each) => each !== null);
  // The older one, unless one is unknown.
  const timestamp = timestamps.length === 2 ? Math.min(...timestamps) : null;
  // The pools that bound the price of the other asset bound this one's.
  return { ...quotePrice(usd, { contract, timestamp, payableUsdMax: per.payableUsdMax }), source };
}

// The last second that an ECMAScript Date can represent.
const SECONDS_MAX = 8_640_000_000_000;

/** A node or vendor may send any number. */
export function validSeconds(seconds: number | null): number | null {
  return seconds !== null && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : null;
}

export function formatUnixSeconds(seconds: number | null): string | null {
  const valid = validSeconds(seconds);
  return valid === null ? null : new Date(valid * 1000).toISOString();
}
