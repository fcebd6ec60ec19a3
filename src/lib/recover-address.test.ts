// The recovered address is viem's for every signature, valid or not.
import fc from "fast-check";
import { type Hex, numberToHex, recoverAddress } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import { recoverKeyAddress } from "./recover-address.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const FIELD = 2n ** 256n - 2n ** 32n - 977n;
const MAX = 2n ** 256n - 1n;

const wordArb = fc.oneof(
  fc.bigInt(0n, MAX),
  fc.bigInt(0n, 20n),
  fc.constantFrom(ORDER - 1n, ORDER, ORDER + 1n, ORDER / 2n, ORDER / 2n + 1n, FIELD - 1n, FIELD, MAX),
);
const hexOf = (value: bigint) => numberToHex(value, { size: 32 });
const join = (r: bigint, s: bigint, last: number): Hex =>
  `${hexOf(r)}${hexOf(s).slice(2)}${last.toString(16).padStart(2, "0")}`;

async function recoverWithViem(hash: Hex, signature: Hex): Promise<string | null> {
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase();
  } catch {
    return null;
  }
}

describe("recovered address", () => {
  it("the address is that of the key, with either s and every form of the last byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt(1n, ORDER - 1n), wordArb, async (secret, number) => {
        const [privateKey, hash] = [hexOf(secret), hexOf(number)];
        const { r, s, yParity } = await sign({ hash, privateKey });
        const address = privateKeyToAccount(privateKey).address.toLowerCase();
        const [first, second] = [BigInt(r), BigInt(s)];
        for (const base of [0, 27]) {
          const plain = join(first, second, base + (yParity ?? 0));
          const mirrored = join(first, ORDER - second, base + 1 - (yParity ?? 0));
          for (const signature of [plain, mirrored]) {
            expect(await recoverKeyAddress(hash, signature)).toBe(address);
            expect(await recoverWithViem(hash, signature)).toBe(address);
          }
          const other = join(first, second, base + 1 - (yParity ?? 0));
          expect(await recoverKeyAddress(hash, other)).toBe(await recoverWithViem(hash, other));
        }
      }),
      { numRuns: runsOf(200) },
    );
  });

  it("any two numbers give the address that viem gives, or none as viem does", async () => {
    const outcomes = new Set<boolean>();
    const lastArb = fc.oneof(fc.constantFrom(0, 1, 27, 28), fc.nat({ max: 255 }));
    await fc.assert(
      fc.asyncProperty(wordArb, wordArb, wordArb, lastArb, async (number, r, s, last) => {
        const [hash, signature] = [hexOf(number), join(r, s, last)];
        const expected = await recoverWithViem(hash, signature);
        outcomes.add(expected === null);
        expect(await recoverKeyAddress(hash, signature)).toBe(expected);
      }),
      { numRuns: runsOf(2_000, { min: 200 }) },
    );
    expect(outcomes).toEqual(new Set([true, false]));
  });

  it("a hash of zeros has a signer", async () => {
    const hash = hexOf(0n);
    const account = privateKeyToAccount(hexOf(7n));
    expect(await recoverKeyAddress(hash, await account.sign({ hash }))).toBe(account.address.toLowerCase());
  });

  it("a hash or signature that is not whole has no signer", async () => {
    const hash = hexOf(5n);
    const signature = await privateKeyToAccount(hexOf(7n)).sign({ hash });
    const halves: readonly Hex[] = [
      "0x",
      signature.slice(0, -2) as Hex,
      `${signature}00`,
      `0x${"z".repeat(130)}`,
    ];
    for (const half of halves) expect(await recoverKeyAddress(hash, half)).toBeNull();
    expect(await recoverKeyAddress(hash.slice(0, -2) as Hex, signature)).toBeNull();
  });
});
