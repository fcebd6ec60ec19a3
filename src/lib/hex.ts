// Hex text from outside: parsed once, lower-cased, with a sentence that says what was expected.
import { Fault } from "./fault.ts";

export type Hex = `0x${string}`;

const HEX = /^0x(?:[0-9a-fA-F]{2})*$/;

/** Whole bytes of 0x-prefixed hex, at most `bytesMax` of them. `name` is how the caller knows the value. */
export function parseBytes(text: unknown, name: string, bytesMax: number): Hex {
  // The length is checked first, so that the pattern never runs over a hostile megabyte.
  if (typeof text === "string" && text.length > 2 + bytesMax * 2) {
    throw new Fault("INPUT_INVALID", `${name} must be at most ${bytesMax} bytes of 0x-prefixed hex.`);
  }
  if (typeof text !== "string" || !HEX.test(text)) {
    throw new Fault("INPUT_INVALID", `${name} must be 0x-prefixed hex with whole bytes.`);
  }
  return text.toLowerCase() as Hex;
}

/** A 20-byte address in any case; checksums are not enforced, because lower case is common and harmless. */
export function parseAddress(text: unknown, name: string): Hex {
  return parseFixed(text, name, 20, "an address: 0x followed by 40 hex digits");
}

/** A 20-byte address in lower case; null for anything else. */
export function asAddress(value: unknown): Hex | null {
  const isAddress = typeof value === "string" && value.length === 42 && HEX.test(value);
  return isAddress ? (value.toLowerCase() as Hex) : null;
}

/** A 32-byte hash. */
export function parseHash(text: unknown, name: string): Hex {
  return parseFixed(text, name, 32, "a hash: 0x followed by 64 hex digits");
}

function parseFixed(text: unknown, name: string, bytes: number, expected: string): Hex {
  if (typeof text !== "string" || text.length !== 2 + bytes * 2 || !HEX.test(text)) {
    throw new Fault("INPUT_INVALID", `${name} must be ${expected}.`);
  }
  return text.toLowerCase() as Hex;
}
