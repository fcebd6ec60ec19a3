// Decodes RLP and rejects every encoding but the canonical one.
import { Rejection } from "./rejection.ts";

export type RlpItem =
  | { readonly kind: "bytes"; readonly raw: Uint8Array; readonly bytes: Uint8Array }
  | { readonly kind: "list"; readonly raw: Uint8Array; readonly items: readonly RlpItem[] };

/** Headers are flat, and embedded nodes of tries are shorter than 32 bytes: both nest less. */
const DEPTH_MAX = 8;

const SHORT_MAX = 55;
const TEXT = 0x80;
const LONG_TEXT = 0xb7;
const LIST = 0xc0;
const LONG_LIST = 0xf7;
/** A length of four bytes is more than any file that is read here. */
const LENGTH_BYTES_MAX = 4;

export function decodeRlp(encoded: Uint8Array): RlpItem {
  const item = decodeAt(encoded, 0, encoded.length, 0);
  if (item.raw.length !== encoded.length) throw new Rejection("Bytes follow the end of an RLP item.");
  return item;
}

function decodeAt(source: Uint8Array, start: number, end: number, depth: number): RlpItem {
  if (depth > DEPTH_MAX) throw new Rejection("An RLP item is nested too deeply.");
  if (start >= end) throw new Rejection("An RLP item is cut off.");
  const first = source[start] ?? 0;
  if (first < TEXT) {
    const raw = source.subarray(start, start + 1);
    return { kind: "bytes", raw, bytes: raw };
  }
  const isList = first >= LIST;
  const { offset, length } = readLength(source, start, end);
  const from = start + offset;
  const to = from + length;
  if (to > end) throw new Rejection("An RLP item is cut off.");
  const raw = source.subarray(start, to);
  if (isList) return { kind: "list", raw, items: decodeItems(source, from, to, depth) };
  const bytes = source.subarray(from, to);
  if (length === 1 && (bytes[0] ?? 0) < TEXT)
    throw new Rejection("A byte is not encoded canonically in RLP.");
  return { kind: "bytes", raw, bytes };
}

function decodeItems(source: Uint8Array, from: number, to: number, depth: number): readonly RlpItem[] {
  const items: RlpItem[] = [];
  let at = from;
  while (at < to) {
    const item = decodeAt(source, at, to, depth + 1);
    items.push(item);
    at += item.raw.length;
  }
  return items;
}

/** The length of an item of more than a single byte, and the offset of its content. */
function readLength(source: Uint8Array, start: number, end: number) {
  const first = source[start] ?? 0;
  const [short, long] = first >= LIST ? [LIST, LONG_LIST] : [TEXT, LONG_TEXT];
  if (first <= long) return { offset: 1, length: first - short };
  const size = first - long;
  if (size > LENGTH_BYTES_MAX) throw new Rejection("An RLP item is too long.");
  if (start + 1 + size > end) throw new Rejection("An RLP item is cut off.");
  if (source[start + 1] === 0) throw new Rejection("An RLP length begins with a zero.");
  let length = 0;
  for (let index = 1; index <= size; index += 1) length = length * 256 + (source[start + index] ?? 0);
  if (length <= SHORT_MAX) throw new Rejection("An RLP length is not encoded canonically.");
  return { offset: 1 + size, length };
}

/** The bytes of an item that must not be a list. */
export function requireBytes(item: RlpItem | undefined, name: string): Uint8Array {
  if (item?.kind !== "bytes") throw new Rejection(`The ${name} is not a text of bytes in RLP.`);
  return item.bytes;
}

/** An integer without leading zeros; zero is empty. */
export function requireInteger(item: RlpItem | undefined, name: string): bigint {
  const bytes = requireBytes(item, name);
  if (bytes.length > 32) throw new Rejection(`The ${name} is longer than 32 bytes.`);
  if (bytes[0] === 0) throw new Rejection(`The ${name} begins with a zero.`);
  return bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

export function requireSized(item: RlpItem | undefined, name: string, size: number): Uint8Array {
  const bytes = requireBytes(item, name);
  if (bytes.length !== size) throw new Rejection(`The ${name} does not have ${size} bytes.`);
  return bytes;
}
