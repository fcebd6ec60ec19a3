// US dollars: balance × price rounded once, and sums of the rounded values, so that anyone can add them again.
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  formatDecimal,
  multiplyDecimals,
  roundDecimal,
} from "../../lib/decimal.ts";
import type { PortfolioAsset } from "../snapshot-types.ts";
import type { Holding } from "../types.ts";

// One asset, its amount and price: what is shown of it, and what it is worth.

type ValuedAsset = { readonly asset: PortfolioAsset; readonly value: UsdValue };

// ERC-20 states decimals as a uint8. More is a vendor's mistake, and would make numbers of any length.
const DECIMALS_MAX = 255;

export function valueAsset(holding: Holding, price: Decimal | null, sign: 1n | -1n = 1n): ValuedAsset {
  const decimals = soundDecimals(holding.decimals);
  const balance = decimals === null ? null : { units: holding.rawBalance, scale: decimals };
  const value = balance && price && computeUsdValue({ ...balance, units: sign * balance.units }, price);
  return {
    asset: {
      contract: holding.contract,
      symbol: holding.symbol,
      name: holding.name,
      decimals,
      rawBalance: holding.rawBalance.toString(),
      balance: balance && formatDecimal(balance),
      priceUsd: price && formatDecimal(price),
      valueUsd: formatUsdValue(value),
    },
    value,
  };
}

function soundDecimals(decimals: number | null): number | null {
  return Number.isInteger(decimals) && decimals !== null && decimals >= 0 && decimals <= DECIMALS_MAX
    ? decimals
    : null;
}

/** A dollar value; null when it is not known. */
export type UsdValue = Decimal | null;

// A ten-thousandth of a cent: finer than any price is true, coarse enough to read.
const USD_SCALE = 6;
const ZERO: Decimal = { units: 0n, scale: USD_SCALE };

export function computeUsdValue(balance: Decimal, price: Decimal): Decimal {
  return roundDecimal(multiplyDecimals(balance, price), USD_SCALE, "half-up");
}

/** The sum of what is known. Nothing at all is worth 0; something of which nothing has a value is worth null. */
export function sumKnownValues(values: readonly UsdValue[]): UsdValue {
  const known = values.filter((value) => value !== null);
  return known.length === 0 && values.length > 0 ? null : known.reduce(addDecimals, ZERO);
}

/** The sum of the parts of one thing: not known while one of them is not. */
export function sumIfAllKnown(values: readonly UsdValue[]): UsdValue {
  return values.includes(null) ? null : sumKnownValues(values);
}

export function formatUsdValue(value: UsdValue): string | null {
  return value && formatDecimal(value);
}

/** Sorts the largest first and the unknown last. */
export function compareByValue(a: { readonly value: UsdValue }, b: { readonly value: UsdValue }): number {
  if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
  return compareDecimals(b.value, a.value);
}
