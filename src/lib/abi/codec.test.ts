// Function codecs: results with text and addresses as the index stores them, calls as viem encodes them.

import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import fc from "fast-check";
import { type Abi, encodeAbiParameters, encodeFunctionData, encodeFunctionResult, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { createFunctionCodec, createSignatureCodec } from "./codec.ts";
import { MalformedAbiError } from "./words.ts";

const getAgent = createFunctionCodec(agentRegistryAbi, "getAgent", "storable");
const owner = "0xAbCdEf0123456789aBcDeF0123456789AbCdEf01".toLowerCase() as `0x${string}`;
const capabilitiesHash = `0x${"12".repeat(32)}` as const;

describe("a function codec", () => {
  it.each([
    ["plain", "ipfs://agent", "ipfs://agent"],
    ["a byte order mark", "\ufeffagent", "\ufeffagent"],
    ["NUL", "a\0b", "a\ufffdb"],
    ["nothing", "", ""],
  ])("keeps text with %s as the index does", (_name, metadataURI, expected) => {
    const agent = { owner, metadataURI, pubkey: "0xAB" as const, capabilitiesHash, revoked: true };
    const output = encodeFunctionResult({ abi: agentRegistryAbi, functionName: "getAgent", result: agent });
    expect(getAgent.decodeResult(output)).toEqual({ ...agent, metadataURI: expected, pubkey: "0xab" });
  });

  it("decodes addresses in lower case", () => {
    const agent = { owner, metadataURI: "", pubkey: "0x" as const, capabilitiesHash, revoked: false };
    const output = encodeFunctionResult({ abi: agentRegistryAbi, functionName: "getAgent", result: agent });
    expect(getAgent.decodeResult(output)).toMatchObject({ owner });
  });

  it("decodes several results as a list, and rejects data that is too short", () => {
    const codec = createFunctionCodec(policyAccountAbi, "sessionKeys", "storable");
    const output = encodeAbiParameters([{ type: "uint48" }, { type: "bool" }], [7, true]);
    expect(codec.decodeResult(output)).toEqual([7, true]);
    expect(() => codec.decodeResult("0x")).toThrow();
    expect(() => codec.decodeResult(output.slice(0, 66) as `0x${string}`)).toThrow();
  });

  it("rejects a function that the ABI does not have", () => {
    expect(() => createFunctionCodec(agentRegistryAbi as Abi, "getNothing")).toThrow(
      "getNothing is not a function",
    );
  });

  const bytes = (maxLength: number, minLength = 0) =>
    fc
      .uint8Array({ minLength, maxLength })
      .map((value) => `0x${Buffer.from(value).toString("hex")}` as const);

  it("encodes calls and decodes results of dynamic tuples in arrays as viem does", () => {
    const codec = createFunctionCodec(multicall3Abi, "aggregate3");
    const call = fc.record({ target: bytes(20, 20), allowFailure: fc.boolean(), callData: bytes(100) });
    const result = fc.record({ success: fc.boolean(), returnData: bytes(100) });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 6 }), fc.array(result, { maxLength: 6 }), (calls, results) => {
        const abi = multicall3Abi;
        const functionName = "aggregate3";
        expect(codec.encodeCall([calls])).toBe(encodeFunctionData({ abi, functionName, args: [calls] }));
        expect(codec.decodeResult(encodeFunctionResult({ abi, functionName, result: results }))).toEqual(
          results,
        );
      }),
    );
  });

  it("encodes results as viem does, also several and none", () => {
    const abi = parseAbi([
      "function one() view returns (string)",
      "function two() view returns (string a, uint256 b)",
      "function none()",
    ]);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (a, b) => {
        const one = createFunctionCodec(abi, "one").encodeResult(a);
        expect(one).toBe(encodeFunctionResult({ abi, functionName: "one", result: a }));
        const two = createFunctionCodec(abi, "two").encodeResult([a, b]);
        expect(two).toBe(encodeFunctionResult({ abi, functionName: "two", result: [a, b] }));
      }),
    );
    expect(createFunctionCodec(abi, "none").encodeResult(undefined)).toBe("0x");
  });

  it("creates a codec from a signature, and rejects one that is not a function", () => {
    const signature = "function f(address to, bytes data) view returns (bool)";
    const codec = createSignatureCodec(signature);
    const to = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(to, bytes(100), (address, data) => {
        const args = [`0x${Buffer.from(address).toString("hex")}`, data] as const;
        const expected = encodeFunctionData({ abi: parseAbi([signature]), functionName: "f", args });
        expect(codec.encodeCall(args)).toBe(expected);
      }),
    );
    expect(codec.decodeResult(`0x${"1".padStart(64, "0")}`)).toBe(true);
    expect(() => createSignatureCodec("event E(uint256 a)" as string)).toThrow("not a function");
  });

  it("encodes and decodes signed numbers, fixed arrays and unnamed tuples as viem does", () => {
    const abi = parseAbi([
      "function f(int24 a, int256 b, uint16[3] c, (string, bytes4)[2] d) view returns (int24, int256, uint16[3], (string, bytes4)[2])",
    ]);
    const codec = createFunctionCodec(abi, "f");
    const values = [
      -5,
      -(2n ** 255n),
      [1, 2, 3],
      [
        ["é", "0x01020304"],
        ["", "0x00000000"],
      ],
    ] as const;
    expect(codec.encodeCall(values)).toBe(encodeFunctionData({ abi, functionName: "f", args: values }));
    const output = encodeFunctionResult({ abi, functionName: "f", result: values });
    expect(codec.decodeResult(output)).toEqual(values);
  });

  it.each([
    ["uint8", 256],
    ["uint256", -1n],
    ["uint256", 1.5],
    ["int8", 128],
    ["address", "0x01"],
    ["bytes4", "0x0102"],
    ["bytes", "0x1"],
    ["bool", 1],
    ["string", 7],
    ["uint8[2]", [1]],
  ])("rejects a value that is no %s", (type, value) => {
    const abi = parseAbi([`function f(${type} a)`] as readonly string[]) as Abi;
    expect(() => createFunctionCodec(abi, "f").encodeCall([value])).toThrow(MalformedAbiError);
  });

  it("rejects an array whose claimed length exceeds the data, and nested arrays", () => {
    const abi = parseAbi(["function f() view returns (uint256[])", "function g(uint256[][] a)"]);
    const word = (digits: string) => digits.padStart(64, "0");
    const claimed = `0x${word("20")}${word("ffffffff")}` as const;
    expect(() => createFunctionCodec(abi, "f").decodeResult(claimed)).toThrow(MalformedAbiError);
    expect(() => createFunctionCodec(abi, "g")).toThrow("not supported");
  });
});
