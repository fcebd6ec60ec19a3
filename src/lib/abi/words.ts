// ABI values as hex text: one strict codec per type, compiled once, because a general codec checks every byte again.
import type { AbiParameter } from "viem";
import type { Hex } from "../hex.ts";

/** The data does not follow the canonical form of the ABI, or a value does not fit its type. */
export class MalformedAbiError extends Error {
  override readonly name = "MalformedAbiError";
}

/** The decoded value, or null for data that is malformed; other errors are thrown. */
export function nullIfMalformed<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch (error) {
    if (error instanceof MalformedAbiError) return null;
    throw error;
  }
}

/** `storable`: as PostgreSQL and JSON can hold it. `utf8`: as viem decodes it, without a byte order mark. */
export type TextDecoding = "storable" | "utf8";

/**
 * Positions count hex digits of a payload without 0x. A static value is encoded in place; the content of a dynamic one
 * lies behind an offset, which the enclosing sequence reads and writes.
 */
export type ValueCodec = {
  readonly isDynamic: boolean;
  /** Words in place: the value of a static type, the offset of a dynamic one. */
  readonly words: number;
  readonly encode: (value: unknown) => string;
  readonly decode: (payload: string, at: number) => unknown;
};

/** Hex digits of one 32-byte word. */
const WORD = 64;
const ZEROS = "0".repeat(WORD);
// viem's convention, which the generated types follow: up to 48 bits is a number, wider is a bigint.
const NUMBER_BITS_MAX = 48;
// Four bytes: far more than any calldata or response has.
const OFFSET_DIGITS = 8;

export function compileParameter(parameter: AbiParameter, text: TextDecoding): ValueCodec {
  const { type } = parameter;
  const array = /^(.*)\[(\d*)\]$/.exec(type);
  if (array) {
    const elementType = { ...parameter, type: array[1] ?? "" };
    // The elements of nested arrays may share their contents, so a short payload could decode to millions of values.
    if (containsArray(elementType)) throw new Error(`the ABI type ${type} is not supported`);
    const element = compileParameter(elementType, text);
    return array[2] ? fixedArrayCodec(element, Number(array[2])) : arrayCodec(element);
  }
  if (type === "tuple" && "components" in parameter) return tupleCodec(parameter.components, text);
  if (type === "string") return text === "storable" ? storableTextCodec : utf8TextCodec;
  if (type === "bytes") return bytesCodec;
  return wordCodec(type);
}

function containsArray(parameter: AbiParameter): boolean {
  if (parameter.type.endsWith("]")) return true;
  return "components" in parameter && parameter.components.some(containsArray);
}

function wordCodec(type: string): ValueCodec {
  if (type === "address") return addressCodec;
  if (type === "bool") return boolCodec;
  const [, sign, bits = "256"] = /^(u?)int(\d*)$/.exec(type) ?? [];
  if (sign !== undefined) return sign === "u" ? uintCodec(Number(bits)) : intCodec(Number(bits));
  const fixedBytes = /^bytes(\d+)$/.exec(type);
  if (fixedBytes) return fixedBytesCodec(Number(fixedBytes[1]));
  throw new Error(`the ABI type ${type} is not supported`);
}

/** The last `count` digits of the word; the others must be zero. */
function readLowDigits(payload: string, at: number, count: number, padding: string): string {
  const end = at + WORD;
  if (payload.length < end) throw new MalformedAbiError("the payload is too short");
  if (!payload.startsWith(padding, at)) throw new MalformedAbiError("a value is out of its range");
  return payload.slice(end - count, end);
}

const paddingFor = (digits: number) => ZEROS.slice(digits);

const ADDRESS_PADDING = paddingFor(40);

const addressCodec: ValueCodec = {
  isDynamic: false,
  words: 1,
  encode: (value) => `${ADDRESS_PADDING}${hexDigits(value, 40).toLowerCase()}`,
  decode: (payload, at) => `0x${readLowDigits(payload, at, 40, ADDRESS_PADDING)}`,
};

const BOOL_PADDING = paddingFor(1);

const boolCodec: ValueCodec = {
  isDynamic: false,
  words: 1,
  encode: (value) => {
    if (typeof value !== "boolean") throw new MalformedAbiError("a boolean is expected");
    return BOOL_PADDING + (value ? "1" : "0");
  },
  decode: readFlag,
};

export function readFlag(payload: string, at: number): boolean {
  const digit = readLowDigits(payload, at, 1, BOOL_PADDING);
  if (digit !== "0" && digit !== "1") throw new MalformedAbiError("a boolean is neither 0 nor 1");
  return digit === "1";
}

// Most amounts and ids are small: summing their digits is faster than making a text of them for BigInt.
const SMALL_DIGITS = NUMBER_BITS_MAX / 4;
const ZERO = "0".charCodeAt(0);
const LOWER_A = "a".charCodeAt(0);

