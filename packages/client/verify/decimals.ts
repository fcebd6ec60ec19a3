// Exact decimals of a response: amounts with their decimals, and US dollars.
import { Rejection } from "./rejection.ts";

const SCALE = 18;
const DECIMAL = /^(-?)(0|[1-9][0-9]{0,59})(?:\.([0-9]{1,60}))?$/;

/** US dollars in units of 10^-18. */
export function parseUsd(value: unknown, name: string): bigint {
  const [, sign, whole = "", fraction = ""] = (typeof value === "string" && DECIMAL.exec(value)) || [];
  if (whole === "" || fraction.length > SCALE) throw new Rejection(`${name} is not a decimal number.`);
  const units = BigInt(whole + fraction.padEnd(SCALE, "0"));
  return sign === "-" ? -units : units;
}

export function formatUsd(units: bigint): string {
  return formatUnits(units, SCALE);
}

/** Without trailing zeros. */
export function formatUnits(units: bigint, decimals: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

const SHARE_SCALE = 10_000n;

/** Four digits, rounded down; null if there is nothing to share. */
export function formatShare(part: bigint, whole: bigint): string | null {
  return whole === 0n ? null : formatUnits((part * SHARE_SCALE) / whole, 4);
}

const VALUE_SCALE = 6;

/**
 * The most that an amount can be worth at a price: their product, rounded half up to six decimals. A value may be less,
 * because markets can limit it.
 */
export function valueLimit(raw: bigint, decimals: number, price: unknown, name: string): bigint {
  const [, sign, whole = "", fraction = ""] = (typeof price === "string" && DECIMAL.exec(price)) || [];
  if (whole === "" || sign === "-") throw new Rejection(`${name} is not a price.`);
  const units = raw * BigInt(whole + fraction);
  const scale = decimals + fraction.length;
  const drop = scale - VALUE_SCALE;
  const rounded =
    drop <= 0 ? units * 10n ** BigInt(-drop) : (units + 10n ** BigInt(drop) / 2n) / 10n ** BigInt(drop);
  return rounded * 10n ** BigInt(SCALE - VALUE_SCALE);
}
