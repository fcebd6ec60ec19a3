// The trie of receipts against @ethereumjs/mpt, which shares no code with it, and what else runs while it is built.
import { createMPT, verifyMerkleProof } from "@ethereumjs/mpt";
import fc from "fast-check";
import { bytesToHex, type Hex, hexToBytes, numberToHex, toRlp } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { encodeReceipts, proveListItem } from "./receipt-trie.ts";

const keyOf = (index: number) => toRlp(index === 0 ? "0x" : numberToHex(index), "bytes");
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(bytesToHex);
// Short values are embedded in the node above them.
const values = fc.array(
  fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 3 }), fc.uint8Array({ minLength: 1, maxLength: 300 })),
  { minLength: 1, maxLength: 300 },
);

const log = fc.record({
  address: bytes(20),
  topics: fc.array(bytes(32), { maxLength: 4 }),
  data: fc.uint8Array({ maxLength: 70 }).map(bytesToHex),
});
const receipt = fc.record({
  type: fc.constantFrom("0x0", "0x1", "0x2", "0x3", "0x4"),
  status: fc.constantFrom("0x0", "0x1"),
  cumulativeGasUsed: fc.bigInt({ min: 0n, max: 2n ** 40n }).map(numberToHex),
  logsBloom: fc.constant(`0x${"00".repeat(256)}`),
  logs: fc.array(log, { maxLength: 3 }),
});

describe("the trie of a list", () => {
  it("has the root of the oracle, which accepts the nodes of every position", async () => {
    await fc.assert(
      fc.asyncProperty(values, fc.nat(), async (list, at) => {
        const oracle = await createMPT({});
        for (const [index, value] of list.entries()) await oracle.put(keyOf(index), value);
        const wanted = at % list.length;
        const { root, nodes } = await proveListItem(
          list.map((value) => bytesToHex(value)),
          wanted,
        );
        expect(root).toBe(bytesToHex(oracle.root()));
        const proof = nodes.map((node) => hexToBytes(node));
        const shown = await verifyMerkleProof(keyOf(wanted), proof, {
          root: oracle.root(),
          useKeyHashing: false,
        });
        expect(shown && bytesToHex(shown)).toBe(bytesToHex(list[wanted] ?? new Uint8Array()));
      }),
      { numRuns: runsOf(60) },
    );
  });
});

describe("a list of receipts", () => {
  it("is written as the yellow paper says, whatever their type", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(receipt, { maxLength: 40 }), async (receipts) => {
        const expected = receipts.map(({ type, status, cumulativeGasUsed, logsBloom, logs }): Hex => {
          const number = (value: Hex): Hex => (BigInt(value) === 0n ? "0x" : numberToHex(BigInt(value)));
          const list = toRlp([
            number(status as Hex),
            number(cumulativeGasUsed),
            logsBloom as Hex,
            logs.map(({ address, topics, data }) => [address, topics, data]) as never,
          ]);
          return type === "0x0" ? list : `0x0${type.slice(2)}${list.slice(2)}`;
        });
        expect(await encodeReceipts(receipts)).toEqual(expected);
      }),
      { numRuns: runsOf(100) },
    );
  });

  it("leaves the process to others while it is written and its trie is built", async () => {
    const [one] = fc.sample(receipt, { numRuns: 1, seed: 1 });
    const data = `0x${"12".repeat(2_000)}`;
    const list = Array.from({ length: 320 }, () => ({
      ...one,
      logs: [{ address: "0x01", topics: [], data }],
    }));
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const encoded = (await encodeReceipts(list)) as readonly Hex[];
    const afterEncoding = turns;
    await proveListItem(encoded, 7);
    isOver = true;
    expect(afterEncoding).toBeGreaterThanOrEqual(15);
    expect(turns - afterEncoding).toBeGreaterThanOrEqual(15);
  });

  it("is not written if it has more than a mebibyte, in one receipt or in all", async () => {
    const [one] = fc.sample(receipt, { numRuns: 1, seed: 3 });
    const logsOf = (bytes: number) => [{ address: "0x01", topics: [], data: `0x${"12".repeat(bytes)}` }];
    expect(await encodeReceipts([{ ...one, logs: logsOf(2 ** 20) }])).toBe("too_long");
    const third = { ...one, logs: logsOf(2 ** 20 / 3) };
    expect(await encodeReceipts([third, third])).toHaveLength(2);
    expect(await encodeReceipts([third, third, third])).toBe("too_long");
  });

  it("has no bytes if a receipt lacks a member", async () => {
    const [one] = fc.sample(receipt, { numRuns: 1, seed: 2 });
    expect(await encodeReceipts([one, { ...one, logsBloom: null }])).toBeNull();
  });
});
