// Rows in the text format of COPY, as messages that are ready to be sent.
import type { Hex } from "../../lib/hex.ts";

// The messages in which rows travel to a COPY … FROM STDIN, in whichever format.

/** A message begins with its kind, one byte, and its length, four bytes, which counts itself but not the kind. */

export const COPY_HEADER_BYTES = 5;

/** Below this, the cost per message dominates; far above it, nothing more is gained. */
export const COPY_MESSAGE_BYTES = 64 * 1024;

const KIND = "d".charCodeAt(0);

/** Fills in the header of a message that has room for it. By us, because the driver would copy every byte once more. */
export function writeCopyHeader(message: Buffer): Buffer {
  message[0] = KIND;
  message.writeUInt32BE(message.length - 1, 1);
  return message;
}

// Rows in the binary format of COPY: bytes as they are, which the server reads in half the time that hex in text takes.

/** The types of PostgreSQL that are written so: whole numbers of 4 and 8 bytes, and bytes. */
export type CopyBinaryType = "int4" | "int8" | "bytea";

export type CopyBinaryValue = number | Hex | null;

// The signature of the format, then no flags and no extension.
const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const END_OF_ROWS = -1;

// Where a message is written before it is copied out at its true size; a row that does not fit gets a larger one.
const usualDesk = Buffer.allocUnsafeSlow(COPY_MESSAGE_BYTES);

/** Rows as messages; the order of the types is that of the cells. */
export function encodeCopyBinary(
  types: readonly CopyBinaryType[],
  rows: Iterable<readonly CopyBinaryValue[]>,
): Buffer[] {
  const messages: Buffer[] = [];
  let desk = usualDesk;
  let at = COPY_HEADER_BYTES;
  const makeRoom = (bytes: number) => {
    if (bytes <= desk.length - at) return;
    if (at > COPY_HEADER_BYTES) messages.push(writeCopyHeader(Buffer.from(desk.subarray(0, at))));
    at = COPY_HEADER_BYTES;
    if (bytes > desk.length - at) desk = Buffer.allocUnsafeSlow(bytes + at);
  };
  at += SIGNATURE.copy(desk, at);
  for (const cells of rows) {
    makeRoom(bytesOf(types, cells));
    at = desk.writeInt16BE(types.length, at);
    for (let i = 0; i < types.length; i += 1) at = writeCell(desk, at, types[i], cells[i] ?? null);
  }
  makeRoom(COUNT_BYTES);
  at = desk.writeInt16BE(END_OF_ROWS, at);
  messages.push(writeCopyHeader(Buffer.from(desk.subarray(0, at))));
  return messages;
}

function bytesOf(types: readonly CopyBinaryType[], cells: readonly CopyBinaryValue[]): number {
  let bytes = COUNT_BYTES;
  for (let i = 0; i < types.length; i += 1) bytes += LENGTH_BYTES + lengthOf(types[i], cells[i] ?? null);
  return bytes;
}

function lengthOf(type: CopyBinaryType | undefined, cell: CopyBinaryValue): number {
  if (cell === null) return 0;
  if (typeof cell === "string") return (cell.length - 2) / 2;
  return type === "int8" ? 8 : 4;
}

function writeCell(
  desk: Buffer,
  at: number,
  type: CopyBinaryType | undefined,
  cell: CopyBinaryValue,
): number {
  if (cell === null) return desk.writeInt32BE(NULL_LENGTH, at);
  const length = lengthOf(type, cell);
  const begin = desk.writeInt32BE(length, at);
  if (typeof cell === "number") {
    return type === "int8" ? desk.writeBigInt64BE(BigInt(cell), begin) : desk.writeInt32BE(cell, begin);
  }
  // What is not hex ends the writing early: half a value must not pass for a whole one.
  if (desk.write(cell.slice(2), begin, "hex") !== length) throw new Error("a value to be stored is not hex");
  return begin + length;
}

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
