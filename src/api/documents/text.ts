// The text of a document: stored as sent, checked to be JSON, identified by the hash of its bytes.
import { type Hex, keccak256 } from "viem";
import { Fault } from "../../lib/fault.ts";
import { scanJson } from "../../lib/json-scan.ts";
import { isStorableText } from "./kinds.ts";

// Fits a catalog of a few hundred services. Larger content belongs behind a link.
export const DOCUMENT_BYTES_MAX = 128 * 1024;

// The lowest default limit of common JSON parsers. Parsers without a limit crash on deep nesting.
export const DOCUMENT_DEPTH_MAX = 64;

const LIMITS = { depthMax: DOCUMENT_DEPTH_MAX, tokensMax: null, keysMax: null, unambiguous: false };

export type DocumentText = { readonly text: string; readonly hash: Hex; readonly size: number };

/**
 * Accepts any JSON value that is not nested too deeply, even with duplicate keys or numbers beyond a double. The value
 * is not interpreted: bytes are stored as sent.
 */
export function parseDocumentText(given: unknown, name: string): DocumentText {
  if (typeof given !== "string" || !isStorableText(given)) {
    throw new Fault("INPUT_INVALID", `${name} must be the JSON text of the document, as a string.`);
  }
  const bytes = Buffer.from(given, "utf8");
  if (bytes.length > DOCUMENT_BYTES_MAX) {
    throw new Fault(
      "BODY_TOO_LARGE",
      `${name} has ${bytes.length} bytes; the limit is ${DOCUMENT_BYTES_MAX}.`,
    );
  }
  const problem = scanJson(given, LIMITS);
  if (problem !== null) throw new Fault("INPUT_INVALID", `${name} ${problem}`);
  try {
    JSON.parse(given);
  } catch (cause) {
    throw new Fault("INPUT_INVALID", `${name} is not valid JSON.`, { cause });
  }
  return { text: given, hash: keccak256(bytes), size: bytes.length };
}
