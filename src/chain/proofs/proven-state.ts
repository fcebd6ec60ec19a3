// The part of a chain's state that trie nodes prove: accounts and words, with the nodes that show each.
import { keccak256 } from "viem";
import type { Hex } from "../../lib/hex.ts";
import { followAccount, followWord, type TrieAccount } from "./trie.ts";

type ProvenAccount = { readonly account: TrieAccount; readonly path: readonly Hex[] };
/** The path has the nodes of the account, too. */
type ProvenWord = { readonly word: bigint; readonly path: readonly Hex[] };

export class ProvenState {
  readonly #stateRoot: Hex;
  readonly #nodes = new Map<Hex, Hex>();
  readonly #hashes = new Map<Hex, Hex>();
  readonly #accounts = new Map<Hex, ProvenAccount>();

  constructor(stateRoot: Hex) {
    this.#stateRoot = stateRoot;
  }

  addNodes(encoded: Iterable<Hex>): void {
    for (const node of encoded) {
      if (this.#hashes.has(node)) continue;
      const hash = keccak256(node);
      this.#hashes.set(node, hash);
      this.#nodes.set(hash, node);
    }
  }

  nodeOf(hash: Hex): Hex | undefined {
    return this.#nodes.get(hash);
  }

  /** Null if the nodes do not lead to it. */
  accountOf(address: Hex): ProvenAccount | null {
    const known = this.#accounts.get(address);
    if (known !== undefined) return known;
    const found = followAccount(this.#stateRoot, address, this.#nodes);
    if (found !== null) this.#accounts.set(address, found);
    return found;
  }

  /** Null if the nodes do not lead to it. */
  wordOf(contract: Hex, slot: Hex): ProvenWord | null {
    const owner = this.accountOf(contract);
    const found = owner && followWord(owner.account.storageRoot, slot, this.#nodes);
    return found && { word: found.word, path: [...owner.path, ...found.path] };
  }
}
