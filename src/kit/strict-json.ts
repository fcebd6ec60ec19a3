// JSON from outside, read without any doubt about what it says: what two readers could understand differently is refused.
import { Fault } from "./fault.ts";

// Deeper than any record of ours by far, and shallow enough for everything that walks a value.
export const JSON_DEPTH_MAX = 32;

/** The value of a JSON text in UTF-8. `what` begins the sentence when it is refused, for example "The body". */
export function parseStrictJson(bytes: Uint8Array, what: string): unknown {
  const text = decode(bytes, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Fault("INPUT_INVALID", `${what} is not valid JSON.`, { cause });
  }
  const objection = scan(text);
  if (objection !== null) throw new Fault("INPUT_INVALID", `${what} ${objection}`);
  return value;
}

function decode(bytes: Uint8Array, what: string): string {
  try {
    // A byte order mark stays in the text, where JSON does not allow it.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Fault("INPUT_INVALID", `${what} is not valid UTF-8.`, { cause });
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

// The text is known to be JSON, so tokens need no grammar: a string before a colon is a key.
function scan(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  let lastString: string | null = null;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      if (open.length > JSON_DEPTH_MAX) return `is nested deeper than ${JSON_DEPTH_MAX} levels.`;
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (token === ":") {
      const objection = addKey(open.at(-1), lastString ?? "");
      if (objection !== null) return objection;
    } else if (token.startsWith('"')) {
      lastString = JSON.parse(token) as string;
      const objection = textObjection(lastString);
      if (objection !== null) return objection;
    } else if (losesDigits(token)) {
      return "has a number that can not be kept exactly; send it as a string.";
    }
  }
  return null;
}

function addKey(keys: Set<string> | null | undefined, key: string): string | null {
  // The one key that could reach beyond the object it is in.
  if (key === "__proto__") return "has a key that is not allowed: __proto__.";
  if (keys?.has(key)) return "has a key given twice in one object.";
  keys?.add(key);
  return null;
}

// Neither can be stored as text: a surrogate alone is no character, and PostgreSQL ends a text at NUL.
function textObjection(text: string): string | null {
  if (text.includes("\0")) return "has a string with a NUL character.";
  return /\p{Surrogate}/u.test(text) ? "has a string with half a surrogate pair." : null;
}

function losesDigits(token: string): boolean {
  const number = Number(token);
  if (Number.isNaN(number)) return false;
  return /^-?[0-9]+$/.test(token) ? !Number.isSafeInteger(number) : !Number.isFinite(number);
}
