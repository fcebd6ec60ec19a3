// Every character of Unicode, as the unit of arbitrary strings.
import fc from "fast-check";

const PRINTABLE = { first: 0x20, count: 95 } as const;
const SURROGATES = { first: 0xd800, count: 0x800 } as const;

/**
 * As fast-check's own unit "binary": all characters, the printable ones of ASCII as the simplest. Its own keeps a table
 * of all 1.1 million, which takes a second to make and 150 MB in each worker.
 */
export const anyCharacter = fc
  .nat(0x10ffff - SURROGATES.count)
  .map((index) => String.fromCodePoint(toCodePoint(index)), parseIndex);

function toCodePoint(index: number): number {
  if (index < PRINTABLE.count) return PRINTABLE.first + index;
  if (index < PRINTABLE.first + PRINTABLE.count) return index - PRINTABLE.count;
  return index < SURROGATES.first ? index : index + SURROGATES.count;
}

function parseIndex(value: unknown): number {
  const [character, ...others] = typeof value === "string" ? value : [];
  const point = character?.codePointAt(0);
  if (point === undefined || others.length > 0) throw new TypeError("it is not one character");
  if (point < PRINTABLE.first) return point + PRINTABLE.count;
  if (point < PRINTABLE.first + PRINTABLE.count) return point - PRINTABLE.first;
  if (point < SURROGATES.first) return point;
  if (point < SURROGATES.first + SURROGATES.count) throw new TypeError("it is half of a character");
  return point - SURROGATES.count;
}
