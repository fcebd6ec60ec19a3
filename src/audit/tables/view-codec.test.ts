// View results are decoded as the index stores them; invalid output is rejected.

import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { encodeAbiParameters, encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import { createViewCodec } from "./view-codec.ts";

const getAgent = createViewCodec(agentRegistryAbi, "getAgent");
const owner = "0xAbCdEf0123456789aBcDeF0123456789AbCdEf01".toLowerCase() as `0x${string}`;
const capabilitiesHash = `0x${"12".repeat(32)}` as const;

describe("the codec of a view", () => {
  it.each([
    ["plain", "ipfs://agent", "ipfs://agent"],
    ["a byte order mark", "\ufeffagent", "\ufeffagent"],
    ["NUL", "a\0b", "a\ufffdb"],
    ["nothing", "", ""],
  ])("decodes text with %s as the index stores it", (_name, metadataURI, expected) => {
    const agent = { owner, metadataURI, pubkey: "0xAB" as const, capabilitiesHash, revoked: true };
    const output = encodeFunctionResult({ abi: agentRegistryAbi, functionName: "getAgent", result: agent });
    expect(getAgent.decode(output)).toEqual({ ...agent, metadataURI: expected, pubkey: "0xab" });
  });

  it("returns addresses in lower case", () => {
    const agent = { owner, metadataURI: "", pubkey: "0x" as const, capabilitiesHash, revoked: false };
    const output = encodeFunctionResult({ abi: agentRegistryAbi, functionName: "getAgent", result: agent });
    expect(getAgent.decode(output)).toMatchObject({ owner });
  });

  it("returns several results as a tuple and rejects output that is too short", () => {
    const codec = createViewCodec(policyAccountAbi, "sessionKeys");
    const output = encodeAbiParameters([{ type: "uint48" }, { type: "bool" }], [7, true]);
    expect(codec.decode(output)).toEqual([7, true]);
    expect(() => codec.decode("0x")).toThrow();
    expect(() => codec.decode(output.slice(0, 66) as `0x${string}`)).toThrow();
  });

  it("rejects a function that is not in the ABI", () => {
    expect(() => createViewCodec(agentRegistryAbi, "getMissing")).toThrow("getMissing is not a function");
  });
});
