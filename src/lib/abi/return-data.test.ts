// Words of answers: the exact shape, or nothing.
import { encodeAbiParameters } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "../hex.ts";
import {
  AMOUNT_MAX,
  addressesOf,
  addressOf,
  amountOf,
  listOf,
  wordOf,
  wordSigned,
  wordsOf,
} from "./return-data.ts";

const word = (value: bigint): Hex => `0x${BigInt.asUintN(256, value).toString(16).padStart(64, "0")}`;
const A: Hex = "0x00000000000000000000000000000000000000aa";
const B: Hex = "0xffffffffffffffffffffffffffffffffffffffff";
const list = (items: readonly Hex[]) => encodeAbiParameters([{ type: "address[]" }], [items]);

describe("answers as words", () => {
  it("have exactly the number of words asked for", () => {
    expect(wordsOf(`${word(1n)}${word(2n).slice(2)}` as Hex, 2)).toEqual([1n, 2n]);
    const three: Hex = `0x${"01".repeat(96)}`;
    for (const answer of [null, undefined, "0x", "0x12", word(1n), three] as const) {
      expect(wordsOf(answer, 2)).toBeNull();
    }
  });

  it("hold one word of any size, where one was asked for", () => {
    expect(wordOf(word(2n ** 256n - 1n))).toBe(2n ** 256n - 1n);
    expect(wordOf(`0x${"01".repeat(64)}`)).toBeNull();
  });

  it("hold believable amounts only", () => {
    expect(amountOf(word(0n))).toBe(0n);
    expect(amountOf(word(AMOUNT_MAX))).toBe(AMOUNT_MAX);
    expect(amountOf(word(AMOUNT_MAX + 1n))).toBeNull();
  });

  it("hold addresses that are clean and not zero", () => {
    expect(addressOf(word(0xaan))).toBe(A);
    expect(addressOf(word(0n))).toBeNull();
    expect(addressOf(word(1n << 160n))).toBeNull();
  });

  it("hold lists of words, whole or not at all", () => {
    const numbers = encodeAbiParameters([{ type: "uint256[]" }], [[7n, 0n]]);
    expect(listOf(numbers, 2)).toEqual([7n, 0n]);
    expect(listOf(numbers, 1)).toBeNull();
    expect(listOf(`${numbers}00`, 9)).toBeNull();
    expect(listOf(undefined, 9)).toBeNull();
  });

  it("hold lists of addresses, whole or not at all", () => {
    expect(addressesOf(list([]), 2)).toEqual([]);
    expect(addressesOf(list([A, B]), 2)).toEqual([A, B]);
    expect(addressesOf(list([A, B]), 1)).toBeNull();
    expect(addressesOf(`${list([A, B])}00`, 9)).toBeNull();
    expect(addressesOf(list([A, `0x${"00".repeat(20)}`]), 2)).toBeNull();
    expect(addressesOf(word(32n), 2)).toBeNull();
    expect(addressesOf(null, 2)).toBeNull();
  });

  it("hold signed numbers that are sign-extended", () => {
    expect(wordSigned(BigInt.asUintN(256, -5n), 24)).toBe(-5n);
    expect(wordSigned(8_388_607n, 24)).toBe(8_388_607n);
    expect(wordSigned(8_388_608n, 24)).toBeNull();
    expect(wordSigned(undefined, 24)).toBeNull();
  });
});
