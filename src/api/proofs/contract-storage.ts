// Finds members of the contracts' records in storage, by the layout that the compiler printed, and decodes their words.
import { storageLayouts } from "@sextant/contracts/generated/storage-layouts";
import { concat, keccak256, numberToHex, pad } from "viem";
import type { Hex } from "../../lib/hex.ts";

type Member = {
  readonly name: string;
  readonly slot: string;
  readonly offset: number;
  readonly type: string;
};
type Type = {
  readonly encoding: string;
  readonly bytes: number;
  readonly value?: string;
  readonly members?: readonly Member[];
};
type Contract = {
  readonly codeHash: Hex;
  readonly immutables: readonly { readonly start: number; readonly length: number }[];
  readonly variables: readonly Member[];
  readonly types: Readonly<Record<string, Type>>;
};

export type StoringContract = keyof typeof storageLayouts.contracts;

/** A value in storage: the word, and the part of it. */
export type StoredMember = {
  readonly slot: Hex;
  /** In bytes from the low end of the word. */
  readonly offset: number;
  readonly bytes: number;
  /** `dynamic`: a string or bytes, whose data may lie in further words. */
  readonly form: "number" | "bool" | "hex" | "text" | "bytes";
};

function contractOf(name: StoringContract): Contract {
  return storageLayouts.contracts[name];
}

/** `path` begins with a variable; each mapping on the way takes one of the keys. */
export function findMember(
  name: StoringContract,
  path: string,
  keys: readonly (bigint | Hex)[],
): StoredMember {
  const { variables, types } = contractOf(name);
  const [first = "", ...others] = path.split(".");
  const open = [...keys];
  let member = requireMember(variables, first, name);
  let slot = BigInt(member.slot);
  let { offset } = member;
  let type = requireType(types, member.type);
  let typeName = member.type;
  const enterMappings = () => {
    while (type.encoding === "mapping") {
      slot = BigInt(keccak256(concat([wordOf(open.shift() ?? 0n), wordOf(slot)])));
      typeName = type.value ?? "";
      type = requireType(types, typeName);
      offset = 0;
    }
  };
  enterMappings();
  for (const part of others) {
    member = requireMember(type.members ?? [], part, name);
    slot += BigInt(member.slot);
    ({ offset } = member);
    typeName = member.type;
    type = requireType(types, typeName);
    enterMappings();
  }
  return { slot: wordOf(slot), offset, bytes: type.bytes, form: formOf(typeName) };
}

function requireMember(members: readonly Member[], name: string, contract: string): Member {
  const found = members.find((member) => member.name === name);
  if (found === undefined) throw new Error(`the storage of ${contract} has no member ${name}`);
  return found;
}

function requireType(types: Contract["types"], name: string): Type {
  const found = types[name];
  if (found === undefined) throw new Error(`the storage layout has no type ${name}`);
  return found;
}

function formOf(type: string): StoredMember["form"] {
  if (type === "string") return "text";
  if (type === "bytes") return "bytes";
  if (type === "bool") return "bool";
  if (/^(uint[0-9]+|enum .+)$/.test(type)) return "number";
  if (/^(address|bytes[0-9]+)$/.test(type)) return "hex";
  throw new Error(`the type ${type} cannot be read from storage`);
}

const wordOf = (value: bigint | Hex): Hex =>
  typeof value === "bigint" ? numberToHex(value, { size: 32 }) : pad(value, { size: 32 });

/** The part of a word, as responses write it: numbers as decimal text. */
export function readValue(word: bigint, { offset, bytes, form }: StoredMember): string | boolean {
  const part = BigInt.asUintN(bytes * 8, word >> BigInt(offset * 8));
  if (form === "bool") return part !== 0n;
  return form === "number" ? part.toString() : numberToHex(part, { size: bytes });
}

/**
 * The length of a string or bytes by its first word, and where the rest is. Its length is null if it is too long; null
 * for a word that none can have.
 */
export function readDynamic(
  word: bigint,
  slot: Hex,
): { readonly length: number | null; readonly slots: readonly Hex[] } | null {
  if ((word & 1n) === 0n) {
    const length = Number((word & 0xffn) >> 1n);
    return length < 32 ? { length, slots: [] } : null;
  }
  const length = word >> 1n;
  if (length < 32n) return null;
  if (length > DYNAMIC_BYTES_MAX) return { length: null, slots: [] };
  const start = BigInt(keccak256(slot));
  const words = Math.ceil(Number(length) / 32);
  const slots = Array.from({ length: words }, (_, index) =>
    wordOf(BigInt.asUintN(256, start + BigInt(index))),
  );
  return { length: Number(length), slots };
}

/** A kilobyte takes 32 words with a proof each, of a kilobyte or two on a large chain. */
const DYNAMIC_BYTES_MAX = 1_024n;

/** Joins the bytes of a string or bytes from its words: the first alone, or all that `readDynamic` names. */
export function joinDynamic(first: bigint, length: number, words: readonly bigint[]): Hex {
  const all = words.length === 0 ? [first] : words;
  return `0x${all
    .map((word) => wordOf(word).slice(2))
    .join("")
    .slice(0, length * 2)}`;
}

/** Whether the code is the one that the layout is of, whatever its immutables are. */
export function hasKnownCode(name: StoringContract, code: Hex): boolean {
  const { codeHash, immutables } = contractOf(name);
  let text = code.slice(2);
  for (const { start, length } of immutables) {
    if (text.length < (start + length) * 2) return false;
    text = text.slice(0, start * 2) + "0".repeat(length * 2) + text.slice((start + length) * 2);
  }
  return keccak256(`0x${text}`) === codeHash;
}

/** Whether the hash of the deployed code says which code it is. */
export function hasImmutables(name: StoringContract): boolean {
  return contractOf(name).immutables.length > 0;
}
