// Text of servers and tokens made harmless for a terminal, and how wide a terminal shows it.
import { SextantError } from "@sextant/client/errors";

// Control characters, invisible and reordering ones, and code points that are not characters.
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu;
// JSON has line breaks of its own between values; inside of texts they are escaped already.
const UNSAFE_IN_JSON = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu;
// East Asian and emoji presentation: two columns.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const ASCII = /^[ -~]*$/;
const MARK = /\p{M}/u;
// Colours of our own: toPlainText has taken such characters out of other text.
const STYLES = /\p{Cc}\[\d+m/gu;

/** One line, each unsafe character shown as a dot. */
export function toPlainText(text: string): string {
  return text.replace(UNSAFE, "·");
}

/** JSON with the same meaning in which unsafe characters are escaped. */
export function toPlainJson(value: unknown, indent = 0): string {
  return stringify(value, indent).replace(UNSAFE_IN_JSON, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}

function stringify(value: unknown, indent: number): string {
  try {
    return JSON.stringify(value, bigintAsText, indent);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    // Thousands of levels exhaust the stack of the formatter, not that of the parser.
    throw new SextantError("RESPONSE_INVALID", "The response is nested too deeply to be printed.", { cause });
  }
}

/** Columns of a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text.replace(STYLES, "")) width += widthOfCharacter(character);
  return width;
}

/**
 * The width of the widest text. Uses a loop, since a service decides how many there are, and arguments of a call are
 * limited.
 */
export function widestOf(texts: Iterable<string>): number {
  let widest = 0;
  for (const text of texts) widest = Math.max(widest, widthOf(text));
  return widest;
}

/** Both ends of an address or hash: 0x1234…abcd. */
export const SHORT_HEX = 11;

/** At most so many columns; what is left out is marked. Addresses and hashes keep both ends, by which people know them. */
export function shortenText(text: string, widthMax: number): string {
  if (widthOf(text) <= widthMax) return text;
  if (/^0x[0-9a-fA-F]+$/.test(text)) {
    const tail = Math.min(4, Math.floor(Math.max(0, widthMax - 3) / 2));
    return `${text.slice(0, widthMax - 1 - tail)}…${text.slice(text.length - tail)}`;
  }
  let kept = "";
  let width = 1;
  for (const character of text) {
    width += widthOfCharacter(character);
    if (width > widthMax) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Lines of at most so many columns; a longer word, or a command between backticks, has a line of its own. */
export function wrapText(text: string, width: number): string[] {
  return joinParts(text.match(/[^\s`]*`[^`]*`\S*|\S+/g) ?? [""], " ", width);
}

/** Lines that begin below the text of the first one; null for no terminal. */
export function hangText(text: string, columns: number | null, indent = 2): string[] {
  const [first = "", ...others] = fitText(text, columns, 0);
  if (columns === null || others.length === 0) return [first];
  return [first, ...wrapText(others.join(" "), columns - indent).map((line) => " ".repeat(indent) + line)];
}

/** Each line of a text so; null for no terminal. */
export function hangLines(text: string, columns: number | null | undefined): string {
  return text
    .split("\n")
    .flatMap((line) => hangText(line, columns ?? null))
    .join("\n");
}

/** One line, or as many as a terminal of that width needs if the text follows an indent; null for no terminal. */
export function fitText(text: string, columns: number | null, indent: number): string[] {
  return columns === null || widthOf(text) + indent <= columns ? [text] : wrapText(text, columns - indent);
}

/** Fills lines with parts, which are never broken. */
export function joinParts(parts: readonly string[], separator: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = last === undefined ? part : last + separator + part;
    if (last !== undefined && widthOf(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines;
}

function widthOfCharacter(character: string): number {
  if (character < "\u0300") return 1;
  if (MARK.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
