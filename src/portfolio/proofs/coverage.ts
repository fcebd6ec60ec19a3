// How much of a response's value is proven: the sums that a reader computes from the response and the claims.
import { addDecimals, type Decimal, divide, formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import type { ResponseProofs } from "../../schema/portfolio/proofs.ts";

/** An amount of the response with its value; `path` is that of its claim, null for what has none. */
export type CoveredValue = { readonly path: string | null; readonly valueUsd: string | null };

const ZERO: Decimal = { units: 0n, scale: 0 };
const SHARE_DIGITS = 4;

export function describeCoverage(
  values: readonly CoveredValue[],
  chains: ResponseProofs["chains"],
): ResponseProofs["coverage"] {
  const claims = chains.flatMap((chain) => chain.claims);
  const proven = new Set(claims.filter(({ kind }) => kind !== "none").map(({ path }) => path));
  const total = sum(values);
  const covered = sum(values.filter(({ path }) => path !== null && proven.has(path)));
  return {
    provenUsd: formatDecimal(covered),
    totalUsd: formatDecimal(total),
    share: formatShare(covered, total),
  };
}

/** A debt counts like what is held: it must be true as well. */
function sum(values: readonly CoveredValue[]): Decimal {
  return values
    .flatMap(({ valueUsd }) =>
      valueUsd === null ? [] : [parseDecimal(valueUsd.replace("-", ""), "a value")],
    )
    .reduce(addDecimals, ZERO);
}

function formatShare(part: Decimal, whole: Decimal): string | null {
  if (whole.units === 0n) return null;
  const scaled = part.units * 10n ** BigInt(whole.scale + SHARE_DIGITS);
  const units = divide(scaled, whole.units * 10n ** BigInt(part.scale), "down");
  return formatDecimal({ units, scale: SHARE_DIGITS });
}
