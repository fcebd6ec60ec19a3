// Headers of x402: base64 of JSON, from a server that is not trusted.
import { SextantError } from "../errors.ts";

// Node accepts 16 KiB of headers in all; browsers accept more.
const LENGTH_MAX = 16_384;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function encodeHeader(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** The object in a header. */
export function decodeHeader(text: string, name: string): Readonly<Record<string, unknown>> {
  if (text.length > LENGTH_MAX) throw invalid(name, `has more than ${LENGTH_MAX} characters`);
  if (!BASE64.test(text)) throw invalid(name, "is not base64");
  const value = parse(text, name);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(name, "is not a JSON object");
  }
  return value as Readonly<Record<string, unknown>>;
}

function parse(text: string, name: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw invalid(name, "is not base64 of JSON", cause);
  }
}

function invalid(name: string, problem: string, cause?: unknown): SextantError {
  // The other header comes after the signature.
  const end = name === "PAYMENT-REQUIRED" ? "; nothing was signed." : ".";
  return new SextantError("RESPONSE_INVALID", `The header ${name} ${problem}${end}`, { cause });
}
