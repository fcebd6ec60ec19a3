// Reads a key of a Merkle Patricia trie from its nodes, strictly: every node on the way must be canonical.
import type { Hex } from "viem";
import { bytesToHex, hexToBytes, keccak256 } from "viem/utils";
import { Rejection } from "./rejection.ts";
import { decodeRlp, type RlpItem, requireBytes } from "./strict-rlp.ts";

/** keccak256(0x80): the root of a trie without keys. */
export const EMPTY_ROOT: Hex = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

const KEY_NIBBLES = 64;
const HASH_BYTES = 32;
const BRANCH_ITEMS = 17;
const SHORT_ITEMS = 2;

/** The nodes of a response by their hashes. Each may be given once and must be used. */
export class TrieNodes {
  readonly #encoded = new Map<Hex, Uint8Array>();
  readonly #decoded = new Map<Hex, readonly RlpItem[]>();

  constructor(nodes: readonly Hex[]) {
    for (const node of nodes) {
      const hash = keccak256(node);
      if (this.#encoded.has(hash)) throw new Rejection("A node of the trie is given twice.");
      this.#encoded.set(hash, hexToBytes(node));
    }
  }

  /** How many nodes no proof has used. */
  get unusedCount(): number {
    return this.#encoded.size - this.#decoded.size;
  }

  /** The items of the node with that hash. */
  take(hash: Hex, isRoot: boolean): readonly RlpItem[] {
    const encoded = this.#encoded.get(hash);
    if (encoded === undefined) throw new Rejection("A node of the trie is missing.");
    if (!isRoot && encoded.length < HASH_BYTES) {
      throw new Rejection("A node that must be embedded is given by its hash.");
    }
    const known = this.#decoded.get(hash);
    if (known !== undefined) return known;
    const items = itemsOf(decodeRlp(encoded));
    this.#decoded.set(hash, items);
    return items;
  }
}

/** The value under a key of 32 bytes; null if the nodes show that there is none. Anything else is a rejection. */
export function readTrie(nodes: TrieNodes, root: Hex, key: Uint8Array): Uint8Array | null {
  if (key.length * 2 !== KEY_NIBBLES) throw new TypeError("A key has 32 bytes.");
  return walkTrie(nodes, root, { path: toNibbles(key), hasEqualKeys: true });
}

/** The same in a trie of a list, whose keys are numbers in RLP: none of them is the beginning of another. */
export function readListTrie(nodes: TrieNodes, root: Hex, index: number): Uint8Array | null {
  return walkTrie(nodes, root, { path: toNibbles(encodeIndex(index)), hasEqualKeys: false });
}

function encodeIndex(index: number): Uint8Array {
  if (index === 0) return Uint8Array.of(0x80);
  if (index < 0x80) return Uint8Array.of(index);
  const bytes = index < 0x100 ? [index] : [index >> 8, index & 0xff];
  return Uint8Array.of(0x80 + bytes.length, ...bytes);
}

type TrieKey = { readonly path: readonly number[]; readonly hasEqualKeys: boolean };

function walkTrie(nodes: TrieNodes, root: Hex, { path, hasEqualKeys }: TrieKey): Uint8Array | null {
  if (root === EMPTY_ROOT) return null;
  let items = nodes.take(root, true);
  let depth = 0;
  let mustBranch = false;
  for (;;) {
    if (items.length === BRANCH_ITEMS) {
      const child = readBranch(items, path, depth);
      if (child === null) return null;
      items = openChild(nodes, child);
      depth += 1;
      mustBranch = false;
      continue;
    }
    const { isLeaf, nibbles } = readPrefix(items[0]);
    const end = depth + nibbles.length;
    const isOnPath = nibbles.every((nibble, index) => nibble === path[depth + index]);
    if (mustBranch) throw new Rejection("An extension of the trie does not lead to a branch.");
    if (isLeaf) {
      if (hasEqualKeys && end !== path.length) {
        throw new Rejection("A leaf of the trie ends elsewhere than its key.");
      }
      const value = requireBytes(items[1], "value of a leaf");
      if (value.length === 0) throw new Rejection("A leaf of the trie is empty.");
      return isOnPath && end === path.length ? value : null;
    }
    if (nibbles.length === 0 || (hasEqualKeys && end >= path.length))
      throw new Rejection("An extension of the trie is malformed.");
    const child = requireChild(items[1]);
    if (child === null) throw new Rejection("An extension of the trie leads nowhere.");
    if (!isOnPath) return null;
    items = openChild(nodes, child);
    depth = end;
    mustBranch = true;
  }
}

/** The child of a branch on the path; null if there is none. */
function readBranch(items: readonly RlpItem[], path: readonly number[], depth: number): RlpItem | null {
  // Keys are equally long, so that none ends inside another one.
  if (requireBytes(items[BRANCH_ITEMS - 1], "value of a branch").length > 0) {
    throw new Rejection("A branch of the trie has a value.");
  }
  if (depth >= path.length) throw new Rejection("A branch of the trie lies below the end of its key.");
  const children = items.slice(0, BRANCH_ITEMS - 1).map(requireChild);
  if (children.filter((child) => child !== null).length < 2) {
    throw new Rejection("A branch of the trie has fewer than two children.");
  }
  return children[path[depth] ?? 0] ?? null;
}

/** A hash or an embedded node; null for an empty item. */
function requireChild(item: RlpItem | undefined): RlpItem | null {
  if (item?.kind === "bytes" && item.bytes.length === 0) return null;
  if (item?.kind === "bytes" && item.bytes.length === HASH_BYTES) return item;
  if (item?.kind === "list" && item.raw.length < HASH_BYTES) return item;
  throw new Rejection("A child in the trie is neither a hash nor an embedded node.");
}

function openChild(nodes: TrieNodes, child: RlpItem): readonly RlpItem[] {
  return child.kind === "list" ? itemsOf(child) : nodes.take(bytesToHex(child.bytes), false);
}

function itemsOf(node: RlpItem): readonly RlpItem[] {
  const isNode = node.kind === "list" && [BRANCH_ITEMS, SHORT_ITEMS].includes(node.items.length);
  if (!isNode) throw new Rejection("A node of the trie is not a branch, an extension or a leaf.");
  return node.items;
}

/** Reads the hex-prefix encoding: flags in the first nibble, and a zero behind them if the count is even. */
function readPrefix(item: RlpItem | undefined): {
  readonly isLeaf: boolean;
  readonly nibbles: readonly number[];
} {
  const [flags, ...nibbles] = toNibbles(requireBytes(item, "path of a node"));
  if (flags === undefined || flags > 3) throw new Rejection("The path of a node has unknown flags.");
  const isOdd = (flags & 1) === 1;
  if (!isOdd && nibbles[0] !== 0) throw new Rejection("The path of a node is not padded with zero.");
  return { isLeaf: (flags & 2) === 2, nibbles: isOdd ? nibbles : nibbles.slice(1) };
}

function toNibbles(bytes: Uint8Array): number[] {
  return Array.from(bytes).flatMap((byte) => [byte >> 4, byte & 15]);
}
