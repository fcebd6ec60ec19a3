// Untrusted hex and integers: valid ones are normalized, others rejected with the caller's name for them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseUint, UINT256_MAX } from "./decimal.ts";
import { Fault } from "./fault.ts";
import { asAddress, parseAddress, parseBytes, parseHash } from "./hex.ts";

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: length, maxLength: length });

describe("asAddress", () => {
  it("returns an address in lower case, and null for anything else", () => {
    expect(asAddress(`0x${"Ab".repeat(20)}`)).toBe(`0x${"ab".repeat(20)}`);
    for (const value of [`0x${"ab".repeat(19)}`, `0x${"ag".repeat(20)}`, "ab".repeat(21), 1, null]) {
      expect(asAddress(value)).toBeNull();
    }
  });
});

describe("hex", () => {
  it("accepts any case and returns lower case", () => {
    fc.assert(
      fc.property(digits(40), (text) => parseAddress(`0x${text}`, "a") === `0x${text.toLowerCase()}`),
    );
    fc.assert(fc.property(digits(64), (text) => parseHash(`0x${text}`, "h") === `0x${text.toLowerCase()}`));
  });

  it.each([
    undefined,
    null,
    5,
    {},
    [],
    "",
    "0x",
    `0x${"0".repeat(39)}`,
    `0x${"g".repeat(40)}`,
    "0".repeat(42),
    `0x${"٠".repeat(40)}`,
    `0X${"0".repeat(40)}`,
  ])("rejects %j as an address", (value) =>
    expect(() => parseAddress(value, "owner")).toThrow(/^owner must be an address/),
  );

  it("holds bytes to whole bytes and to their limit", () => {
    expect(parseBytes("0x", "data", 4)).toBe("0x");
    expect(parseBytes("0xDEADBEEF", "data", 4)).toBe("0xdeadbeef");
    expect(() => parseBytes("0xdeadbeef00", "data", 4)).toThrow("data must be at most 4 bytes");
    expect(() => parseBytes("0xabc", "data", 4)).toThrow("whole bytes");
  });
});

describe("unsigned integers", () => {
  it("reads every uint256 exactly", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: UINT256_MAX }),
        (value) => parseUint(value.toString(), "id") === value,
      ),
    );
  });

  it.each([
    "",
    "-1",
    "+1",
    "01",
    "1.0",
    "1e3",
    "0x1",
    " 1",
    "٣",
    "१",
    (UINT256_MAX + 1n).toString(),
    `1${"0".repeat(100)}`,
    1,
    null,
  ])("rejects %j", (value) => expect(() => parseUint(value, "id")).toThrow(Fault));

  it("names the range it was given", () => {
    expect(() => parseUint("101", "limit", 100n)).toThrow(
      "limit must be a whole number from 0 to 100, in decimal digits.",
    );
  });
});
