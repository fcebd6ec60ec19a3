// Hostile typed data: each mistake has its sentence, numbers keep every digit, and the hash is the one of other libraries.
import fc from "fast-check";
import { hashTypedData, keccak256, toHex } from "viem";
import { describe, expect, it } from "vitest";
import {
  permitOf,
  permitSingleOf,
  seaportOrderOf,
} from "../../../../tests/support/portfolio/message-samples.ts";
import { runsOf } from "../../../../tests/support/test-depth.ts";
import { Fault } from "../../../lib/fault.ts";
import { writeType } from "./message-types.ts";
import { parseTypedData } from "./typed-data.ts";

const TOKEN = `0x${"aa".repeat(20)}`;
const permit = permitOf({ token: TOKEN, chainId: 1 });

type Mutable = {
  domain: Record<string, unknown>;
  types: Record<string, unknown>;
  primaryType: unknown;
  message: Record<string, unknown>;
};

/** The permit after a change of a copy. */
function changed(change: (copy: Mutable) => void): Mutable {
  const copy = structuredClone(permit) as unknown as Mutable;
  change(copy);
  return copy;
}

describe("parseTypedData", () => {
  it("reads numbers as text, as hexadecimal and as JSON numbers, without loss", () => {
    const values = [2n ** 256n - 1n, 2n ** 53n + 1n, 7n];
    for (const value of values) {
      for (const written of [value.toString(), `0x${value.toString(16)}`, ...(value === 7n ? [7] : [])]) {
        const typed = parseTypedData(changed(({ message }) => Object.assign(message, { value: written })));
        expect(typed.message.uint("value")).toBe(value);
      }
    }
  });

  it("reads the JSON text that wallets pass on like its value", () => {
    expect(parseTypedData(JSON.stringify(permit)).hash).toBe(parseTypedData(permit).hash);
    expect(() => parseTypedData(JSON.stringify(permit).replace('"5"', "90071992547409931"))).toThrow(
      "has a number that cannot be represented exactly; send it as a string.",
    );
  });

  it("hashes the known messages as viem does, and writes their types as contracts hash them", () => {
    for (const sample of [
      permit,
      permitSingleOf({ token: TOKEN, chainId: 1 }),
      seaportOrderOf({ token: TOKEN, chainId: 1 }),
    ]) {
      const typed = parseTypedData(sample);
      expect(typed.hash).toBe(hashTypedData(sample as unknown as Parameters<typeof hashTypedData>[0]));
    }
    const type = writeType(parseTypedData(permit).types, "Permit");
    // PERMIT_TYPEHASH of OpenZeppelin and of every other token with EIP-2612.
    expect(keccak256(toHex(type))).toBe("0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9");
  });

  it("names values that the signature does not cover", () => {
    const typed = parseTypedData(
      changed(({ message }) => Object.assign(message, { note: "You get 100 USDC" })),
    );
    expect(typed.unsigned).toEqual(["message.note"]);
    expect(typed.hash).toBe(parseTypedData(permit).hash);
  });

  it("leaves a chain id that the types do not declare out of the domain", () => {
    const typed = parseTypedData(
      changed(({ types }) => Object.assign(types, { EIP712Domain: [{ name: "name", type: "string" }] })),
    );
    expect(typed.domain).toMatchObject({ name: "USD Coin", chainId: null, verifyingContract: null });
    expect(typed.unsigned).toEqual(["domain.version", "domain.chainId", "domain.verifyingContract"]);
  });

  const deep = { type: "object" };
  const wrong: readonly (readonly [sentence: string, input: unknown])[] = [
    ["The message must be an object of typed data.", [permit]],
    [
      "primaryType must be one of the types",
      changed((copy) => Object.assign(copy, { primaryType: "Nothing" })),
    ],
    [
      "primaryType must be one of the types",
      changed((copy) => Object.assign(copy, { primaryType: "toString" })),
    ],
    ["domain must be an object.", changed((copy) => Object.assign(copy, { domain: null }))],
    [
      "domain has a field that the standard does not know.",
      changed(({ domain }) => Object.assign(domain, { chain: 1 })),
    ],
    [
      "message.value must be a whole number of type uint256",
      changed(({ message }) => Object.assign(message, { value: 1.5 })),
    ],
    [
      "message.value must be a whole number of type uint256",
      changed(({ message }) => Object.assign(message, { value: 2 ** 60 })),
    ],
    [
      "message.value is out of the range of uint256.",
      changed(({ message }) => Object.assign(message, { value: "-1" })),
    ],
    [
      "message.spender must have 20 bytes.",
      changed(({ message }) => Object.assign(message, { spender: "0xaa" })),
    ],
    [
      "message.spender must be 0x-prefixed hex",
      changed(({ message }) => Object.assign(message, { spender: "vitalik.eth" })),
    ],
    [
      "message.spender must be text of type address.",
      changed(({ message }) => Object.assign(message, { spender: deep })),
    ],
    ["message.nonce is missing.", changed(({ message }) => delete message.nonce)],
    [
      "types must not contain themselves.",
      changed(({ types }) =>
        Object.assign(types, { A: [{ name: "b", type: "B[]" }], B: [{ name: "a", type: "A" }] }),
      ),
    ],
    [
      "types.Permit has two fields of one name.",
      changed(({ types }) =>
        Object.assign(types, {
          Permit: [
            { name: "owner", type: "address" },
            { name: "owner", type: "address" },
          ],
        }),
      ),
    ],
    [
      "types.A has a field of a type that is not declared.",
      changed(({ types }) => Object.assign(types, { A: [{ name: "b", type: "uint7" }] })),
    ],
    [
      "types has a name that a struct cannot have.",
      changed(({ types }) => Object.assign(types, { uint256: [{ name: "b", type: "bool" }] })),
    ],
    [
      "types has a name that a struct cannot have.",
      changed(({ types }) => Object.assign(types, { constructor: [] })),
    ],
    [
      "types.A must have fields with a name and a type.",
      changed(({ types }) => Object.assign(types, { A: [{ name: "b", type: "uint256,address c" }] })),
    ],
    [
      "types.A has a field whose name is not allowed.",
      changed(({ types }) => Object.assign(types, { A: [{ name: "b,address c", type: "bool" }] })),
    ],
    [
      "types must have at most 40 types.",
      changed((copy) =>
        Object.assign(copy, {
          types: Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`T${i}`, []])),
        }),
      ),
    ],
  ];

  it.each(wrong)("rejects with a sentence: %s", (sentence, input) => {
    expect(() => parseTypedData(input)).toThrow(sentence);
  });

  it("rejects lists of more values than a message may have, and a text of more bytes", () => {
    const types = { Permit: [{ name: "list", type: "uint8[]" }] };
    const message = { list: Array.from({ length: 1_501 }, () => 1) };
    expect(() => parseTypedData({ ...permit, types, message })).toThrow("at most 1500 values");
    expect(() => parseTypedData(" ".repeat(70_000))).toThrow("at most 65536 bytes");
  });

  it("rejects what would take long to hash: many structs of large types, and long text", () => {
    const fields = Array.from({ length: 39 }, (_, i) => ({ name: `f${i}`, type: "uint256[]" }));
    const types = {
      List: [{ name: "items", type: "Item[]" }],
      Item: [{ name: "large", type: "Large[]" }],
      Large: fields,
    };
    const list = (length: number) => ({
      ...{ ...permit, types, primaryType: "List" },
      message: { items: Array.from({ length }, () => ({ large: [] })) },
    });
    expect(parseTypedData(list(50)).message.structs("items")).toHaveLength(50);
    expect(() => parseTypedData(list(100))).toThrow("too many structs for their types");
    const text = { types: { Text: [{ name: "text", type: "string" }] }, primaryType: "Text" };
    expect(() => parseTypedData({ ...permit, ...text, message: { text: "x".repeat(64_001) } })).toThrow(
      "at most 64000 characters",
    );
  });

  it("either reads any JSON value or rejects it by a fault of the input", () => {
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.record({
        domain: fc.oneof(fc.jsonValue(), fc.constant(permit.domain)),
        types: fc.oneof(
          fc.constant(permit.types),
          fc.dictionary(
            fc.string(),
            fc.array(
              fc.record({ name: fc.string(), type: fc.constantFrom("uint256", "A", "A[]", "bytes", "x") }),
            ),
          ),
        ),
        primaryType: fc.constantFrom("Permit", "A", "__proto__"),
        message: fc.oneof(fc.jsonValue(), fc.constant(permit.message)),
      }),
    );
    fc.assert(
      fc.property(anything, (input) => {
        try {
          parseTypedData(input);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect((error as Fault).code).toBe("INPUT_INVALID");
        }
      }),
      { numRuns: runsOf(2_000) },
    );
  });
});
