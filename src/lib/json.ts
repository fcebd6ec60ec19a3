// Strict JSON for untrusted text: rejects everything that two parsers could read differently.
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
    // A byte order mark stays in the text, where JSON does not allow it.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Fault("INPUT_INVALID", `${what} is not valid UTF-8.`, { cause });
  }
}
