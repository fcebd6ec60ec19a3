// The trie reader against @ethereumjs/mpt, which shares no code with it, and against nodes that no honest trie has.
import { createMerkleProof, createMPT, verifyMerkleProof } from "@ethereumjs/mpt";
import fc from "fast-check";
import { bytesToHex, concat, type Hex, hexToBytes, keccak256, pad, toRlp } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { Rejection } from "./rejection.ts";
import { EMPTY_ROOT, readTrie, TrieNodes } from "./trie.ts";

/** Few beginnings and short ends, so that paths share many nibbles and small leaves are embedded. */
const key = fc
  .tuple(
    fc.constantFrom("00", "01", "10", "1f"),
    fc.constantFrom(0, 28, 30, 31),
    fc.uint8Array({ minLength: 31, maxLength: 31 }),
  )
  .map(([first, shared, tail]) => {
    const bytes = new Uint8Array(32);
    bytes.set(hexToBytes(`0x${first}`));
    bytes.set(tail.subarray(0, 32 - Math.max(1, shared)), Math.max(1, shared));
    return bytes;
  });
const value = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 2 }),
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
);
const entries = fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 60 });

async function buildTrie(pairs: readonly (readonly [Uint8Array, Uint8Array])[]) {
  const trie = await createMPT({});
  for (const [name, content] of pairs) await trie.put(name, content);
  return trie;
}

const hexOf = (bytes: Uint8Array | null) => bytes && bytesToHex(bytes);
const distinct = (nodes: readonly Uint8Array[]) => [...new Set(nodes.map((node) => bytesToHex(node)))];

