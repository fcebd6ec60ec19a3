// Strict JSON for untrusted text, which no two parsers may read differently, and exact numbers in the JSON of vendors.
import { type Decimal, SCALE_MAX } from "./decimal.ts";
import { Fault } from "./fault.ts";
import { type JsonLimits, scanJson } from "./json-scan.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Deeper than any record of ours by far, and shallow enough for everything that walks a value.
export const JSON_DEPTH_MAX = 32;
// A schema of the largest size, 64 KiB, has fewer when its parts are seven bytes long on average. Without a limit the
// largest body has 131,072, and each costs time in the scan, in the parser and in everything that walks the value: the
// worst, thousands of objects with a key of their own each, takes V8 about 3 microseconds apiece.
export const JSON_TOKENS_MAX = 10_000;
// As many as a schema may have subschemas; no record of ours has more than twenty. V8 hashes keys that look like
// integers to their own value, so a sender can choose keys that all collide: the time grows with the square of this.
export const JSON_KEYS_MAX = 1_000;

const LIMITS: JsonLimits = {
  depthMax: JSON_DEPTH_MAX,
  tokensMax: JSON_TOKENS_MAX,
  keysMax: JSON_KEYS_MAX,
  unambiguous: true,
};

/** The value of a JSON text in UTF-8. `what` begins the sentence of a rejection, for example "The body". */
export function parseStrictJson(bytes: Uint8Array, what: string): unknown {
  const text = decode(bytes, what);
  // Before the text is parsed: a value that is over a limit is never built.
  const problem = scanJson(text, LIMITS);
  if (problem !== null) throw new Fault("INPUT_INVALID", `${what} ${problem}`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Fault("INPUT_INVALID", `${what} is not valid JSON.`, { cause });
  }
}

function decode(bytes: Uint8Array, what: string): string {
  try {
    // A byte order mark stays in the text, so that JSON's rules reject it.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Fault("INPUT_INVALID", `${what} is not valid UTF-8.`, { cause });
  }
}

// Strings are matched first, so that digits inside them stay what they are.
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;

/** The value of a JSON text, each number as the very text it was written in; throws a SyntaxError if it is not JSON. */
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
