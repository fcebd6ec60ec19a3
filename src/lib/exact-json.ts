// JSON of a vendor, read without floats: every number arrives as the very text it was written in.
import { type Decimal, SCALE_MAX } from "./decimal.ts";

// Strings are matched first, so that digits inside them stay what they are.
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;

/** The value of a JSON text with its numbers as strings; throws a SyntaxError for anything that is not JSON. */
export function parseExactJson(text: string): unknown {
  // Once as it is, because quoting the numbers first would make some broken texts whole.
  JSON.parse(text);
  return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (token[0] === '"' ? token : `"${token}"`)));
}

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?$/;
// Far beyond the digits of any price or balance: a bound on work, not on meaning.
const DIGITS_MAX = 120;

/** A JSON number, or decimal text with an exponent, as exactly the number it names; null for anything else. */
export function parseExactDecimal(value: unknown): Decimal | null {
  const match = typeof value === "string" && value.length <= DIGITS_MAX ? NUMBER.exec(value) : null;
  if (!match) return null;
  const [, minus, whole = "", fraction = "", exponent = "0"] = match;
  const magnitude = BigInt(whole + fraction);
  const units = minus ? -magnitude : magnitude;
  const scale = fraction.length - Number(exponent);
  if (scale > SCALE_MAX || scale < -SCALE_MAX) return null;
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** A whole number of at most 15 digits, which a float still keeps exactly; null for anything else. */
export function parseExactInteger(value: unknown): number | null {
  return typeof value === "string" && /^[0-9]{1,15}$/.test(value) ? Number(value) : null;
}
