// Amounts of a token: smallest units as bigint, decimal text for people; never a float.
import { SextantError } from "../errors.ts";

/** A decimal text such as "0.05", or smallest units as bigint. */
export type Amount = bigint | string;

const DECIMAL = /^(0|[1-9][0-9]{0,59})(?:\.([0-9]{1,60}))?$/;

export function toUnits(amount: Amount, decimals: number, name: string): bigint {
  if (typeof amount === "bigint") {
    if (amount >= 0n) return amount;
  } else {
    const [, whole = "", fraction = ""] = DECIMAL.exec(amount) ?? [];
    if (whole !== "" && fraction.length <= decimals) return BigInt(whole + fraction.padEnd(decimals, "0"));
  }
  throw new SextantError(
    "NOT_CONFIGURED",
    `${name} must be smallest units as bigint, or a decimal text with at most ${decimals} places.`,
  );
}

export function formatUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
