// Return data of untrusted contracts: the exact shape, or null.
import fc from "fast-check";
import { encodeAbiParameters } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "../hex.ts";
import {
  decodeAddress,
  decodeAddressArray,
  decodeByteString,
  decodeTokenAmount,
  decodeWord,
  decodeWordArray,
  decodeWords,
  TOKEN_AMOUNT_MAX,
  wordToSigned,
} from "./return-data.ts";

const word = (value: bigint): Hex => `0x${BigInt.asUintN(256, value).toString(16).padStart(64, "0")}`;
const A: Hex = "0x00000000000000000000000000000000000000aa";
const B: Hex = "0xffffffffffffffffffffffffffffffffffffffff";
const list = (items: readonly Hex[]) => encodeAbiParameters([{ type: "address[]" }], [items]);

describe("return data", () => {
  it("decodes return data only with exactly the requested number of words", () => {
    expect(decodeWords(`${word(1n)}${word(2n).slice(2)}` as Hex, 2)).toEqual([1n, 2n]);
    const three: Hex = `0x${"01".repeat(96)}`;
    for (const data of [null, undefined, "0x", "0x12", word(1n), three] as const) {
      expect(decodeWords(data, 2)).toBeNull();
    }
  });

  it("decodes exactly one word, of any value", () => {
    expect(decodeWord(word(2n ** 256n - 1n))).toBe(2n ** 256n - 1n);
    expect(decodeWord(`0x${"01".repeat(64)}`)).toBeNull();
  });

  it("decodes believable amounts only", () => {
    expect(decodeTokenAmount(word(0n))).toBe(0n);
    expect(decodeTokenAmount(word(TOKEN_AMOUNT_MAX))).toBe(TOKEN_AMOUNT_MAX);
    expect(decodeTokenAmount(word(TOKEN_AMOUNT_MAX + 1n))).toBeNull();
  });

  it("decodes only addresses that are clean and not zero", () => {
    expect(decodeAddress(word(0xaan))).toBe(A);
    expect(decodeAddress(word(0n))).toBeNull();
    expect(decodeAddress(word(1n << 160n))).toBeNull();
  });

  it("decodes lists of words, whole or not at all", () => {
    const numbers = encodeAbiParameters([{ type: "uint256[]" }], [[7n, 0n]]);
    expect(decodeWordArray(numbers, 2)).toEqual([7n, 0n]);
    expect(decodeWordArray(numbers, 1)).toBeNull();
    expect(decodeWordArray(`${numbers}00`, 9)).toBeNull();
    expect(decodeWordArray(undefined, 9)).toBeNull();
  });

  it("decodes lists of addresses, whole or not at all", () => {
    expect(decodeAddressArray(list([]), 2)).toEqual([]);
    expect(decodeAddressArray(list([A, B]), 2)).toEqual([A, B]);
    expect(decodeAddressArray(list([A, B]), 1)).toBeNull();
    expect(decodeAddressArray(`${list([A, B])}00`, 9)).toBeNull();
    expect(decodeAddressArray(list([A, `0x${"00".repeat(20)}`]), 2)).toBeNull();
    expect(decodeAddressArray(word(32n), 2)).toBeNull();
    expect(decodeAddressArray(null, 2)).toBeNull();
  });

  it("decodes a byte string, as viem encodes it, up to a length", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(80), (bytes, bytesMax) => {
        const data = encodeAbiParameters([{ type: "bytes" }], [`0x${Buffer.from(bytes).toString("hex")}`]);
        const expected = bytes.length <= bytesMax ? Buffer.from(bytes) : null;
        expect(decodeByteString(data, bytesMax)).toEqual(expected);
      }),
    );
  });

  it.each([
    ["nothing", "0x"],
    ["an offset behind the data", `${word(64n)}${word(0n).slice(2)}`],
    ["an offset beyond any data", `${word(2n ** 255n)}${word(0n).slice(2)}`],
    ["a length beyond the data", `${word(32n)}${word(33n).slice(2)}${word(0n).slice(2)}`],
    ["a length beyond any data", `${word(32n)}${word(2n ** 255n).slice(2)}`],
  ])("decodes no byte string with %s", (_, data) => {
    expect(decodeByteString(data as Hex, 1_024)).toBeNull();
  });

  it("decodes a signed number only if it is sign-extended", () => {
    expect(wordToSigned(BigInt.asUintN(256, -5n), 24)).toBe(-5n);
    expect(wordToSigned(8_388_607n, 24)).toBe(8_388_607n);
    expect(wordToSigned(8_388_608n, 24)).toBeNull();
    expect(wordToSigned(undefined, 24)).toBeNull();
  });
});
