// The arguments of calls are decoded as viem decodes them, also from calldata that is not canonical.
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import fc from "fast-check";
import {
  type AbiParameter,
  decodeAbiParameters,
  encodeAbiParameters,
  getAbiItem,
  parseAbiParameters,
} from "viem";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../../tests/support/any-character.ts";
import { createArgumentsDecoder } from "./codec.ts";

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((some) => `0x${Buffer.from(some).toString("hex")}`);
const anyBytes = fc.uint8Array({ maxLength: 100 }).map((some) => `0x${Buffer.from(some).toString("hex")}`);

/** Compares addresses in lower case, as ours are. */
const plain = (values: unknown) =>
  JSON.stringify(values, (_, value) => (typeof value === "bigint" ? `${value}n` : value)).toLowerCase();

function agrees(inputs: readonly AbiParameter[], payload: string): void {
  expect(plain(createArgumentsDecoder(inputs)(`0xabcdef01${payload}`))).toBe(
    plain(decodeAbiParameters(inputs, `0x${payload}`)),
  );
}

const registration = parseAbiParameters("string metadataURI, bytes pubkey, bytes32 capabilitiesHash");
const rare = parseAbiParameters("int8 a, bool b, bytes4 c, uint256[] d, (string x, uint8 y) e");
const submission = getAbiItem({ abi: intentBookAbi, name: "submitIntent" }).inputs;

describe("arguments of a call", () => {
  it("decodes dynamic arguments as viem does", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), anyBytes, hex(32), (text, bytes, hash) => {
        agrees(
          registration,
          encodeAbiParameters(registration, [text, bytes as never, hash as never]).slice(2),
        );
      }),
    );
  });

  it("decodes structs as viem does", () => {
    fc.assert(
      fc.property(
        fc.record({
          owner: hex(20),
          intentType: fc.constant(0),
          constraints: fc.record({
            amountInMax: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
            amountOutMin: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
            deadline: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
            slippageBps: fc.integer({ min: 0, max: 65_535 }),
          }),
          execution: fc.record({
            target: hex(20),
            dataHash: hex(32),
            requiredAttestationSubject: hex(32),
            requiredAttestationSchema: hex(32),
            metadataURIHash: hex(32),
          }),
          inputToken: hex(20),
          outputToken: hex(20),
          nonce: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        }),
        hex(32),
        (intent, word) => {
          const args = [intent as never, 27, word as never, word as never] as const;
          agrees(submission, encodeAbiParameters(submission, args).slice(2));
        },
      ),
    );
  });

  it("decodes arguments of rare types as viem does", () => {
    agrees(rare, encodeAbiParameters(rare, [-3, true, "0x12345678", [1n, 2n], { x: "é", y: 9 }]).slice(2));
  });

  it("decodes or rejects broken calldata as viem does", () => {
    const whole = encodeAbiParameters(registration, ["ipfs://a", "0x0401", `0x${"ca".repeat(32)}`]).slice(2);
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.constantFrom("0", "1", "7", "f"),
        fc.nat(whole.length / 2),
        (at, digit, bytes) => {
          const broken = `${whole.slice(0, at)}${digit}${whole.slice(at + 1)}`.slice(
            0,
            whole.length - bytes * 2,
          );
          const attempt = (read: () => readonly unknown[]) => {
            try {
              return plain(read());
            } catch (error) {
              return (error as Error).name;
            }
          };
          expect(attempt(() => createArgumentsDecoder(registration)(`0xabcdef01${broken}`))).toBe(
            attempt(() => decodeAbiParameters(registration, `0x${broken}`)),
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});
