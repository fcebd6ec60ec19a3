// Follows a key through the nodes of a Merkle trie, each found by its hash: what a node sent is believed only by this.
import { fromRlp, keccak256 } from "viem";
import type { Hex } from "../../lib/hex.ts";

type RlpItem = Hex | readonly RlpItem[];

/** Encoded nodes by their hashes. */
type TrieNodes = ReadonlyMap<Hex, Hex>;

/** The value under a key, null if the trie has none, with the hashes of the nodes that show it. */
type TrieProof = { readonly value: Hex | null; readonly path: readonly Hex[] };

const EMPTY_ROOT: Hex = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
export const EMPTY_CODE_HASH: Hex = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

// A branch of sixteen hashes takes 532 bytes, and no value in the trie of accounts or of storage is longer than a leaf's.
const NODE_BYTES_MAX = 1_024;
const BRANCH_LENGTH = 17;
const HASH_LENGTH = 66;

export function isNodeText(value: unknown): value is Hex {
  return (
    typeof value === "string" && value.length <= 2 + 2 * NODE_BYTES_MAX && /^0x(?:[0-9a-f]{2})+$/.test(value)
  );
}

/** `key` is the hashed one. Null if a node is missing or malformed, so that nothing is known about the key. */
function followKey(root: Hex, key: Hex, nodes: TrieNodes): TrieProof | null {
  const path: Hex[] = [];
  if (root === EMPTY_ROOT) return { value: null, path };
  let reference: RlpItem = root;
  let rest = key.slice(2);
  for (;;) {
    if (reference === "0x") return { value: null, path };
    const node: readonly RlpItem[] | null =
      typeof reference === "string" ? openNode(reference, nodes, path) : reference;
    if (node === null) return null;
    const step: TrieStep | null =
      node.length === BRANCH_LENGTH ? enterBranch(node, rest) : enterPath(node, rest);
    if (step === null) return null;
    if ("value" in step) return { value: step.value, path };
    reference = step.reference;
    rest = step.rest;
  }
}

type TrieStep = { readonly reference: RlpItem; readonly rest: string } | { readonly value: Hex | null };

function openNode(hash: Hex, nodes: TrieNodes, path: Hex[]): readonly RlpItem[] | null {
  const encoded = hash.length === HASH_LENGTH ? nodes.get(hash) : undefined;
  if (encoded === undefined) return null;
  path.push(hash);
  return decodeList(encoded);
}

/** Keys have one length: no value lies in a branch. */
function enterBranch(node: readonly RlpItem[], rest: string): TrieStep | null {
  const reference = rest === "" ? undefined : node[Number.parseInt(rest.slice(0, 1), 16)];
  return reference === undefined ? null : { reference, rest: rest.slice(1) };
}

/** A leaf or an extension: its path has a flag for each in the first nibble, and one for an odd length. */
function enterPath(node: readonly RlpItem[], rest: string): TrieStep | null {
  const [encodedPath, next] = node;
  if (node.length !== 2 || typeof encodedPath !== "string" || next === undefined) return null;
  const flags = Number.parseInt(encodedPath.slice(2, 3), 16);
  if (!(flags >= 0 && flags <= 3)) return null;
  const nibbles = encodedPath.slice((flags & 1) === 1 ? 3 : 4);
  if ((flags & 2) === 2) {
    if (typeof next !== "string") return null;
    return { value: nibbles === rest ? next : null };
  }
  if (nibbles === "") return null;
  return rest.startsWith(nibbles) ? { reference: next, rest: rest.slice(nibbles.length) } : { value: null };
}

/** Null for anything but a list: a node may send any bytes. */
function decodeList(encoded: Hex): readonly RlpItem[] | null {
  try {
    const item = fromRlp(encoded, "hex") as RlpItem;
    return typeof item === "string" ? null : item;
  } catch {
    return null;
  }
}

export type TrieAccount = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly storageRoot: Hex;
  readonly codeHash: Hex;
};

const ABSENT_ACCOUNT: TrieAccount = {
  nonce: 0n,
  balance: 0n,
  storageRoot: EMPTY_ROOT,
  codeHash: EMPTY_CODE_HASH,
};

/** An account by the trie of the state, with the nodes that show it; null if they do not. */
export function followAccount(
  stateRoot: Hex,
  address: Hex,
  nodes: TrieNodes,
): { readonly account: TrieAccount; readonly path: readonly Hex[] } | null {
  const found = followKey(stateRoot, keccak256(address), nodes);
  if (found === null) return null;
  if (found.value === null) return { account: ABSENT_ACCOUNT, path: found.path };
  const fields = decodeList(found.value);
  const [nonce, balance, storageRoot, codeHash] = fields ?? [];
  if (fields?.length !== 4 || ![nonce, balance, storageRoot, codeHash].every(isText)) return null;
  const account = {
    nonce: toNumber(nonce as Hex),
    balance: toNumber(balance as Hex),
    storageRoot: storageRoot as Hex,
    codeHash: codeHash as Hex,
  };
  return { account, path: found.path };
}

/** A word of an account's storage, with the nodes that show it; null if they do not. */
export function followWord(
  storageRoot: Hex,
  slot: Hex,
  nodes: TrieNodes,
): { readonly word: bigint; readonly path: readonly Hex[] } | null {
  const found = followKey(storageRoot, keccak256(slot), nodes);
  if (found === null) return null;
  if (found.value === null) return { word: 0n, path: found.path };
  try {
    const text = fromRlp(found.value, "hex");
    return typeof text === "string" ? { word: toNumber(text), path: found.path } : null;
  } catch {
    return null;
  }
}

function isText(item: RlpItem | undefined): item is Hex {
  return typeof item === "string";
}

function toNumber(text: Hex): bigint {
  return text === "0x" ? 0n : BigInt(text);
}