describe("a trie", () => {
  it("shows what the oracle shows, of keys that are in it and of keys that are not", async () => {
    await fc.assert(
      fc.asyncProperty(entries, fc.array(key, { minLength: 1, maxLength: 10 }), async (pairs, others) => {
        const trie = await buildTrie(pairs);
        const root = bytesToHex(trie.root());
        const asked = [...pairs.slice(0, 10).map(([name]) => name), ...others];
        for (const name of asked) {
          const proof = await createMerkleProof(trie, name);
          const truth = await verifyMerkleProof(name, proof, { root: trie.root(), useKeyHashing: false });
          // The oracle lists embedded nodes too, which have no hash of their own.
          const listed = distinct(proof).filter((node, index) => index === 0 || node.length >= 66);
          const nodes = new TrieNodes(listed);
          expect(hexOf(readTrie(nodes, root, name))).toBe(hexOf(truth));
          expect(nodes.unusedCount).toBe(0);
        }
      }),
      { numRuns: runsOf(400) },
    );
  });

  it("never shows anything else when a node is changed, dropped or replaced", async () => {
    const change = fc.record({ node: fc.nat(), byte: fc.nat(), flip: fc.integer({ min: 1, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(
        entries,
        fc.array(change, { minLength: 20, maxLength: 20 }),
        async (pairs, changes) => {
          const trie = await buildTrie(pairs);
          const root = bytesToHex(trie.root());
          const name = pairs[0]?.[0] ?? new Uint8Array(32);
          const proof = distinct(await createMerkleProof(trie, name));
          const truth = hexOf(await trie.get(name));
          for (const { node, byte, flip } of changes) {
            const bytes = hexToBytes(proof[node % proof.length] ?? "0x");
            bytes[byte % bytes.length] = (bytes[byte % bytes.length] ?? 0) ^ flip;
            const changed = proof.map((each, index) =>
              index === node % proof.length ? bytesToHex(bytes) : each,
            );
            const dropped = proof.filter((_, index) => index !== node % proof.length);
            for (const nodes of [changed, dropped, [...dropped].reverse()]) {
              expect([truth, "rejected"]).toContain(tryRead(nodes, root, name));
            }
          }
        },
      ),
      { numRuns: runsOf(200) },
    );
  });

  it("has no key without a node when it is empty", () => {
    expect(keccak256("0x80")).toBe(EMPTY_ROOT);
    expect(readTrie(new TrieNodes([]), EMPTY_ROOT, new Uint8Array(32))).toBeNull();
  });
});

function tryRead(nodes: readonly Hex[], root: Hex, name: Uint8Array): Hex | null | "rejected" {
  try {
    return hexOf(readTrie(new TrieNodes(nodes), root, name));
  } catch (error) {
    if (error instanceof Rejection) return "rejected";
    throw error;
  }
}

const NAME = new Uint8Array(32).fill(0x11);
const EMPTY: Hex = "0x";
type Item = Hex | readonly Item[];
const encode = (item: Item): Hex => toRlp(item as Parameters<typeof toRlp>[0]) as Hex;
const branch = (children: Readonly<Record<number, Item>>, content: Item = EMPTY): Item => [
  ...Array.from({ length: 16 }, (_, index) => children[index] ?? EMPTY),
  content,
];
/** The rest of the key after some nibbles, as a leaf has it. */
const leafPath = (nibbles: number): Hex =>
  (nibbles % 2 === 0 ? `0x20${"1".repeat(nibbles)}` : `0x3${"1".repeat(nibbles)}`) as Hex;
const LONG = pad("0x01", { size: 40 });
const OTHER = branch({ 2: keccak256("0x02"), 3: keccak256("0x03") });

describe("a node that no honest trie has", () => {
  const leaf = encode([leafPath(63), LONG]);
  const cases: readonly (readonly [string, readonly Hex[]])[] = [
    ["a branch with a value", [encode(branch({ 1: keccak256(leaf), 2: keccak256(leaf) }, "0x05")), leaf]],
    ["a branch with one child", [encode(branch({ 1: keccak256(leaf) })), leaf]],
    ["a leaf that ends before its key", [encode([leafPath(62), LONG])]],
    ["a leaf that ends after its key", [encode([leafPath(66), LONG])]],
    ["an empty leaf", [encode([leafPath(64), EMPTY])]],
    ["a leaf with a list as its value", [encode([leafPath(64), [LONG]])]],
    ["a path with unknown flags", [encode([`0x40${"11".repeat(32)}`, LONG])]],
    ["a path without flags", [encode([EMPTY, LONG])]],
    ["a path that is not padded with zero", [encode([`0x21${"11".repeat(32)}`, LONG])]],
    ["an extension without nibbles", [encode(["0x00", keccak256(encode(OTHER))]), encode(OTHER)]],
    [
      "an extension that leads to an extension",
      [
        encode(["0x11", keccak256(encode(["0x11", keccak256(encode(OTHER))]))]),
        encode(["0x11", keccak256(encode(OTHER))]),
        encode(OTHER),
      ],
    ],
    ["an extension that leads to a leaf", [encode(["0x11", keccak256(leaf)]), leaf]],
    ["an extension that leads nowhere", [encode(["0x11", EMPTY])]],
    ["an extension of a whole key", [encode([`0x00${"11".repeat(32)}`, keccak256(leaf)]), leaf]],
    ["a child of 31 bytes", [encode(branch({ 1: `0x${"aa".repeat(31)}`, 2: keccak256(leaf) }))]],
    [
      "an embedded node of 32 bytes",
      [encode(branch({ 1: ["0x31", pad("0x01", { size: 29 })], 2: keccak256(leaf) }))],
    ],
    ["a node with three items", [encode(["0x31", LONG, LONG])]],
    ["a node that is a text", [encode(LONG)]],
    ["a node with bytes behind it", [concat([encode([leafPath(64), LONG]), "0x00"])]],
  ];

  it.each(cases)("rejects %s", (_, nodes) => {
    expect(tryRead(nodes, keccak256(nodes[0] ?? "0x"), NAME)).toBe("rejected");
  });

  it("rejects a node that must be embedded and is given by its hash", () => {
    const depth = 62;
    const short = encode([leafPath(64 - depth - 1), "0x05"]);
    const inner = encode(branch({ 1: keccak256(short), 2: keccak256("0x02") }));
    const root = encode([`0x00${"1".repeat(depth)}`, keccak256(inner)]);
    expect(short.length).toBeLessThan(66);
    expect(tryRead([root, inner, short], keccak256(root), NAME)).toBe("rejected");
  });

  it("rejects a node that is given twice", () => {
    const node = encode([leafPath(64), LONG]);
    expect(tryRead([node], keccak256(node), NAME)).toBe(LONG);
    expect(tryRead([node, node], keccak256(node), NAME)).toBe("rejected");
  });

  it("counts nodes that no key has used", () => {
    const node = encode([leafPath(64), LONG]);
    const nodes = new TrieNodes([node, leaf]);
    readTrie(nodes, keccak256(node), NAME);
    expect(nodes.unusedCount).toBe(1);
  });
});
