// Names that strangers chose, made fit to be shown: no control characters, nothing invisible, bounded.

// Control, format (bidi overrides, zero widths), private and unassigned characters, half surrogates, and the mark that
// decoders leave where bytes were not text.
const UNFIT = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\uFFFD]/gu;

// Longer than any symbol or name of a listed token (22 and 55), short enough for a table.
export const TOKEN_SYMBOL_LENGTH_MAX = 32;
export const TOKEN_NAME_LENGTH_MAX = 80;

/** Null when nothing that can be shown is left. Counted in characters, so that none is cut in half. */
export function sanitizeText(text: string, lengthMax: number): string | null {
  // Line breaks and tabs part words; they must not glue them together.
  const shown = text.replaceAll(/\s+/gu, " ").replaceAll(UNFIT, "").trim();
  return Array.from(shown).slice(0, lengthMax).join("").trim() || null;
}
