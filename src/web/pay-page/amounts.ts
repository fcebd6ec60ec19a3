// Formats amounts: exact decimal text in, grouped and rounded text out, without floats.

/** Rounded half up, grouped by thousands. */
export function roundDecimalText(text: string, places: number): string {
  const negative = text.startsWith("-");
  const [whole = "0", fraction = ""] = (negative ? text.slice(1) : text).split(".");
  const digits = whole + fraction.padEnd(places + 1, "0").slice(0, places + 1);
  const units = ((BigInt(digits) + 5n) / 10n).toString().padStart(places + 1, "0");
  const front = units.slice(0, units.length - places).replace(/\B(?=(\d{3})+$)/g, ",");
  const back = places === 0 ? "" : `.${units.slice(-places)}`;
  return `${negative && /[1-9]/.test(units) ? "−" : ""}${front}${back}`;
}

export function formatUsd(text: string | null): string {
  if (text === null) return "–";
  const shown = roundDecimalText(text, 2);
  if (/[1-9]/.test(text) && !/[1-9]/.test(shown)) return "< $0.01";
  return shown.startsWith("−") ? `−$${shown.slice(1)}` : `$${shown}`;
}

/** A price may be tiny and still matter. */
export function formatPrice(text: string | null): string {
  if (text === null) return "–";
  return /^0\.0/.test(text) ? `$${formatSignificant(text)}` : formatUsd(text);
}

// No one reads the decimals of a billion and more.
const LARGE_DIGITS = 9;

export function formatQuantity(text: string | null): string {
  if (text === null) return "?";
  if (/^0\.0{6}/.test(text)) return "< 0.000001";
  if (/^-?0\./.test(text)) return formatSignificant(text);
  const [whole = ""] = text.split(".");
  const rounded = roundDecimalText(text, whole.length > LARGE_DIGITS ? 0 : 4);
  return rounded.includes(".") ? rounded.replace(/\.?0+$/, "") : rounded;
}

/** The first four significant digits. */
function formatSignificant(text: string) {
  return /^-?0\.0*[0-9]{1,4}/.exec(text)?.[0].replace(/\.?0+$/, "") ?? text;
}

/** Millionths, for comparisons and charts. */
export function toMillionths(text: string | null): bigint {
  if (text === null) return 0n;
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const units = BigInt(whole + fraction.padEnd(6, "0").slice(0, 6));
  return text.startsWith("-") ? -units : units;
}

/** Unknown ones are left out. */
export function sumMillionths(values: (string | null)[]): bigint {
  return values.reduce((sum, value) => sum + toMillionths(value), 0n);
}

/** The reverse: decimal text. */
export function fromMillionths(units: bigint): string {
  const magnitude = units < 0n ? -units : units;
  const fraction = String(magnitude % 1_000_000n).padStart(6, "0");
  return `${units < 0n ? "-" : ""}${magnitude / 1_000_000n}.${fraction}`;
}

/** A percentage with one decimal, for display only. The whole is above zero. */
export function computeShare(part: bigint, whole: bigint): number {
  return Number((part * 1000n) / whole) / 10;
}

export function formatShare(percent: number): string {
  return percent === 0 ? "< 0.1 %" : `${percent} %`;
}
