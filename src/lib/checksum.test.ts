// Addresses with and without a checksum: only a wrong one is named.
import fc from "fast-check";
import { getAddress } from "viem";
import { expect, it } from "vitest";
import { describeWrongChecksum } from "./checksum.ts";

const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

it("names a wrong checksum, and nothing else", () => {
  const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(hex, fc.nat(39), (digits, index) => {
      const right = getAddress(`0x${digits}`);
      const upper = `0x${digits.toUpperCase()}`;
      for (const text of [right, `0x${digits}`, upper]) expect(describeWrongChecksum(text)).toBeNull();
      const digit = right[index + 2] ?? "";
      const flipped = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase();
      const wrong = right.slice(0, index + 2) + flipped + right.slice(index + 3);
      const isMixed = wrong.slice(2) !== digits && wrong !== upper;
      expect(describeWrongChecksum(wrong) !== null).toBe(wrong !== right && isMixed);
    }),
    { numRuns: 50 },
  );
});

it.each([ADDRESS.slice(0, -1), `${ADDRESS}0`, ADDRESS.replace("0x", "0X"), "alice.eth", ""])(
  "says nothing about %s, which is not an address",
  (text) => {
    expect(describeWrongChecksum(text)).toBeNull();
  },
);
