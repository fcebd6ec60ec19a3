// Reads JSON and values of it strictly: nothing that two readers could understand differently passes.
import type { Hex } from "viem";
import { Rejection } from "./rejection.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** More than any response with proofs of a thousand tokens has. */
const BYTES_MAX = 32 * 1024 * 1024;
const DEPTH_MAX = 64;

export function decodeText(bytes: Uint8Array): string {
  if (bytes.length > BYTES_MAX) throw new Rejection("The file is larger than 32 MiB.");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Rejection("The file is not UTF-8.");
  }
}

export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Rejection("The text is not JSON.");
  }
  rejectRepeatedMembers(text);
  return value;
}

const TOKENS = /["{}[\]:]/g;

/** Programs take the first or the last of two members with one name. The text is JSON, as the parser found. */
function rejectRepeatedMembers(text: string): void {
  const open: (Set<string> | null)[] = [];
  const tokens = new RegExp(TOKENS);
  let latest: readonly [start: number, end: number] = [0, 0];
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [token] = found;
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") addMember(open.at(-1), JSON.parse(text.slice(...latest)) as string);
    else {
      tokens.lastIndex = findEnd(text, found.index);
      latest = [found.index, tokens.lastIndex];
    }
    if (open.length > DEPTH_MAX) throw new Rejection("The JSON is nested too deeply.");
  }
}

/** Finds the end of the string that starts there. A pattern for it would need stack for each escape. */
function findEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

/** Counts the backslashes before it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}

function addMember(names: Set<string> | null | undefined, name: string): void {
  if (names?.has(name)) throw new Rejection("A member of the JSON is there twice.");
  names?.add(name);
}

/** An own member: what a prototype has does not count. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function requireObject(value: unknown, name: string): JsonObject {
  if (!isObject(value)) throw new Rejection(`${name} is not an object.`);
  return value;
}

/** An object with exactly these members, and perhaps some of the optional ones. */
export function requireClosed(
  value: unknown,
  name: string,
  members: readonly string[],
  optional: readonly string[] = [],
): JsonObject {
  const object = requireObject(value, name);
  const missing = members.find((member) => !Object.hasOwn(object, member));
  if (missing !== undefined) throw new Rejection(`${name} has no ${missing}.`);
  const isExtra = (member: string) => !members.includes(member) && !optional.includes(member);
  if (Object.keys(object).some(isExtra))
    throw new Rejection(`${name} has a member that the format does not have.`);
  return object;
}

export function requireList(value: unknown, name: string, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new Rejection(`${name} is not a list.`);
  if (value.length > max) throw new Rejection(`${name} has more than ${max} entries.`);
  return value as readonly unknown[];
}

export function requireMatch(value: unknown, name: string, pattern: RegExp): string {
  if (typeof value !== "string" || !pattern.test(value)) throw new Rejection(`${name} is malformed.`);
  return value;
}

export function requireHex(value: unknown, name: string, pattern: RegExp): Hex {
  return requireMatch(value, name, pattern) as Hex;
}

export const ADDRESS = /^0x[0-9a-f]{40}$/;
export const WORD = /^0x[0-9a-f]{64}$/;
/** Code on some chains is longer than the 24 kB of Ethereum. */
export const BYTES = /^0x(?:[0-9a-f]{2}){0,262144}$/;
const UINT = /^(?:0|[1-9][0-9]{0,77})$/;

export function requireUint(value: unknown, name: string): bigint {
  return BigInt(requireMatch(value, name, UINT));
}

/** A whole number that JSON carries exactly. */
export function requireCount(value: unknown, name: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Rejection(`${name} is malformed.`);
  return value as number;
}
