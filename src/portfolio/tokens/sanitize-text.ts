// Sanitizes names that anyone may have chosen: no control or invisible characters, limited length.

// Control, format (bidi overrides, zero widths), private-use and unassigned characters, lone surrogates, and the
// replacement character for invalid bytes.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\uFFFD]/gu;

// Longer than any symbol or name of a listed token (22 and 55), short enough for a table.
export const TOKEN_SYMBOL_LENGTH_MAX = 32;
export const TOKEN_NAME_LENGTH_MAX = 80;

// Longer than any honest symbol, name or logo URL from a list or vendor: such a text is rejected instead of truncated.
export const UNTRUSTED_TEXT_LENGTH_MAX = 256;
export const LOGO_LENGTH_MAX = 2_048;

/** Null when no printable text is left. Counts code points, so that none is cut in half. */
export function sanitizeText(text: string, lengthMax: number): string | null {
  // Line breaks and tabs separate words, so they become spaces.
  const printable = text.replaceAll(/\s+/gu, " ").replaceAll(UNPRINTABLE, "").trim();
  return Array.from(printable).slice(0, lengthMax).join("").trim() || null;
}