/** The word as a number; -1 for a larger one, and for all that is not lower-case hex. */
function readSmallNumber(payload: string, at: number): number {
  const end = at + WORD;
  let next = at;
  while (next < end && payload.charCodeAt(next) === ZERO) next += 1;
  if (end - next > SMALL_DIGITS) return -1;
  let value = 0;
  for (; next < end; next += 1) {
    // NaN behind the end of the payload, which is in no range.
    const code = payload.charCodeAt(next);
    if (code >= ZERO && code < ZERO + 10) value = value * 16 + code - ZERO;
    else if (code >= LOWER_A && code < LOWER_A + 6) value = value * 16 + code - LOWER_A + 10;
    else return -1;
  }
  return value;
}

function uintCodec(bits: number): ValueCodec {
  const digits = bits / 4;
  const padding = paddingFor(digits);
  const isNumber = bits <= NUMBER_BITS_MAX;
  const smallEnd = 2 ** Math.min(bits, NUMBER_BITS_MAX);
  return {
    isDynamic: false,
    words: 1,
    encode: (value) => encodeUint(value, digits),
    decode: (payload, at) => {
      const small = readSmallNumber(payload, at);
      if (small >= 0 && small < smallEnd) return isNumber ? small : BigInt(small);
      const text = readLowDigits(payload, at, digits, padding);
      return isNumber ? Number.parseInt(text, 16) : BigInt(`0x${text}`);
    },
  };
}

function encodeUint(value: unknown, digits: number): string {
  const isInteger = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
  const text = isInteger ? value.toString(16) : "-";
  if (text.startsWith("-") || text.length > digits) {
    throw new MalformedAbiError("a value is out of its range");
  }
  return text.padStart(WORD, "0");
}

function intCodec(bits: number): ValueCodec {
  return {
    isDynamic: false,
    words: 1,
    encode: (value) => {
      const number = typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
      if (typeof number !== "bigint" || BigInt.asIntN(bits, number) !== number) {
        throw new MalformedAbiError("a value is out of its range");
      }
      return BigInt.asUintN(256, number).toString(16).padStart(WORD, "0");
    },
    decode: (payload, at) => {
      const word = BigInt(`0x${readLowDigits(payload, at, WORD, "")}`);
      const signed = BigInt.asIntN(bits, word);
      if (BigInt.asUintN(256, signed) !== word) throw new MalformedAbiError("a value is out of its range");
      return bits <= NUMBER_BITS_MAX ? Number(signed) : signed;
    },
  };
}

function fixedBytesCodec(bytes: number): ValueCodec {
  const digits = bytes * 2;
  const padding = paddingFor(digits);
  return {
    isDynamic: false,
    words: 1,
    encode: (value) => `${hexDigits(value, digits)}${padding}`,
    decode: (payload, at) => {
      // A topic is the value already.
      if (digits === WORD && at === 2 && payload.length === 2 + WORD && payload.startsWith("0x"))
        return payload;
      const word = readLowDigits(payload, at, WORD, "");
      if (!word.endsWith(padding)) throw new MalformedAbiError("bytes are not padded with zeros");
      return `0x${word.slice(0, digits)}`;
    },
  };
}

const LENGTH_PADDING = paddingFor(OFFSET_DIGITS);

/** An offset or a length. */
export function readLength(payload: string, at: number): number {
  return Number.parseInt(readLowDigits(payload, at, OFFSET_DIGITS, LENGTH_PADDING), 16);
}

/** An offset, a length or a flag. */
export function encodeLength(value: number): string {
  return value.toString(16).padStart(WORD, "0");
}

function readBytes(payload: string, at: number): string {
  const start = at + WORD;
  const length = readLength(payload, at) * 2;
  const digits = payload.slice(start, start + length);
  if (digits.length !== length) throw new MalformedAbiError("a dynamic value is too short");
  return digits;
}

function encodeBytes(digits: string): string {
  const { length } = digits;
  return encodeLength(length / 2) + digits.padEnd(Math.ceil(length / WORD) * WORD, "0");
}

export function encodeByteString(value: unknown): string {
  return encodeBytes(hexDigits(value, null));
}

/** The length of one word, and a word of zeros. */
const ZERO_WORD_BYTES = encodeLength(WORD / 2) + ZEROS;
export const ZERO_WORD: Hex = `0x${ZEROS}`;

/** A balance of zero, the most frequent one, is always the same text. */
export function readByteString(payload: string, at: number): Hex {
  return payload.startsWith(ZERO_WORD_BYTES, at) ? ZERO_WORD : `0x${readBytes(payload, at)}`;
}

const bytesCodec: ValueCodec = {
  isDynamic: true,
  words: 1,
  encode: encodeByteString,
  decode: readByteString,
};

function textCodec(decode: (digits: string) => string): ValueCodec {
  return {
    isDynamic: true,
    words: 1,
    encode: (value) => {
      if (typeof value !== "string") throw new MalformedAbiError("a text is expected");
      return encodeBytes(Buffer.from(value, "utf8").toString("hex"));
    },
    decode: (payload, at) => decode(readBytes(payload, at)),
  };
}

