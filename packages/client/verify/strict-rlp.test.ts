// RLP against the encoder of viem: every text decodes in one way only, or not at all.
import fc from "fast-check";
import { bytesToHex, fromRlp, type Hex, hexToBytes, toRlp } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { Rejection } from "./rejection.ts";
import { decodeRlp, type RlpItem, requireInteger } from "./strict-rlp.ts";

type Nested = Hex | readonly Nested[];

const bytes = fc.uint8Array({ maxLength: 70 }).map((each) => bytesToHex(each));
const { item } = fc.letrec<{ item: Nested }>((tie) => ({
  item: fc.oneof({ maxDepth: 3 }, bytes, fc.array(tie("item"), { maxLength: 5 })),
}));
const encode = (nested: Nested): Hex => toRlp(nested as Parameters<typeof toRlp>[0]) as Hex;

function toNested(decoded: RlpItem): Nested {
  return decoded.kind === "bytes" ? bytesToHex(decoded.bytes) : decoded.items.map(toNested);
}

function tryDecode(encoded: Uint8Array): Nested | null {
  try {
    return toNested(decodeRlp(encoded));
  } catch (error) {
    if (error instanceof Rejection) return null;
    throw error;
  }
}

describe("strict RLP", () => {
  it("decodes what an encoder writes", () => {
    fc.assert(
      fc.property(item, (nested) => {
        expect(tryDecode(hexToBytes(encode(nested)))).toEqual(fromRlp(encode(nested)));
      }),
      { numRuns: runsOf(1_000) },
    );
  });

  it("rejects every text that an encoder would not write", () => {
    const change = fc.record({ at: fc.nat(), flip: fc.integer({ min: 1, max: 255 }), length: fc.nat() });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), change, (nested, { at, flip, length }) => {
        const encoded = hexToBytes(encode(nested));
        const changed = Uint8Array.from(encoded);
        changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ flip;
        for (const each of [
          changed,
          encoded.subarray(0, length % encoded.length),
          Uint8Array.of(...encoded, 0),
        ]) {
          const decoded = tryDecode(each);
          if (decoded !== null) expect(encode(decoded)).toBe(bytesToHex(each));
        }
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it.each([
    "0x8101",
    "0xb800",
    "0xb83700",
    "0xb90001ff",
    "0xc101c0",
    "0x",
    "0x83aa",
    "0xf800",
    "0xbb00000001",
  ])("rejects %s", (encoded) => {
    expect(tryDecode(hexToBytes(encoded as Hex))).toBeNull();
  });

  it("rejects an item that is nested without end", () => {
    expect(tryDecode(hexToBytes(`0x${"c1".repeat(20)}c0`))).toBeNull();
  });

  it("rejects an integer with a leading zero or too many bytes", () => {
    expect(() => requireInteger(decodeRlp(hexToBytes("0x820001")), "number")).toThrow(Rejection);
    expect(() => requireInteger(decodeRlp(hexToBytes(encode(`0x${"11".repeat(33)}`))), "number")).toThrow(
      Rejection,
    );
    expect(requireInteger(decodeRlp(hexToBytes("0x80")), "number")).toBe(0n);
  });
});
