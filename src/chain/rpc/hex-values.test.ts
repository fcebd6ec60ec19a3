// Hex from nodes: what is taken, and that everything else is named as the node's fault.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidResponseError } from "./errors.ts";
import { readAddress, readBigQuantity, readData, readHash, readQuantity, toQuantity } from "./hex-values.ts";

describe("a quantity", () => {
  it("reads a quantity exactly, in any case, with or without leading zeros", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(10), (value, zeros) => {
        const hex = value.toString(16);
        expect(readQuantity(toQuantity(value), "it")).toBe(value);
        expect(readQuantity(`0x${"0".repeat(zeros)}${hex.toUpperCase()}`, "it")).toBe(value);
      }),
    );
  });

  it.each([
    "",
    "0x",
    "12",
    12,
    null,
    undefined,
    {},
    ["0x1"],
    "0x1g",
    "0x 1",
    "-0x1",
    "0x1.5",
    "1x0",
    `0x2${"0".repeat(13)}1`,
    `0x${"0".repeat(65)}`,
  ])("rejects %j as a quantity", (value) => {
    expect(() => readQuantity(value, "the block number")).toThrow(InvalidResponseError);
    expect(() => readQuantity(value, "the block number")).toThrow(/^the block number /);
  });

  it("reads amounts of up to 256 bits", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
        expect(readBigQuantity(`0x${value.toString(16)}`, "it")).toBe(value);
      }),
    );
    for (const value of ["0x", "1", "0xzz", `0x1${"0".repeat(64)}`, 1n]) {
      expect(() => readBigQuantity(value, "it")).toThrow(InvalidResponseError);
    }
  });
});

describe("bytes", () => {
  it("reads bytes in lower case, and rejects a wrong length", () => {
    const upper = `0x${"AB".repeat(32)}`;
    expect(readHash(upper, "it")).toBe(upper.toLowerCase());
    expect(readAddress(`0x${"Ab".repeat(20)}`, "it")).toBe(`0x${"ab".repeat(20)}`);
    expect(readData("0x", "it")).toBe("0x");
    expect(readData("0xABcd", "it")).toBe("0xabcd");
    for (const bad of ["0xabc", "abcd", "0xzz", null, 5, "0xab\n"]) {
      expect(() => readData(bad, "it")).toThrow(InvalidResponseError);
      expect(() => readHash(bad, "it")).toThrow(InvalidResponseError);
      expect(() => readAddress(bad, "it")).toThrow(InvalidResponseError);
    }
  });
});
