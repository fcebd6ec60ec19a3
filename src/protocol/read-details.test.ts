// What events leave out comes from the calldata of a direct call, and from the state at the block in every other case.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { encodeFunctionData, encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import {
  addressOf,
  DEPLOYMENT,
  hashOf,
  type MemoryChain,
  readsOf,
  Story,
} from "../../tests/support/memory-index.ts";
import type { Hex } from "../kit/hex.ts";
import { agents, agentsDomain } from "./domains/agents.ts";
import { createProtocol } from "./fold.ts";
import { type DetailReads, readerOf } from "./read-details.ts";

const OWNER = addressOf("01");
const REGISTRY = DEPLOYMENT.contracts.AgentRegistry;
const MULTICALL = addressOf("ca");
const signal = new AbortController().signal;

const profile = (name: string) =>
  ({ metadataURI: `ipfs://${name}`, pubkey: "0x0401", capabilitiesHash: hashOf("ca") }) as const;
const registerCall = (name: string): Hex => {
  const { metadataURI, pubkey, capabilitiesHash } = profile(name);
  const args = [metadataURI, pubkey, capabilitiesHash] as const;
  return encodeFunctionData({ abi: agentRegistryAbi, functionName: "registerAgent", args });
};
const stateOf = (id: bigint, capabilitiesHash = hashOf("5e")): Record<Hex, Hex> => {
  const question = encodeFunctionData({ abi: agentRegistryAbi, functionName: "getAgent", args: [id] });
  const result = {
    owner: OWNER,
    metadataURI: "",
    pubkey: "0x0402",
    capabilitiesHash,
    revoked: false,
  } as const;
  return {
    [question]: encodeFunctionResult({ abi: agentRegistryAbi, functionName: "getAgent", result }),
  };
};

const TX = hashOf("e1");
const registered = (story: Story, agentId: bigint, tx = TX) =>
  story.say(
    "AgentRegistry",
    "AgentRegistered",
    { agentId, owner: OWNER, metadataURI: "ipfs://a" },
    { tx, block: 9 },
  );

/** The stored details, and what was asked for them. */
async function detail(story: Story, chain: MemoryChain) {
  const reads = readsOf(chain);
  const detailed = await createProtocol(DEPLOYMENT, reads).detail(story.logs, signal);
  return { details: detailed.map((each) => each.details), asked: reads.asked };
}

describe("details of a direct call", () => {
  const chain = { transactions: { [TX]: { to: REGISTRY, input: registerCall("a") } } };

  it("are its calldata, and the contract is not asked", async () => {
    const { details, asked } = await detail(registered(new Story(), 1n), chain);
    expect(details).toEqual([`0x00${registerCall("a").slice(2)}`]);
    expect(asked).toEqual({ transactions: [TX], calls: [] });
  });

  it("are what the fold reads", async () => {
    const rows = await registered(new Story(), 1n).rows(chain);
    expect(rows.one(agents)).toMatchObject({ pubkey: "0x0401", capabilities_hash: hashOf("ca") });
  });
});

describe("calldata that is not in canonical form", () => {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const selector = registerCall("a").slice(0, 10);
  const inputs: readonly [string, string, Hex][] = [
    ["without padding", `${word(96)}${word(96)}${hashOf("ca").slice(2)}${word(2)}abcd`, "0xabcd"],
    ["with offsets that point at themselves", `${word(0)}${word(0)}${hashOf("ca").slice(2)}`, "0x"],
    ["with more behind it", `${word(96)}${word(96)}${hashOf("ca").slice(2)}${word(0)}beef`, "0x"],
  ];

  it.each(inputs)("is read as the contract reads it: %s", async (_, args, pubkey) => {
    const chain = { transactions: { [TX]: { to: REGISTRY, input: `${selector}${args}` as Hex } } };
    const rows = await registered(new Story(), 1n).rows(chain);
    expect(rows.one(agents)).toMatchObject({ pubkey, capabilities_hash: hashOf("ca") });
  });
});

