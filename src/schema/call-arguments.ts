// Decodes the arguments of calls: a decoder compiled per function, several times as fast as a general one.
import { type AbiParameter, decodeAbiParameters } from "viem";

/** Decodes the hex digits after the selector; addresses are lower case, everything else is as viem decodes it. */
export type ArgumentsDecoder = (payload: string) => readonly unknown[];

/** Undefined if the payload is not in the canonical form that nearly every call has. */
type ReadArgument = (payload: string, at: number) => unknown;

const WORD = 64;
const ZEROS = "0".repeat(WORD);
// viem's convention: up to 48 bits is a number, wider is a bigint.
const NUMBER_BITS_MAX = 48;
// Calldata is a few kilobytes; an offset with more digits than this is not canonical.
const OFFSET_DIGITS = 8;

/** Falls back to viem for anything unusual: an ABI type that is rare in calls, dirty padding, an odd offset. */
export function createArgumentsDecoder(inputs: readonly AbiParameter[]): ArgumentsDecoder {
  const readers = compileArguments(inputs);
  return (payload) => {
    const args = readers?.map(({ read, at }) => read(payload, at));
    return args && !args.includes(undefined) ? args : decodeAbiParameters(inputs, `0x${payload}`);
  };
}

/** Each parameter with its offset; null if one cannot be read at a fixed offset. */
function compileArguments(
  inputs: readonly AbiParameter[],
): { name: string; read: ReadArgument; at: number }[] | null {
  let at = 0;
  const readers = [];
  for (const input of inputs) {
    const found = compileArgument(input);
    if (!found) return null;
    readers.push({ name: input.name ?? "", read: found.read, at });
    at += found.words * WORD;
  }
  return readers;
}

function compileArgument(input: AbiParameter): { read: ReadArgument; words: number } | null {
  if (input.type === "tuple" && "components" in input) return compileTuple(input.components);
  const read =
    input.type === "bytes" ? readBytes : input.type === "string" ? readText : compileWord(input.type);
  return read && { read, words: 1 };
}

function compileWord(type: string): ReadArgument | null {
  if (type === "address") return (payload, at) => lowDigits(payload, at, 40, (digits) => `0x${digits}`);
  const [, bits] = /^uint(\d+)$/.exec(type) ?? [];
  if (bits !== undefined) {
    const value: (digits: string) => number | bigint =
      Number(bits) <= NUMBER_BITS_MAX ? parseHexDigits : (digits: string) => BigInt(`0x${digits}`);
    return (payload, at) => lowDigits(payload, at, Number(bits) / 4, value);
  }
  if (type !== "bytes32") return null;
  return (payload, at) => (payload.length < at + WORD ? undefined : `0x${payload.slice(at, at + WORD)}`);
}

/** Only for static members, which are encoded in place. */
function compileTuple(components: readonly AbiParameter[]): { read: ReadArgument; words: number } | null {
  const hasDynamic = components.some(({ type, name }) => !name || type === "bytes" || type === "string");
  const readers = hasDynamic ? null : compileArguments(components);
  if (!readers) return null;
  const words = components.reduce((sum, component) => sum + (compileArgument(component)?.words ?? 0), 0);
  return {
    words,
    read: (payload, at) => {
      const tuple: Record<string, unknown> = {};
      for (const { name, read, at: within } of readers) {
        const value = read(payload, at + within);
        if (value === undefined) return undefined;
        tuple[name] = value;
      }
      return tuple;
    },
  };
}

function readBytes(payload: string, at: number): string | undefined {
  const start = lowDigits(payload, at, OFFSET_DIGITS, parseHexDigits);
  if (start === undefined) return undefined;
  const length = lowDigits(payload, start * 2, OFFSET_DIGITS, parseHexDigits);
  if (length === undefined) return undefined;
  const digits = payload.slice(start * 2 + WORD, start * 2 + WORD + length * 2);
  return digits.length === length * 2 ? `0x${digits}` : undefined;
}

function readText(payload: string, at: number): string | undefined {
  const bytes = readBytes(payload, at);
  return bytes === undefined ? undefined : new TextDecoder().decode(Buffer.from(bytes.slice(2), "hex"));
}

/** The last digits of a word whose other digits are zero. */
function lowDigits<T>(
  payload: string,
  at: number,
  count: number,
  value: (digits: string) => T,
): T | undefined {
  const end = at + WORD;
  if (payload.length < end) return undefined;
  if (count < WORD && !payload.startsWith(ZEROS.slice(count), at)) return undefined;
  return value(payload.slice(end - count, end));
}

function parseHexDigits(digits: string): number {
  return Number.parseInt(digits, 16);
}
