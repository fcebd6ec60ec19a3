// Reads accounts and words of storage below a state root.
import type { Hex } from "viem";
import { bytesToHex, hexToBytes, keccak256 } from "viem/utils";
import { Rejection } from "./rejection.ts";
import { decodeRlp, requireInteger, requireSized } from "./strict-rlp.ts";
import { EMPTY_ROOT, readTrie, type TrieNodes } from "./trie.ts";

/** keccak256 of no bytes: the code hash of an account without code. */
export const EMPTY_CODE_HASH: Hex = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

export type AccountState = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly storageRoot: Hex;
  readonly codeHash: Hex;
};

/** An account that does not exist has the values of an empty one. */
const ABSENT: AccountState = { nonce: 0n, balance: 0n, storageRoot: EMPTY_ROOT, codeHash: EMPTY_CODE_HASH };

export function readAccount(nodes: TrieNodes, stateRoot: Hex, address: Hex): AccountState {
  const value = readTrie(nodes, stateRoot, keccak256(address, "bytes"));
  if (value === null) return ABSENT;
  const account = decodeRlp(value);
  if (account.kind !== "list" || account.items.length !== 4) {
    throw new Rejection("An account in the trie does not have four fields.");
  }
  const [nonce, balance, storageRoot, codeHash] = account.items;
  return {
    nonce: requireInteger(nonce, "nonce of an account"),
    balance: requireInteger(balance, "balance of an account"),
    storageRoot: bytesToHex(requireSized(storageRoot, "storage root of an account", 32)),
    codeHash: bytesToHex(requireSized(codeHash, "code hash of an account", 32)),
  };
}

/** A word of storage; zero if the nodes show that the slot is empty. */
export function readWord(nodes: TrieNodes, storageRoot: Hex, slot: Hex): bigint {
  const value = readTrie(nodes, storageRoot, keccak256(hexToBytes(slot), "bytes"));
  if (value === null) return 0n;
  const word = requireInteger(decodeRlp(value), "word of storage");
  if (word === 0n) throw new Rejection("A word of storage is an explicit zero.");
  return word;
}