const utf8 = new TextDecoder();
const utf8TextCodec = textCodec((digits) => utf8.decode(Buffer.from(digits, "hex")));
const storableTextCodec = textCodec((digits) => toStorableText(Buffer.from(digits, "hex").toString("utf8")));

/**
 * Text as PostgreSQL and JSON can hold it: invalid UTF-8 (the decoder's work) and NUL become U+FFFD. A hostile name must
 * not stop the index; the exact bytes remain in the stored log.
 */
export function toStorableText(text: string): string {
  return text.replaceAll("\u0000", "\ufffd");
}

/** Values one after another, with the contents of dynamic ones behind them. */
type SequenceCodec = {
  readonly isDynamic: boolean;
  readonly words: number;
  readonly encode: (values: readonly unknown[]) => string;
  readonly decode: (payload: string, at: number) => unknown[];
};

export function compileSequence(parts: readonly ValueCodec[]): SequenceCodec {
  let words = 0;
  const placed = parts.map((part) => {
    const offset = words * WORD;
    words += part.words;
    return { part, offset };
  });
  const headBytes = words * 32;
  return {
    isDynamic: parts.some((part) => part.isDynamic),
    words,
    encode: (values) => {
      if (values.length !== parts.length) {
        throw new MalformedAbiError(`expected ${parts.length} values, got ${values.length}`);
      }
      let head = "";
      let tail = "";
      for (const [i, part] of parts.entries()) {
        const encoded = part.encode(values[i]);
        if (!part.isDynamic) {
          head += encoded;
          continue;
        }
        head += encodeLength(headBytes + tail.length / 2);
        tail += encoded;
      }
      return head + tail;
    },
    decode: (payload, at) =>
      placed.map(({ part, offset }) =>
        part.decode(payload, part.isDynamic ? at + readLength(payload, at + offset) * 2 : at + offset),
      ),
  };
}

/** An object if every component has a name, otherwise a list. */
function tupleCodec(components: readonly AbiParameter[], text: TextDecoding): ValueCodec {
  const sequence = compileSequence(components.map((component) => compileParameter(component, text)));
  const { isDynamic } = sequence;
  const words = isDynamic ? 1 : sequence.words;
  const names = components.map(({ name }) => name ?? "");
  if (names.length === 0 || names.includes("")) {
    return { isDynamic, words, encode: (value) => sequence.encode(asList(value)), decode: sequence.decode };
  }
  return {
    isDynamic,
    words,
    encode: (value) => {
      const fields = value as Readonly<Record<string, unknown>>;
      return sequence.encode(names.map((name) => fields[name]));
    },
    decode: (payload, at) => {
      const values = sequence.decode(payload, at);
      const fields: Record<string, unknown> = {};
      for (const [i, name] of names.entries()) fields[name] = values[i];
      return fields;
    },
  };
}

function arrayCodec(element: ValueCodec): ValueCodec {
  const elementDigits = element.words * WORD;
  return {
    isDynamic: true,
    words: 1,
    encode: (value) => {
      const values = asList(value);
      return encodeLength(values.length) + encodeElements(values, element);
    },
    decode: (payload, at) => {
      const length = readLength(payload, at);
      const base = at + WORD;
      // Before anything is allocated: the length is the sender's claim.
      if (base + length * elementDigits > payload.length) {
        throw new MalformedAbiError("an array is too short");
      }
      const values: unknown[] = [];
      for (let slot = base; values.length < length; slot += elementDigits) {
        values.push(element.decode(payload, element.isDynamic ? base + readLength(payload, slot) * 2 : slot));
      }
      return values;
    },
  };
}

function fixedArrayCodec(element: ValueCodec, length: number): ValueCodec {
  const sequence = compileSequence(Array.from({ length }, () => element));
  const { isDynamic } = sequence;
  return {
    isDynamic,
    words: isDynamic ? 1 : sequence.words,
    encode: (value) => sequence.encode(asList(value)),
    decode: sequence.decode,
  };
}

function encodeElements(values: readonly unknown[], element: ValueCodec): string {
  const encoded = values.map((value) => element.encode(value));
  if (!element.isDynamic) return encoded.join("");
  let offset = values.length * 32;
  const offsets = encoded.map((content) => {
    const own = encodeLength(offset);
    offset += content.length / 2;
    return own;
  });
  return offsets.join("") + encoded.join("");
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedAbiError("a list is expected");
  return value;
}

/** The digits of a hex text; `count` is null for whole bytes of any number. */
function hexDigits(value: unknown, count: number | null): string {
  const digits = typeof value === "string" && value.startsWith("0x") ? value.slice(2) : null;
  if (digits === null || (count === null ? digits.length % 2 !== 0 : digits.length !== count)) {
    throw new MalformedAbiError("hex of another length is expected");
  }
  return digits;
}

export function addressToTopic(address: Hex): Hex {
  return `0x${addressCodec.encode(address)}`;
}

/** Null for a topic that is not an address. */
export function topicToAddress(topic: Hex | undefined): Hex | null {
  return topic?.startsWith(`0x${ADDRESS_PADDING}`) ? `0x${topic.slice(26)}` : null;
}
