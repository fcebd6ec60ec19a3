// The fast hash is the same as the library's, for every length around the edges of a block.
import fc from "fast-check";
import { keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import { keccak256Digits } from "./keccak.ts";

describe("keccak256Digits", () => {
  it("is Keccak-256", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const digits = Buffer.from(bytes).toString("hex");
        expect(keccak256Digits(digits)).toBe(keccak256(bytes));
        expect(keccak256Digits(digits.toUpperCase())).toBe(keccak256(bytes));
      }),
    );
  });

  it.each([0, 1, 135, 136, 137, 271, 272, 273])("is Keccak-256 of %i bytes", (length) => {
    expect(keccak256Digits("5a".repeat(length))).toBe(keccak256(new Uint8Array(length).fill(0x5a)));
  });

  it.each(["0", "0g", "0x", "é0"])("refuses %s", (digits) => {
    expect(() => keccak256Digits(digits)).toThrow("hex digits");
  });
});
