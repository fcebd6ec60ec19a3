// The text of a document: exactly what was sent, checked to be JSON, and named by the hash of its bytes.
import { type Hex, keccak256 } from "viem";
import { Fault } from "../../lib/fault.ts";
import { scanJson } from "../../lib/json-scan.ts";
import { isStorableText } from "./kinds.ts";

// Room for a catalog of a few hundred services. Anything larger belongs behind a link.
export const DOCUMENT_BYTES_MAX = 128 * 1024;

// The lowest limit that JSON readers in wide use have by default: a deeper document could not be read everywhere, and
// those without a limit crash on it.
export const DOCUMENT_DEPTH_MAX = 64;

const LIMITS = { depthMax: DOCUMENT_DEPTH_MAX, tokensMax: null, keysMax: null, unambiguous: false };

export type DocumentText = { readonly text: string; readonly hash: Hex; readonly size: number };

/**
 * Any JSON value passes that is not nested too deep, also one with a key given twice or with numbers no double can hold: nobody reads the value
 * here, the bytes are kept as they are, and what they mean is between the publisher and the reader.
 */
export function parseDocumentText(given: unknown, name: string): DocumentText {
  if (typeof given !== "string" || !isStorableText(given)) {
    throw new Fault("INPUT_INVALID", `${name} must be the JSON text of the document, as a string.`);
  }
  const bytes = Buffer.from(given, "utf8");
  if (bytes.length > DOCUMENT_BYTES_MAX) {
    throw new Fault(
      "BODY_TOO_LARGE",
      `${name} has ${bytes.length} bytes; a document may have at most ${DOCUMENT_BYTES_MAX}.`,
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
