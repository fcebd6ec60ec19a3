// Rows in the text format of COPY, as messages of the protocol that are ready to be sent.

// Below this, the cost per message dominates; far above it, nothing more is gained.
const MESSAGE_LENGTH = 64 * 1024;
// A message begins with its kind, one byte, and its length, four bytes, which counts itself but not the kind.
const KIND = "d".charCodeAt(0);
const HEADER = "     ";
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
    if (pending.length < MESSAGE_LENGTH) continue;
    messages.push(sealed(Buffer.from(pending)));
    pending = HEADER;
  }
  if (pending !== HEADER) messages.push(sealed(Buffer.from(pending)));
  return messages;
}

// Sealed here rather than by the driver, which would copy every byte once more.
function sealed(message: Buffer): Buffer {
  message[0] = KIND;
  message.writeUInt32BE(message.length - 1, 1);
  return message;
}
