// The fast hash gives what viem gives, for every input.
import fc from "fast-check";
import { keccak256 } from "viem";
import { expect, it } from "vitest";
import { fastKeccak256 } from "./fast-keccak.ts";

it("equals viem's keccak256 for any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), (bytes) => {
      expect(fastKeccak256(Buffer.from(bytes).toString("hex"))).toBe(keccak256(bytes));
    }),
  );
});

it("rejects what is not whole bytes in hex", () => {
  for (const bad of ["0", "0x12", "zz", "12 4"]) expect(() => fastKeccak256(bad)).toThrow("whole bytes");
});
