// Computes where a token keeps a number: the slot of a balance or an allowance, and the bits of the word.
import type { Hex } from "viem";
import { bytesToHex, concat, keccak256, numberToHex, pad } from "viem/utils";

export type LayoutRule = "solidity" | "vyper" | "solady" | "erc7201";

/** `bits`: "0-N", the low N+1 bits of the word. */
export type Layout = { readonly rule: LayoutRule; readonly position: Hex; readonly bits: string };

export const LAYOUT_RULES: readonly LayoutRule[] = ["solidity", "vyper", "solady", "erc7201"];

/** One key for a balance or an owner, two for an allowance (owner, spender), three for one in Permit2 (owner, token, spender). */
export function computeSlot({ rule, position }: Layout, keys: readonly Hex[]): Hex {
  if (rule === "solady") return computeSoladySlot(keys);
  const start = pad(position, { size: 32 });
  return keys.reduce<Hex>((slot, key) => {
    const word = pad(key, { size: 32 });
    return keccak256(rule === "vyper" ? concat([slot, word]) : concat([word, slot]));
  }, start);
}

const SOLADY_BALANCE = "0x87a211a2";
const SOLADY_ALLOWANCE = "0x7f5e9f20";
const EIGHT_ZEROS = "0x0000000000000000";

function computeSoladySlot([owner = "0x", spender]: readonly Hex[]): Hex {
  return spender === undefined
    ? keccak256(concat([owner, EIGHT_ZEROS, SOLADY_BALANCE]))
    : keccak256(concat([owner, EIGHT_ZEROS, SOLADY_ALLOWANCE, spender]));
}

/** The bits of a word that are the value. */
export function maskOf({ bits }: Pick<Layout, "bits">): bigint {
  const [, last = "255"] = bits.split("-");
  return 2n ** (BigInt(last) + 1n) - 1n;
}

export function sameLayout(a: Layout, b: Layout): boolean {
  const rule = (layout: Layout) => (layout.rule === "erc7201" ? "solidity" : layout.rule);
  return rule(a) === rule(b) && BigInt(a.position) === BigInt(b.position) && a.bits === b.bits;
}

export function describeLayout({ rule, position, bits }: Layout): string {
  const part = bits === "0-255" ? "" : `, bits ${bits}`;
  return rule === "solady" ? `solady${part}` : `${rule} mapping at ${position}${part}`;
}

/** The least bits of a value: enough that no one guesses them, and in every word that holds an amount. */
const PROBE_BYTES = 12;
const PROBE_MASK = 2n ** BigInt(8 * PROBE_BYTES) - 1n;

/**
 * A word for a probe, other than any that a service could foresee: one that knew it would choose the slot after it. Only
 * the lowest bits are random, so that a token that reads a part of the word must read it as the claim does.
 */
export function probeWord(word: bigint, mask: bigint): { readonly word: Hex; readonly value: Hex } {
  const random = BigInt(bytesToHex(crypto.getRandomValues(new Uint8Array(PROBE_BYTES))));
  const probe = (word & ~PROBE_MASK) | random;
  return { word: numberToHex(probe, { size: 32 }), value: numberToHex(probe & mask, { size: 32 }) };
}

const PLAIN_POSITIONS = 256n;
/** ERC-7201 `openzeppelin.storage.ERC20`: balances, and in the next slot allowances. */
const OPENZEPPELIN_5 = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n;

/** ERC-7201 `openzeppelin.storage.ERC721`: the third mapping or text is that of owners. */
const OPENZEPPELIN_5_OWNERS = 0x80bb2b638cc20bc4d0a60d66940f3ab4a00c1d7b313497ca82fb0b4ab0079302n;

/** Whether tokens keep a mapping there. With any other position a service could search for a slot that suits it. */
export function isPlausible({ rule, position }: Omit<Layout, "bits">): boolean {
  const at = BigInt(position);
  const isNamespaced = [OPENZEPPELIN_5, OPENZEPPELIN_5 + 1n, OPENZEPPELIN_5_OWNERS].includes(at);
  if (rule === "solady") return at === 0n;
  if (rule === "erc7201") return isNamespaced;
  return at < PLAIN_POSITIONS || (rule === "solidity" && isNamespaced);
}

/** The words that a call with addresses and numbers as arguments has after its selector. */
export function encodeWords(values: readonly Hex[]): Hex {
  return concat(values.map((value) => pad(value, { size: 32 })));
}