describe("details are read from the state at the block", () => {
  const fromState = async (chain: MemoryChain, story = registered(new Story(), 1n)) => {
    const { details, asked } = await detail(story, { ...chain, state: { ...stateOf(1n), ...stateOf(2n) } });
    expect(details.every((each) => each?.startsWith("0x01"))).toBe(true);
    return asked.calls.length;
  };

  it("when another contract stood in between", async () => {
    const forwarded = encodeFunctionData({
      abi: multicall3Abi,
      functionName: "aggregate3",
      args: [[{ target: REGISTRY, allowFailure: false, callData: registerCall("a") }]],
    });
    expect(await fromState({ transactions: { [TX]: { to: MULTICALL, input: forwarded } } })).toBe(1);
  });

  it("when a contract was called with the very same input", async () => {
    expect(await fromState({ transactions: { [TX]: { to: MULTICALL, input: registerCall("a") } } })).toBe(1);
  });

  it("when one transaction has several such events, even of a direct call", async () => {
    const story = registered(registered(new Story(), 1n), 2n);
    expect(
      await fromState({ transactions: { [TX]: { to: REGISTRY, input: registerCall("a") } } }, story),
    ).toBe(2);
  });

  it("when the selector is one we do not know, as of a newer contract", async () => {
    expect(await fromState({ transactions: { [TX]: { to: REGISTRY, input: "0xdeadbeef" } } })).toBe(1);
    expect(await fromState({ transactions: { [TX]: { to: REGISTRY, input: "0x" } } })).toBe(1);
  });

  it("when the transaction made a contract, or the node does not have it", async () => {
    expect(await fromState({ transactions: { [TX]: { to: null, input: registerCall("a") } } })).toBe(1);
    expect(await fromState({})).toBe(1);
  });

  it("and the fold reads those", async () => {
    const rows = await registered(new Story(), 1n).rows({ state: stateOf(1n) });
    expect(rows.one(agents)).toMatchObject({ pubkey: "0x0402", capabilities_hash: hashOf("5e") });
  });

  it("which has what an update later in the block left: the row is the same after both", async () => {
    const story = registered(new Story(), 1n).say(
      "AgentRegistry",
      "AgentUpdated",
      { agentId: 1n, metadataURI: "ipfs://b", capabilitiesHash: hashOf("5f") },
      { tx: TX, block: 9 },
    );
    const rows = await story.rows({ state: stateOf(1n, hashOf("5f")) });
    expect(rows.one(agents)).toMatchObject({ capabilities_hash: hashOf("5f"), metadata_uri: "ipfs://b" });
  });

  it("by the hash of the block, at the contract that emitted the event", async () => {
    const asked: Parameters<DetailReads["calls"]>[0][number][] = [];
    const { state } = { state: stateOf(1n) };
    const reads: DetailReads = {
      transactions: async () => new Map(),
      calls: async (calls) => {
        asked.push(...calls);
        return calls.map(({ data }) => state[data] ?? null);
      },
    };
    const story = registered(new Story(), 1n);
    await createProtocol(DEPLOYMENT, reads).detail(story.logs, signal);
    expect(asked.map(({ to, blockHash }) => [to, blockHash])).toEqual([[REGISTRY, story.logs[0]?.blockHash]]);
  });
});

describe("details", () => {
  it("that the contract refuses to tell stop the index", async () => {
    await expect(detail(registered(new Story(), 1n), {})).rejects.toThrow(
      "AgentRegistry reverted when asked for the details of AgentRegistered",
    );
  });

  it("are not asked for where events leave out nothing", async () => {
    const story = new Story().say("AgentRegistry", "AgentRevoked", { agentId: 1n });
    const { details, asked } = await detail(story, {});
    expect(details).toEqual([null]);
    expect(asked).toEqual({ transactions: [], calls: [] });
  });

  it("of different kinds in one transaction are each found", async () => {
    const submit = encodeFunctionData({
      abi: attestationRegistryAbi,
      functionName: "submitAttestation",
      args: [hashOf("11"), hashOf("22"), hashOf("da")],
    });
    const story = registered(new Story(), 1n).say(
      "AttestationRegistry",
      "AttestationSubmitted",
      { id: 1n, attester: OWNER, schema: hashOf("11"), subject: hashOf("22") },
      { tx: TX, block: 9 },
    );
    const chain = {
      transactions: { [TX]: { to: DEPLOYMENT.contracts.AttestationRegistry, input: submit } },
      state: stateOf(1n),
    };
    const { details } = await detail(story, chain);
    expect(details.map((each) => each?.slice(0, 4))).toEqual(["0x01", "0x00"]);
  });

  it("that are not stored, or not of the event, are noticed when they are read", () => {
    const reader = agentsDomain.events.AgentRegistered?.details;
    if (!reader) throw new Error("registrations have details");
    expect(() => readerOf(null)(reader)).toThrow("were not stored");
    expect(() => readerOf("0x00deadbeef")(reader)).toThrow("were not stored");
    expect(() => readerOf("0x")(reader)).toThrow("were not stored");
    expect(() => readerOf("0x02")(reader)).toThrow("were not stored");
  });
});
