// Exact decimals and whole numbers on bigint: amounts, prices and values, with rounding only if it is named.
import { Fault } from "./fault.ts";

/** The number `units / 10^scale`. */
export type Decimal = { readonly units: bigint; readonly scale: number };

/** Named by what happens to the magnitude, so that rounding a debt mirrors rounding the same credit. */
type Rounding = "down" | "up" | "half-up";

// 255 is the largest `decimals` a token can state (uint8); the sum of two such scales still fits.
export const SCALE_MAX = 510;
// Longer than any uint256 written with SCALE_MAX decimals: a bound on work, not on meaning.
const TEXT_LENGTH_MAX = 600;
const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;

/** Reads plain decimal text: an optional minus, digits, an optional fraction. No exponent, no plus, no blanks. */
export function parseDecimal(text: string, name: string): Decimal {
  const match = text.length <= TEXT_LENGTH_MAX ? DECIMAL.exec(text) : null;
  const fraction = match?.[3] ?? "";
  if (!match || fraction.length > SCALE_MAX) {
    throw new Fault("INPUT_INVALID", `${name} must be a plain decimal number such as 12.5.`);
  }
  const magnitude = BigInt((match[2] ?? "") + fraction);
  return { units: match[1] ? -magnitude : magnitude, scale: fraction.length };
}

/** The shortest exact text: no exponent, no trailing zeros, no minus on zero. */
export function formatDecimal({ units, scale }: Decimal): string {
  const negative = units < 0n;
  const digits = (negative ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, "");
  return `${negative ? "-" : ""}${whole}${fraction && `.${fraction}`}`;
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: widen(a, scale) + widen(b, scale), scale };
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

/** Negative, zero or positive as `a` is below, at or above `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const difference = widen(a, scale) - widen(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The same number with exactly `scale` decimals, rounded as named if digits fall away. */
export function roundDecimal(value: Decimal, scale: number, rounding: Rounding): Decimal {
  if (scale >= value.scale) return { units: widen(value, scale), scale };
  return { units: divide(value.units, 10n ** BigInt(value.scale - scale), rounding), scale };
}

/** `numerator / denominator` as a whole number; the denominator must be positive. */
export function divide(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  if (denominator <= 0n) throw new RangeError("divide needs a positive denominator");
  const negative = numerator < 0n;
  const magnitude = negative ? -numerator : numerator;
  const quotient = magnitude / denominator;
  const rest = magnitude % denominator;
  const carry = { down: false, up: rest > 0n, "half-up": rest * 2n >= denominator }[rounding];
  const rounded = carry ? quotient + 1n : quotient;
  return negative ? -rounded : rounded;
}

function widen({ units, scale }: Decimal, to: number): bigint {
  return units * 10n ** BigInt(to - scale);
}

/** `"1.5"` with 6 decimals is `1500000n`; text finer than the smallest unit is rejected, never rounded. */
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

export const UINT256_MAX = 2n ** 256n - 1n;

// 78 digits hold every uint256; anything longer is out of range before BigInt has to read it.
const DIGITS = /^(?:0|[1-9][0-9]{0,77})$/;

/** A canonical decimal integer from outside (no sign, no leading zero, ASCII digits) between 0 and `max`. */
export function parseUint(text: unknown, name: string, max: bigint = UINT256_MAX): bigint {
  if (typeof text === "string" && DIGITS.test(text)) {
    const value = BigInt(text);
    if (value <= max) return value;
  }
  const range = max === UINT256_MAX ? "2^256 - 1" : max.toString();
  throw new Fault("INPUT_INVALID", `${name} must be a whole number from 0 to ${range}, in decimal digits.`);
}
