// Unsigned integers from outside: decimal digits only, exact, never through a float.
import { Fault } from "./fault.ts";

export const UINT256_MAX = 2n ** 256n - 1n;

// 78 digits hold every uint256; anything longer is out of range before BigInt has to read it.
const DIGITS = /^(?:0|[1-9][0-9]{0,77})$/;

/** A canonical decimal integer (no sign, no leading zero, ASCII digits) between 0 and `max`. */
export function parseUint(text: unknown, name: string, max: bigint = UINT256_MAX): bigint {
  if (typeof text === "string" && DIGITS.test(text)) {
    const value = BigInt(text);
    if (value <= max) return value;
  }
  const range = max === UINT256_MAX ? "2^256 - 1" : max.toString();
  throw new Fault("INPUT_INVALID", `${name} must be a whole number from 0 to ${range}, in decimal digits.`);
}
