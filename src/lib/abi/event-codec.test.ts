// Event codecs agree with viem on random arguments of random events, and reject logs that are not canonical.
import fc from "fast-check";
import { type AbiEvent, encodeAbiParameters, encodeEventTopics } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "../hex.ts";
import { createEventCodec } from "./codec.ts";
import { MalformedAbiError } from "./words.ts";

const hexOf = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value) => `0x${Buffer.from(value).toString("hex")}`);
const uintOf = (bits: number) =>
  fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }).map((value) => (bits <= 48 ? Number(value) : value));

// Unicode text without NUL; text that cannot be stored has its own test.
const texts = fc
  .string({ unit: "grapheme", maxLength: 80 })
  .filter((text) => !text.includes("\0") && Buffer.from(text).toString() === text);
const STATIC = [
  { type: "address", values: hexOf(20) },
  { type: "bool", values: fc.boolean() },
  { type: "uint8", values: uintOf(8) },
  { type: "uint16", values: uintOf(16) },
  { type: "uint48", values: uintOf(48) },
  { type: "uint256", values: uintOf(256) },
  { type: "bytes4", values: hexOf(4) },
  { type: "bytes32", values: hexOf(32) },
];
const DYNAMIC = [
  { type: "string", values: texts },
  {
    type: "bytes",
    values: fc.uint8Array({ maxLength: 100 }).map((value) => `0x${Buffer.from(value).toString("hex")}`),
  },
];

const parameter = (indexed: boolean) =>
  fc
    .constantFrom(...(indexed ? STATIC : [...STATIC, ...DYNAMIC]))
    .chain(({ type, values }) =>
      (values as fc.Arbitrary<unknown>).map((value) => ({ type, value, indexed })),
    );

const events = fc.tuple(
  fc.array(parameter(true), { maxLength: 3 }),
  fc.array(parameter(false), { maxLength: 8 }),
);

describe("an event codec", () => {
  it("decodes what viem encodes, and encodes the same", () => {
    fc.assert(
      fc.property(events, ([indexed, plain]) => {
        const parameters = [...indexed, ...plain].map((each, index) => ({ ...each, name: `p${index}` }));
        const event: AbiEvent = {
          type: "event",
          name: "Sample",
          inputs: parameters.map(({ type, name, indexed }) => ({ type, name, indexed })),
        };
        const args = Object.fromEntries(parameters.map(({ name, value }) => [name, value]));
        const topics = encodeEventTopics({ abi: [event], eventName: "Sample", args }) as Hex[];
        const data = encodeAbiParameters(
          plain.map(({ type }) => ({ type })),
          plain.map(({ value }) => value),
        );
        const decoder = createEventCodec(event);
        expect(decoder.topic0).toBe(topics[0]);
        expect(
          decoder.decode(
            topics.map((topic) => topic.toLowerCase() as Hex),
            data,
          ),
        ).toEqual(args);
        expect(decoder.encode(args)).toEqual({ topics, data });
        const last = Object.fromEntries(
          indexed.length > 0 ? [[`p${indexed.length - 1}`, indexed.at(-1)?.value]] : [],
        );
        expect(decoder.encodeTopics(last)).toEqual([
          topics[0],
          ...indexed.map((_, index) => (index === indexed.length - 1 ? topics[index + 1] : null)),
        ]);
      }),
      { numRuns: 300 },
    );
  });

  const word = (digits: string): string => digits.padStart(64, "0");
  const one = (type: string, data: string): unknown =>
    createEventCodec({ type: "event", name: "E", inputs: [{ type, name: "v", indexed: false }] }).decode(
      [`0x${word("1")}`],
      `0x${data}`,
    ).v;

  it.each([
    ["bool", word("2")],
    ["address", `1${word("5").slice(1)}`],
    ["uint8", word("100")],
    ["uint48", word("1000000000000")],
    ["bytes4", `deadbeef01${"0".repeat(54)}`],
    ["uint256", "00"],
    ["uint256", ""],
    ["string", word("20") + word("21") + word("0")],
    ["string", word("ffffffffffffffffff")],
    ["string", word("20")],
  ])("rejects a malformed %s", (type, data) => {
    expect(() => one(type, data)).toThrow(MalformedAbiError);
  });

  it.each([0n, 9n, 0xabcdefn, 2n ** 48n - 1n, 2n ** 48n, 2n ** 53n + 1n, 2n ** 64n - 1n])(
    "decodes %s, whether it is small enough for a number or not, in either case of its digits",
    (value) => {
      const digits = word(value.toString(16));
      expect(one("uint64", digits)).toBe(value);
      expect(one("uint256", digits.toUpperCase())).toBe(value);
      if (value < 2n ** 48n) expect(one("uint48", digits)).toBe(Number(value));
    },
  );

  it("rejects a log with too few or too many topics", () => {
    const decoder = createEventCodec({ type: "event", name: "E", inputs: [] });
    expect(() => decoder.decode([], "0x")).toThrow(MalformedAbiError);
    expect(() => decoder.decode(["0x01", "0x02"], "0x")).toThrow(MalformedAbiError);
  });

  it("keeps hostile text storable: NUL and invalid UTF-8 become the replacement character", () => {
    const text = Buffer.concat([Buffer.from("a\0b"), Buffer.from([0xff, 0xc0, 0x80])]);
    const data = word("20") + word(text.length.toString(16)) + text.toString("hex").padEnd(64, "0");
    expect(one("string", data)).toBe("a\ufffdb\ufffd\ufffd\ufffd");
  });
});
