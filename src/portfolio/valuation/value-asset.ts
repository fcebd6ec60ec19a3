// One asset, its amount and price: what is shown of it, and what it is worth.
import { type Decimal, formatDecimal } from "../../lib/decimal.ts";
import type { PortfolioAsset } from "../snapshot-types.ts";
import type { Holding } from "../types.ts";
import { computeUsdValue, formatUsdValue, type UsdValue } from "./usd.ts";

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
