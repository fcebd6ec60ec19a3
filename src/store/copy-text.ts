// Rows in the text format of COPY, as bytes that are ready to be sent.

// Below this, the cost per message dominates; far above it, nothing more is gained.
const CHUNK_LENGTH = 64 * 1024;
const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** NULL in COPY's text format. */
export const COPY_NULL = "\\N";

/** A value in COPY's text format. Hardly any has something to escape, and looking is cheaper than replacing. */
export function copyText(value: string): string {
  return SPECIAL.test(value)
    ? value.replace(SPECIALS, (character) => ESCAPES[character] ?? character)
    : value;
}

/** One row in COPY's text format; null is NULL. */
export function copyLine(values: readonly (string | null)[]): string {
  return `${values.map((value) => (value === null ? COPY_NULL : copyText(value))).join("\t")}\n`;
}

/** Lines joined to chunks worth a message. */
export function copyChunks(lines: Iterable<string>): Buffer[] {
  const chunks: Buffer[] = [];
  let pending = "";
  for (const line of lines) {
    pending += line;
    if (pending.length < CHUNK_LENGTH) continue;
    chunks.push(Buffer.from(pending));
    pending = "";
  }
  if (pending) chunks.push(Buffer.from(pending));
  return chunks;
}
