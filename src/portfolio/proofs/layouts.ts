// Layouts of tokens, the places of balances, allowances and owners of NFTs: the rules by which a mapping's slot is computed, and how a word is read.
import { concat, keccak256, pad, toHex } from "viem";
import type { Hex } from "../../lib/hex.ts";

type LayoutRule = "solidity" | "vyper" | "solady";

/** A mapping in the storage of a contract; the value is the word's low bits up to `topBit`. */
export type Layout = {
  readonly rule: LayoutRule;
  readonly position: bigint;
  readonly topBit: number;
};

/** The words to look for: by which keys the mapping is read, the outer one first. */
export type MappingKeys =
  | { readonly of: "balance"; readonly holder: Hex }
  | { readonly of: "allowance"; readonly owner: Hex; readonly spender: Hex }
  | { readonly of: "owner"; readonly tokenId: bigint };

/** ERC-7201 `openzeppelin.storage.ERC20`: balances first, allowances in the next slot. */
const OPENZEPPELIN_5 = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n;
/** ERC-7201 `openzeppelin.storage.ERC721`: name, symbol, then owners. */
const OPENZEPPELIN_5_NFT = 0x80bb2b638cc20bc4d0a60d66940f3ab4a00c1d7b313497ca82fb0b4ab0079300n;
const PLAIN_POSITIONS_MAX = 20;
// Upgradeable contracts of OpenZeppelin 4 leave gaps of fifty slots.
const AFTER_GAPS = [51n, 101n, 151n, 201n];
/** USDC keeps its list of blocked holders in the top bit of their balances. */
const USDC_BALANCES = 9n;
const WHOLE_WORD = 255;
const WITHOUT_TOP_BIT = 254;
/** Numbers that contracts pack with other fields into one word. */
const TOP_BITS = [WHOLE_WORD, WITHOUT_TOP_BIT, 159, 127, 95];

const SOLADY_BALANCE_SEED: Hex = "0x87a211a2";
const SOLADY_ALLOWANCE_SEED: Hex = "0x7f5e9f20";

const NAMESPACED = {
  balance: OPENZEPPELIN_5,
  allowance: OPENZEPPELIN_5 + 1n,
  owner: OPENZEPPELIN_5_NFT + 2n,
} as const;
/** How far behind the first mapping of its contract it may lie. */
const STEPS = { balance: [0n], allowance: [0n, 1n], owner: [2n] } as const;

/** In the order in which they are tried. */
export function listCandidates(of: MappingKeys["of"]): readonly Omit<Layout, "topBit">[] {
  const plain = Array.from({ length: PLAIN_POSITIONS_MAX + 1 }, (_, position) => BigInt(position));
  const positions = [...plain, ...STEPS[of].flatMap((step) => AFTER_GAPS.map((each) => each + step))];
  return [
    { rule: "solidity", position: NAMESPACED[of] },
    ...positions.map((position) => ({ rule: "solidity" as const, position })),
    ...(of === "owner" ? [] : [{ rule: "solady" as const, position: 0n }]),
    ...positions.map((position) => ({ rule: "vyper" as const, position })),
  ];
}

export function slotOf({ rule, position }: Omit<Layout, "topBit">, keys: MappingKeys): Hex {
  if (rule === "solady" && keys.of !== "owner") return soladySlot(keys);
  const hash = rule === "vyper" ? vyperSlot : soliditySlot;
  if (keys.of === "balance") return hash(keys.holder, toWord(position));
  if (keys.of === "owner") return hash(toWord(keys.tokenId), toWord(position));
  return hash(keys.spender, hash(keys.owner, toWord(position)));
}

/** Permit2 keeps `allowance[owner][token][spender]` in its second slot: the amount, the expiry and a nonce in one word. */
export const PERMIT2_LAYOUT: Layout = { rule: "solidity", position: 1n, topBit: 159 };

export function permit2Slot({
  owner,
  token,
  spender,
}: Readonly<Record<"owner" | "token" | "spender", Hex>>): Hex {
  return [owner, token, spender].reduce(
    (slot, key) => soliditySlot(key, slot),
    toWord(PERMIT2_LAYOUT.position),
  );
}

/** Seconds since 1970. */
export function readPermit2Expiry(word: bigint): bigint {
  return (word >> 160n) & (2n ** 48n - 1n);
}

function soliditySlot(key: Hex, position: Hex): Hex {
  return keccak256(concat([toKeyWord(key), position]));
}

function vyperSlot(key: Hex, position: Hex): Hex {
  return keccak256(concat([position, toKeyWord(key)]));
}

function soladySlot(keys: Exclude<MappingKeys, { readonly of: "owner" }>): Hex {
  const zeros: Hex = "0x0000000000000000";
  return keys.of === "balance"
    ? keccak256(concat([keys.holder, zeros, SOLADY_BALANCE_SEED]))
    : keccak256(concat([keys.owner, zeros, SOLADY_ALLOWANCE_SEED, keys.spender]));
}

function toKeyWord(address: Hex): Hex {
  return pad(address, { size: 32 });
}

function toWord(value: bigint): Hex {
  return toHex(value, { size: 32 });
}

/** The low bits of a word. */
export function readBits(word: bigint, topBit: number): bigint {
  return BigInt.asUintN(topBit + 1, word);
}

/** The layout by which the word has the value; null if none does, and for zero, which every empty word has. */
export function matchWord(
  { rule, position }: Omit<Layout, "topBit">,
  word: bigint,
  { of, value }: { readonly of: MappingKeys["of"]; readonly value: bigint },
): Layout | null {
  if (value === 0n) return null;
  const isUsdc = of === "balance" && rule === "solidity" && position === USDC_BALANCES && value < 2n ** 255n;
  const topBits = isUsdc ? TOP_BITS.slice(1) : TOP_BITS;
  const topBit = topBits.find((each) => readBits(word, each) === value);
  return topBit === undefined ? null : { rule, position, topBit };
}
