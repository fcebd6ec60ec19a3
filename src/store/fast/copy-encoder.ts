// Rows in the text format of COPY, as messages that are ready to be sent.
import { MESSAGE_BYTES, MESSAGE_HEADER_BYTES, sealed } from "./copy-message.ts";

const HEADER = " ".repeat(MESSAGE_HEADER_BYTES);
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

/** Lines joined to messages. */
export function copyMessages(lines: Iterable<string>): Buffer[] {
  const messages: Buffer[] = [];
  let pending = HEADER;
  for (const line of lines) {
    pending += line;
    if (pending.length < MESSAGE_BYTES) continue;
    messages.push(sealed(Buffer.from(pending)));
    pending = HEADER;
  }
  if (pending !== HEADER) messages.push(sealed(Buffer.from(pending)));
  return messages;
}
