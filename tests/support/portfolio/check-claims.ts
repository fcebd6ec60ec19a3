// Checks a chain's proofs with code that shares nothing with the prover: header, nodes by hash, and that each node is of use.
import { fromRlp, type Hex, keccak256 } from "viem";
import type { ProofChain } from "../../../src/schema/portfolio/proofs.ts";

type Item = Hex | readonly Item[];

const EMPTY_ROOT = keccak256("0x80");

/** Follows a key recursively, by nibbles of text. */
function lookUp(nodes: ReadonlyMap<Hex, Hex>, item: Item, nibbles: string, used: Set<Hex>): Hex | null {
  if (item === "0x") return null;
  if (typeof item === "string") {
    const node = nodes.get(item);
    if (node === undefined) throw new Error(`no node ${item}`);
    used.add(item);
    return lookUp(nodes, fromRlp(node, "hex") as Item, nibbles, used);
  }
  if (item.length === 17) {
    return lookUp(nodes, item[Number(`0x${nibbles[0]}`)] as Item, nibbles.slice(1), used);
  }
  const [path, next] = item as readonly [Hex, Item];
  const flag = path[2] ?? "";
  const own = path.slice("13".includes(flag) ? 3 : 4);
  if ("23".includes(flag)) return own === nibbles ? (next as Hex) : null;
  return nibbles.startsWith(own) ? lookUp(nodes, next, nibbles.slice(own.length), used) : null;
}

/** The numbers that the claims prove, by path: balances of accounts and words of storage. */
export function readProvenNumbers({ header, block, nodes, claims }: ProofChain): Map<string, bigint> {
  if (header === null || block === null || keccak256(header) !== block.hash) throw new Error("no header");
  const [, , , stateRoot, , , , , number] = fromRlp(header, "hex") as Hex[];
  if (BigInt(number ?? 0) !== BigInt(block.number)) throw new Error("another block");
  const byHash = new Map(nodes.map((node) => [keccak256(node), node]));
  const used = new Set<Hex>();
  const find = (root: Hex | undefined, key: Hex) =>
    root === undefined || root === EMPTY_ROOT ? null : lookUp(byHash, root, keccak256(key).slice(2), used);
  const proven = new Map<string, bigint>();
  for (const { path, account, slot, code } of claims) {
    if (account === undefined) continue;
    const found = find(stateRoot, account);
    const [, balance, storageRoot, codeHash] = found === null ? [] : (fromRlp(found, "hex") as Hex[]);
    if (code !== undefined && keccak256(code ?? "0x") !== (codeHash ?? keccak256("0x"))) {
      throw new Error("another code");
    }
    const stored = slot === undefined ? null : find(storageRoot, slot);
    const word = slot === undefined ? balance : stored === null ? "0x" : (fromRlp(stored, "hex") as Hex);
    proven.set(path, word === undefined || word === "0x" ? 0n : BigInt(word));
  }
  if (used.size !== nodes.length || byHash.size !== nodes.length) throw new Error("a node is of no use");
  return proven;
}
