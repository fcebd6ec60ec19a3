// Rows in the text format of COPY, as messages that are ready to be sent.
import { COPY_HEADER_BYTES, COPY_MESSAGE_BYTES, writeCopyHeader } from "./copy-message.ts";

const HEADER = " ".repeat(COPY_HEADER_BYTES);
const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** NULL in COPY's text format. */
export const COPY_NULL = "\\N";

/** A value in COPY's text format. Hardly any has something to escape, and looking is cheaper than replacing. */
export function escapeCopyText(value: string): string {
  return SPECIAL.test(value)
    ? value.replace(SPECIALS, (character) => ESCAPES[character] ?? character)
    : value;
}

/** One row in COPY's text format; null is NULL. */
export function encodeCopyLine(values: readonly (string | null)[]): string {
  return `${values.map((value) => (value === null ? COPY_NULL : escapeCopyText(value))).join("\t")}\n`;
}

/** Lines joined to messages. */
export function encodeCopyLines(lines: Iterable<string>): Buffer[] {
  const messages: Buffer[] = [];
  let pending = HEADER;
  for (const line of lines) {
    pending += line;
    if (pending.length < COPY_MESSAGE_BYTES) continue;
    messages.push(writeCopyHeader(Buffer.from(pending)));
    pending = HEADER;
  }
  if (pending !== HEADER) messages.push(writeCopyHeader(Buffer.from(pending)));
  return messages;
}
