// The arguments of a call, read from its calldata: a reader made once per function, many times as fast as a general one.
import { type AbiParameter, decodeAbiParameters } from "viem";

/** Reads the hex digits after the selector; addresses are lower case, all else is as viem has it. */
export type ArgumentsDecoder = (payload: string) => readonly unknown[];

/** Undefined where the payload is not in the plain form that nearly every call has. */
type Part = (payload: string, at: number) => unknown;

const WORD = 64;
const ZEROS = "0".repeat(WORD);
// viem's convention: up to 48 bits is a number, wider is a bigint.
const NUMBER_BITS_MAX = 48;
// Calldata is a few kilobytes; an offset that needs more digits than this is no plain one.
const OFFSET_DIGITS = 8;

/** What is not plain (a type of the ABI that is rare in calls, dirty padding, an odd offset) is left to viem. */
export function createArgumentsDecoder(inputs: readonly AbiParameter[]): ArgumentsDecoder {
  const parts = partsOf(inputs);
  return (payload) => {
    const args = parts?.map(({ read, at }) => read(payload, at));
    return args && !args.includes(undefined) ? args : decodeAbiParameters(inputs, `0x${payload}`);
  };
}

/** Each parameter with its place; null where one can not be read in place. */
function partsOf(inputs: readonly AbiParameter[]): { name: string; read: Part; at: number }[] | null {
  let at = 0;
  const parts = [];
  for (const input of inputs) {
    const found = partOf(input);
    if (!found) return null;
    parts.push({ name: input.name ?? "", read: found.read, at });
    at += found.words * WORD;
  }
  return parts;
}

function partOf(input: AbiParameter): { read: Part; words: number } | null {
  if (input.type === "tuple" && "components" in input) return tuplePart(input.components);
  const read = input.type === "bytes" ? readBytes : input.type === "string" ? readText : wordPart(input.type);
  return read && { read, words: 1 };
}

function wordPart(type: string): Part | null {
  if (type === "address") return (payload, at) => lowDigits(payload, at, 40, (digits) => `0x${digits}`);
  const [, bits] = /^uint(\d+)$/.exec(type) ?? [];
  if (bits !== undefined) {
    const value: (digits: string) => number | bigint =
      Number(bits) <= NUMBER_BITS_MAX ? fromDigits : (digits: string) => BigInt(`0x${digits}`);
    return (payload, at) => lowDigits(payload, at, Number(bits) / 4, value);
  }
  if (type !== "bytes32") return null;
  return (payload, at) => (payload.length < at + WORD ? undefined : `0x${payload.slice(at, at + WORD)}`);
}

/** Only of static members, which lie flat in their place. */
function tuplePart(components: readonly AbiParameter[]): { read: Part; words: number } | null {
  const dynamic = components.some(({ type, name }) => !name || type === "bytes" || type === "string");
  const parts = dynamic ? null : partsOf(components);
  if (!parts) return null;
  const words = components.reduce((sum, component) => sum + (partOf(component)?.words ?? 0), 0);
  return {
    words,
    read: (payload, at) => {
      const tuple: Record<string, unknown> = {};
      for (const { name, read, at: within } of parts) {
        const value = read(payload, at + within);
        if (value === undefined) return undefined;
        tuple[name] = value;
      }
      return tuple;
    },
  };
}

function readBytes(payload: string, at: number): string | undefined {
  const start = lowDigits(payload, at, OFFSET_DIGITS, fromDigits);
  if (start === undefined) return undefined;
  const length = lowDigits(payload, start * 2, OFFSET_DIGITS, fromDigits);
  if (length === undefined) return undefined;
  const digits = payload.slice(start * 2 + WORD, start * 2 + WORD + length * 2);
  return digits.length === length * 2 ? `0x${digits}` : undefined;
}

function readText(payload: string, at: number): string | undefined {
  const bytes = readBytes(payload, at);
  return bytes === undefined ? undefined : new TextDecoder().decode(Buffer.from(bytes.slice(2), "hex"));
}

/** The last digits of a word whose others are zero. */
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

function fromDigits(digits: string): number {
  return Number.parseInt(digits, 16);
}
