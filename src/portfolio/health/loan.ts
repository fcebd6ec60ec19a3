// A lending account in the numbers of its own market, and how close they are to liquidation.
import { type Decimal, divide, formatDecimal, multiplyDecimals, roundDecimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { LendingHealth } from "../../schema/portfolio/snapshot.ts";
import type { ReadRoutine } from "../contract-reads/read-groups.ts";
import type { ProtocolPosition, WalletQuery } from "../types.ts";

/** The dollar value of one unit of a market's own counting: exactly one, or the price of an asset divided by `per`. */
type LoanUnit = "usd" | { readonly asset: Hex | null; readonly per: Decimal };

/** Collateral, debt and limit are in the same unit, which need not be known for the ratios. */
export type Loan = {
  readonly collateral: Decimal;
  readonly debt: Decimal;
  /** The debt at which liquidation begins: each collateral times its own liquidation threshold. */
  readonly limit: Decimal;
  readonly unit: LoanUnit | null;
  /** The market's own health factor, if it has one. */
  readonly healthFactor?: Decimal;
  /** The market's own check, if it has one. */
  readonly liquidatable?: boolean;
};

/** The positions of one account, and the contract that keeps it. */
export type LendingAccount = {
  readonly protocol: string;
  readonly market: string;
  readonly name: string;
  /** The pool, market or vault that decides about a liquidation. */
  readonly contract: Hex | null;
  readonly positions: readonly ProtocolPosition[];
};

/** Reads the loan in one round trip or two; null when it stays unknown. */
export type LoanReader = (account: LendingAccount, query: WalletQuery) => ReadRoutine<Loan | null>;

type LoanRatios = Pick<
  LendingHealth,
  "healthFactor" | "loanToValue" | "liquidationThreshold" | "distanceToLiquidation" | "liquidatable"
>;

// As fine as markets count.
const RATIO_SCALE = 18;
const ONE = 10n ** BigInt(RATIO_SCALE);

/** Rounded so that no loan looks safer than it is. Without debt there is nothing to liquidate, and no factor. */
export function describeRatios({ collateral, debt, limit, ...own }: Loan): LoanRatios {
  const liquidationThreshold = formatRatio(ratio(limit, collateral, "down"));
  if (debt.units === 0n) {
    return {
      healthFactor: null,
      loanToValue: "0",
      liquidationThreshold,
      distanceToLiquidation: null,
      liquidatable: false,
    };
  }
  const factor = own.healthFactor ?? ratio(limit, debt, "down");
  const used = ratio(debt, limit, "up");
  return {
    healthFactor: formatRatio(factor),
    loanToValue: formatRatio(ratio(debt, collateral, "up")),
    liquidationThreshold,
    distanceToLiquidation:
      used === null || used.units >= ONE
        ? "0"
        : formatDecimal({ units: ONE - used.units, scale: RATIO_SCALE }),
    liquidatable: own.liquidatable ?? (factor !== null && factor.units < 10n ** BigInt(factor.scale)),
  };
}

/** Null when it has no end. */
function ratio(a: Decimal, b: Decimal, rounding: "down" | "up"): Decimal | null {
  if (b.units <= 0n) return null;
  const scale = Math.max(a.scale, b.scale);
  const [numerator, denominator] = [a, b].map(({ units, scale: own }) => units * 10n ** BigInt(scale - own));
  return { units: divide((numerator ?? 0n) * ONE, denominator ?? 1n, rounding), scale: RATIO_SCALE };
}

function formatRatio(value: Decimal | null): string | null {
  return value && formatDecimal(value);
}

const USD_SCALE = 6;

/** Null when the unit has no known price. */
export function toUsd(
  value: Decimal,
  unit: Loan["unit"],
  priceOf: (asset: Hex | null) => Decimal | null,
): string | null {
  if (unit === "usd") return formatDecimal(roundDecimal(value, USD_SCALE, "half-up"));
  const price = unit && priceOf(unit.asset);
  if (!unit || price === null || unit.per.units <= 0n) return null;
  const product = multiplyDecimals(value, price);
  const scale = Math.max(product.scale, unit.per.scale) + USD_SCALE;
  const numerator = product.units * 10n ** BigInt(scale - product.scale);
  const denominator = unit.per.units * 10n ** BigInt(scale - USD_SCALE - unit.per.scale);
  return formatDecimal({ units: divide(numerator, denominator, "half-up"), scale: USD_SCALE });
}
