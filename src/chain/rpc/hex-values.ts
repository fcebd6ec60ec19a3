// Quantities and hex as nodes send them: read strictly, because a node may be broken or lie.
import type { Hex } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { malformedResponse } from "./errors.ts";

// Lengths are compared apart: counting inside the pattern makes it four times as slow, and this runs for every log.
const HEX = /^0x[0-9a-f]*$/;
const HEX_DIGITS_256_BITS = 64;

/**
 * A quantity that must be a safe integer: block numbers, indexes, timestamps. Digits are summed by hand, because
 * parseInt stops silently at the first character it does not know. Leading zeros are harmless and some nodes send them.
 */
export function readQuantity(value: unknown, name: string): number {
  if (typeof value !== "string" || value.length < 3 || value.length > 2 + HEX_DIGITS_256_BITS) {
    throw malformedResponse(`${name} is not a hex quantity`);
  }
  if (value.charCodeAt(0) !== 48 || (value.charCodeAt(1) | 32) !== 120) {
    throw malformedResponse(`${name} is not a hex quantity`);
  }
  let sum = 0;
  for (let i = 2; i < value.length; i += 1) {
    const code = value.charCodeAt(i);
    if (code >= 48 && code <= 57) sum = sum * 16 + (code - 48);
    else if ((code | 32) >= 97 && (code | 32) <= 102) sum = sum * 16 + ((code | 32) - 87);
    else throw malformedResponse(`${name} is not a hex quantity`);
  }
  if (!Number.isSafeInteger(sum)) throw malformedResponse(`${name} is larger than any real one`);
  return sum;
}

/** A quantity of up to 256 bits: balances and amounts. */
export function readBigQuantity(value: unknown, name: string): bigint {
  if (typeof value !== "string" || value.length < 3 || value.length > 2 + HEX_DIGITS_256_BITS) {
    throw malformedResponse(`${name} is not a hex quantity`);
  }
  if (!HEX.test(value) && !HEX.test(value.toLowerCase()))
    throw malformedResponse(`${name} is not a hex quantity`);
  return BigInt(value);
}

export function readHash(value: unknown, name: string): Hex {
  return readFixed(value, name, 32, "a 32-byte hash");
}

export function readAddress(value: unknown, name: string): Hex {
  return readFixed(value, name, 20, "an address");
}

export function readBloom(value: unknown, name: string): Hex {
  return readFixed(value, name, 256, "a 256-byte bloom");
}

/** Whole bytes of any length; the response limit of the client bounds it. */
export function readData(value: unknown, name: string): Hex {
  if (typeof value === "string" && value.length % 2 === 0) {
    if (HEX.test(value)) return value as Hex;
    const lower = value.toLowerCase();
    if (HEX.test(lower)) return lower as Hex;
  }
  throw malformedResponse(`${name} is not hex with whole bytes`);
}

export function readObject(value: unknown, name: string): JsonObject {
  if (!isJsonObject(value)) throw malformedResponse(`${name} is not an object`);
  return value;
}

/** A number as a node wants it. */
export function toQuantity(value: number): Hex {
  return `0x${value.toString(16)}`;
}

// Nodes send lower case almost always, so the copy that lower-casing makes is only paid for when it is needed.
function readFixed(value: unknown, name: string, bytes: number, expected: string): Hex {
  if (typeof value === "string" && value.length === 2 + bytes * 2) {
    if (HEX.test(value)) return value as Hex;
    const lower = value.toLowerCase();
    if (HEX.test(lower)) return lower as Hex;
  }
  throw malformedResponse(`${name} is not ${expected}`);
}
