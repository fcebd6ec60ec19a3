// Token amounts: whole smallest units on one side, exact decimal text on the other.
import { formatDecimal, parseDecimal } from "./decimal.ts";
import { Fault } from "./fault.ts";

/** `"1.5"` with 6 decimals is `1500000n`; text finer than the smallest unit is refused, never rounded. */
export function parseAmount(text: string, decimals: number, name: string): bigint {
  const { units, scale } = parseDecimal(text, name);
  if (scale <= decimals) return units * 10n ** BigInt(decimals - scale);
  const surplus = 10n ** BigInt(scale - decimals);
  if (units % surplus !== 0n) {
    throw new Fault("INPUT_INVALID", `${name} must have at most ${decimals} decimal places.`);
  }
  return units / surplus;
}

/** `1500000n` with 6 decimals is `"1.5"`: exact, trailing zeros trimmed. */
export function formatAmount(units: bigint, decimals: number): string {
  return formatDecimal({ units, scale: decimals });
}
