// One pass over a JSON text that enforces limits and finds what two parsers could read differently.

export type JsonLimits = {
  /** Most arrays and objects inside one another. */
  readonly depthMax: number;
  /** Most values and keys; null means no limit. */
  readonly tokensMax: number | null;
  /** Most keys in one object; null means no limit. */
  readonly keysMax: number | null;
  /** Whether repeated keys, inexact numbers and strings that cannot be stored are rejected, too. */
  readonly unambiguous: boolean;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LETTER_U = 0x75;
const BLANK = 0x20;
// Characters of an escape such as \u0041.
const ESCAPE_LENGTH = 6;
// Digits of an integer that is exact in any case, and of the longest one that may be.
const EXACT_DIGITS = 15;
const SAFE_LENGTH_MAX = 17;

/**
 * The end of a sentence that says what is wrong, or null. Syntax is not checked: the caller parses the text afterwards,
 * and if the scan stops early because the text is not JSON, the parser stops no later.
 */
export function scanJson(text: string, limits: JsonLimits): string | null {
  return new JsonScan(text, limits).run();
}

/** The keys of an open object so far; null is an array, or an object without keys yet. */
type Open = { keys: Set<string> | null };

class JsonScan {
  #at = 0;
  #tokens = 0;
  #problem: string | null = null;
  /** The last string, which is a key if a colon follows. */
  #stringStart = 0;
  #stringEnd = 0;
  #stringEscaped = false;
  readonly #open: Open[] = [];
  readonly #text: string;
  readonly #limits: JsonLimits;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  run(): string | null {
    const text = this.#text;
    while (this.#at < text.length && this.#problem === null) {
      const code = text.charCodeAt(this.#at);
      if (code === QUOTE) this.#readString();
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#openContainer();
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#closeContainer();
      else if (code === COLON) this.#readKey();
      else if (code === COMMA || code <= BLANK) this.#at += 1;
      else this.#readScalar();
    }
    return this.#problem;
  }

  #countToken(): void {
    this.#tokens += 1;
    const { tokensMax } = this.#limits;
    if (tokensMax !== null && this.#tokens > tokensMax) {
      this.#problem = `has more than ${tokensMax} values and keys.`;
    }
  }

  #openContainer(): void {
    this.#at += 1;
    this.#countToken();
    this.#open.push({ keys: null });
    const { depthMax } = this.#limits;
    if (this.#open.length > depthMax) this.#problem = `is nested deeper than ${depthMax} levels.`;
  }

  #closeContainer(): void {
    this.#at += 1;
    this.#open.pop();
  }

  #readString(): void {
    this.#countToken();
    const text = this.#text;
    let at = this.#at + 1;
    this.#stringStart = this.#at;
    this.#stringEscaped = false;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code !== BACKSLASH) continue;
      this.#stringEscaped = true;
      at = text.charCodeAt(at + 1) === LETTER_U ? this.#endOfUnicodeEscape(at) : at + 1;
    }
    this.#stringEnd = at + 1;
    this.#at = at + 1;
  }

  // Text decoded from UTF-8 has no half of a pair, and JSON no bare NUL: both can only come from escapes.
  #endOfUnicodeEscape(start: number): number {
    const unit = this.#escapedUnit(start);
    if (unit === 0) this.#objectTo("has a string with a NUL character.");
    if (unit >= 0xd800 && unit <= 0xdfff) {
      const next = unit <= 0xdbff ? this.#escapedUnit(start + ESCAPE_LENGTH) : -1;
      if (next >= 0xdc00 && next <= 0xdfff) return start + 2 * ESCAPE_LENGTH - 1;
      this.#objectTo("has a string with half a surrogate pair.");
    }
    // Skips only two characters of an invalid escape: the parser rejects it.
    return unit < 0 ? start + 1 : start + ESCAPE_LENGTH - 1;
  }

  /** The code unit that an escape at this position stands for; -1 if there is no escape. */
  #escapedUnit(start: number): number {
    const text = this.#text;
    if (text.charCodeAt(start) !== BACKSLASH || text.charCodeAt(start + 1) !== LETTER_U) return -1;
    let unit = 0;
    for (let at = start + 2; at < start + ESCAPE_LENGTH; at += 1) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0) return -1;
      unit = unit * 16 + digit;
    }
    return unit;
  }

  #readKey(): void {
    this.#at += 1;
    const { keysMax, unambiguous } = this.#limits;
    const container = this.#open.at(-1);
    if (!container || (keysMax === null && !unambiguous)) return;
    const key = this.#lastString();
    // The one key that could change more than the object it is in.
    if (key === "__proto__") this.#objectTo("has a key that is not allowed: __proto__.");
    container.keys ??= new Set();
    if (container.keys.has(key)) this.#objectTo("has a key given twice in one object.");
    container.keys.add(key);
    if (keysMax !== null && container.keys.size > keysMax) {
      this.#problem = `has an object with more than ${keysMax} keys.`;
    }
  }

  #lastString(): string {
    const { text, start, end } = { text: this.#text, start: this.#stringStart, end: this.#stringEnd };
    if (!this.#stringEscaped) return text.slice(start + 1, end - 1);
    try {
      return JSON.parse(text.slice(start, end)) as string;
    } catch {
      // An escape that JSON does not have: the scan ends here, and the parser rejects the text.
      this.#at = text.length;
      return "";
    }
  }

  #readScalar(): void {
    this.#countToken();
    const text = this.#text;
    const start = this.#at;
    let isInteger = true;
    let at = start;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code <= BLANK || isStructure(code)) break;
      const isDigit = code >= 0x30 && code <= 0x39;
      if (!isDigit && !(code === 0x2d && at === start)) isInteger = false;
    }
    this.#at = at;
    if (!this.#limits.unambiguous || (isInteger && at - start <= EXACT_DIGITS)) return;
    if (losesDigits(text.slice(start, at), isInteger)) {
      this.#objectTo("has a number that cannot be represented exactly; send it as a string.");
    }
  }

  #objectTo(problem: string): void {
    if (this.#limits.unambiguous) this.#problem ??= problem;
  }
}

function isStructure(code: number): boolean {
  return (
    code === COMMA ||
    code === COLON ||
    code === QUOTE ||
    code === OPEN_BRACKET ||
    code === CLOSE_BRACKET ||
    code === OPEN_BRACE ||
    code === CLOSE_BRACE
  );
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

// Literals such as true are not numbers and lose nothing.
function losesDigits(token: string, isInteger: boolean): boolean {
  if (isInteger) return token.length > SAFE_LENGTH_MAX || !Number.isSafeInteger(Number(token));
  const number = Number(token);
  return !Number.isNaN(number) && !Number.isFinite(number);
}
