// Details come from the first certain source; calldata alone is the last one.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { encodeFunctionData, encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import {
  createMemoryReads,
  LogSequence,
  MEMORY_DEPLOYMENT,
  type MemoryChain,
  repeatAddressByte,
  repeatHashByte,
} from "../../../tests/support/index/memory-index.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { agents, agentsDomain, attestationsDomain } from "../domains/registries.ts";
import { createStoredDetailsReader } from "../fold.ts";
import { createAddDetails, type DetailReads, type StateCall } from "./read-details.ts";

const OWNER = repeatAddressByte("01");
const REGISTRY = MEMORY_DEPLOYMENT.contracts.AgentRegistry;
const MULTICALL = repeatAddressByte("ca");
const signal = new AbortController().signal;

const profile = (name: string) =>
  ({ metadataURI: `ipfs://${name}`, pubkey: "0x0401", capabilitiesHash: repeatHashByte("ca") }) as const;
const registerCall = (name: string): Hex => {
  const { metadataURI, pubkey, capabilitiesHash } = profile(name);
  const args = [metadataURI, pubkey, capabilitiesHash] as const;
  return encodeFunctionData({ abi: agentRegistryAbi, functionName: "registerAgent", args });
};
const stateOf = (
  id: bigint,
  record: Partial<{ owner: Hex; capabilitiesHash: Hex; pubkey: Hex }> = {},
): Record<Hex, Hex> => {
  const call = encodeFunctionData({ abi: agentRegistryAbi, functionName: "getAgent", args: [id] });
  const result = {
    owner: OWNER,
    metadataURI: "",
    pubkey: "0x0402",
    capabilitiesHash: repeatHashByte("5e"),
    revoked: false,
    ...record,
  } as const;
  return {
    [call]: encodeFunctionResult({ abi: agentRegistryAbi, functionName: "getAgent", result }),
  };
};
/** A record that the call of the same name can have made. */
const recordOf = (id: bigint, name: string, changed: { owner?: Hex; capabilitiesHash?: Hex } = {}) => {
  const { pubkey, capabilitiesHash } = profile(name);
  return stateOf(id, { pubkey, capabilitiesHash, ...changed });
};

const forwardedTogether = (...names: string[]): Hex =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [names.map((name) => ({ target: REGISTRY, allowFailure: false, callData: registerCall(name) }))],
  });

const TX = repeatHashByte("e1");
const registered = (story: LogSequence, agentId: bigint, tx = TX) =>
  story.append(
    "AgentRegistry",
    "AgentRegistered",
    { agentId, owner: OWNER, metadataURI: "ipfs://a" },
    { tx, block: 9 },
  );

/** The stored details, and the reads they took. */
async function detail(story: LogSequence, chain: MemoryChain) {
  const reads = createMemoryReads(chain);
  const detailed = await createAddDetails(MEMORY_DEPLOYMENT, reads)(story.logs, signal);
  return { details: detailed.map((each) => each.details), requested: reads.requested };
}

describe("details of a direct call", () => {
  const chain = { transactions: { [TX]: { to: REGISTRY, input: registerCall("a") } } };

  it("reads details of a direct call from its calldata, without a call to the contract", async () => {
    const { details, requested } = await detail(registered(new LogSequence(), 1n), chain);
    expect(details).toEqual([`0x00${registerCall("a").slice(2)}`]);
    expect(requested).toEqual({ transactions: [TX], calls: [], laterCalls: [], traces: [] });
  });

  it("the fold reads the details of a direct call", async () => {
    const rows = await registered(new LogSequence(), 1n).rows(chain);
    expect(rows.one(agents)).toMatchObject({ pubkey: "0x0401", capabilities_hash: repeatHashByte("ca") });
  });
});

describe("calldata that is not in canonical form", () => {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const selector = registerCall("a").slice(0, 10);
  const inputs: readonly [string, string, Hex][] = [
    ["without padding", `${word(96)}${word(96)}${repeatHashByte("ca").slice(2)}${word(2)}abcd`, "0xabcd"],
    ["with offsets that point at themselves", `${word(0)}${word(0)}${repeatHashByte("ca").slice(2)}`, "0x"],
    ["with more behind it", `${word(96)}${word(96)}${repeatHashByte("ca").slice(2)}${word(0)}beef`, "0x"],
  ];

  it.each(inputs)("reads non-canonical calldata as the contract does: %s", async (_, args, pubkey) => {
    const chain = { transactions: { [TX]: { to: REGISTRY, input: `${selector}${args}` as Hex } } };
    const rows = await registered(new LogSequence(), 1n).rows(chain);
    expect(rows.one(agents)).toMatchObject({ pubkey, capabilities_hash: repeatHashByte("ca") });
  });
});

describe("details are read from the state at the block", () => {
  const fromState = async (chain: MemoryChain, story = registered(new LogSequence(), 1n)) => {
    const { details, requested } = await detail(story, {
      ...chain,
      state: { ...stateOf(1n), ...stateOf(2n) },
    });
    expect(details.every((each) => each?.startsWith("0x01"))).toBe(true);
    return requested.calls.length;
  };

  it("reads details from the state when the record contradicts a forwarded call", async () => {
    expect(
      await fromState({ transactions: { [TX]: { to: MULTICALL, input: forwardedTogether("a") } } }),
    ).toBe(1);
  });

  it("reads details from the state when another contract was called with the same input", async () => {
    expect(await fromState({ transactions: { [TX]: { to: MULTICALL, input: registerCall("a") } } })).toBe(1);
  });

  it("reads details from the state when one transaction has several such events", async () => {
    const story = registered(registered(new LogSequence(), 1n), 2n);
    expect(
      await fromState({ transactions: { [TX]: { to: REGISTRY, input: registerCall("a") } } }, story),
    ).toBe(2);
  });

  it("reads details from the state when the selector is unknown", async () => {
    expect(await fromState({ transactions: { [TX]: { to: REGISTRY, input: "0xdeadbeef" } } })).toBe(1);
    expect(await fromState({ transactions: { [TX]: { to: REGISTRY, input: "0x" } } })).toBe(1);
  });

  it("reads details from the state when the transaction made a contract or is missing", async () => {
    expect(await fromState({ transactions: { [TX]: { to: null, input: registerCall("a") } } })).toBe(1);
    expect(await fromState({})).toBe(1);
  });

  it("the fold reads details from the state", async () => {
    const rows = await registered(new LogSequence(), 1n).rows({ state: stateOf(1n) });
    expect(rows.one(agents)).toMatchObject({ pubkey: "0x0402", capabilities_hash: repeatHashByte("5e") });
  });

  it("a state after an update later in the block leads to the same row", async () => {
    const story = registered(new LogSequence(), 1n).append(
      "AgentRegistry",
      "AgentUpdated",
      { agentId: 1n, metadataURI: "ipfs://b", capabilitiesHash: repeatHashByte("5f") },
      { tx: TX, block: 9 },
    );
    const rows = await story.rows({ state: stateOf(1n, { capabilitiesHash: repeatHashByte("5f") }) });
    expect(rows.one(agents)).toMatchObject({
      capabilities_hash: repeatHashByte("5f"),
      metadata_uri: "ipfs://b",
    });
  });

  it("reads the state by the hash of the block, at the contract that emitted the event", async () => {
    const requested: StateCall[] = [];
    const reads: DetailReads = {
      ...createMemoryReads({}),
      callAtBlocks: async (calls) => {
        requested.push(...calls);
        return calls.map(({ data }) => stateOf(1n)[data] ?? null);
      },
    };
    const story = registered(new LogSequence(), 1n);
    await createAddDetails(MEMORY_DEPLOYMENT, reads)(story.logs, signal);
    expect(requested.map(({ to, blockHash }) => [to, blockHash])).toEqual([
      [REGISTRY, story.logs[0]?.blockHash],
    ]);
  });
});

describe("details of a forwarded call", () => {
  const story = () => registered(new LogSequence(), 1n);
  const forwarded = (...names: string[]): MemoryChain => ({
    transactions: { [TX]: { to: MULTICALL, input: forwardedTogether(...names) } },
  });
  const call = `0x00${registerCall("a").slice(2)}`;
  const updated = { capabilitiesHash: repeatHashByte("5f") };

  it("accepts a forwarded call that the state at the block confirms", async () => {
    const { details, requested } = await detail(story(), { ...forwarded("a"), state: recordOf(1n, "a") });
    expect(details).toEqual([call]);
    expect([requested.laterCalls, requested.traces]).toEqual([[], []]);
  });

  it("rejects a forwarded call that the state at the block contradicts", async () => {
    const { details } = await detail(story(), { ...forwarded("a"), state: recordOf(1n, "a", updated) });
    expect(details.map((each) => each?.slice(0, 4))).toEqual(["0x01"]);
  });

  it("accepts a forwarded call if an update in the same block changed the state", async () => {
    const changed = story().append(
      "AgentRegistry",
      "AgentUpdated",
      { agentId: 1n, metadataURI: "ipfs://b", capabilitiesHash: repeatHashByte("5f") },
      { tx: TX, block: 9 },
    );
    const { details } = await detail(changed, { ...forwarded("a"), state: recordOf(1n, "a", updated) });
    expect(details).toEqual([call, null]);
  });

  it("accepts a forwarded call that immutable fields confirm if nodes pruned the state", async () => {
    const { details, requested } = await detail(story(), {
      ...forwarded("a"),
      state: {},
      laterState: recordOf(1n, "a", updated),
    });
    expect(details).toEqual([call]);
    expect(requested.traces).toEqual([TX]);
  });

  it("accepts no forwarded call while a node fails that may have the state", async () => {
    const chain = { ...forwarded("a"), laterState: recordOf(1n, "a") };
    const whileDown = async (known: MemoryChain) => {
      const down = new Fault("NODE_UNAVAILABLE", "The archive node is down.");
      const reads: DetailReads = {
        ...createMemoryReads({ ...chain, ...known }),
        callAtBlocks: () => Promise.reject(down),
      };
      const detailed = await createAddDetails(MEMORY_DEPLOYMENT, reads)(story().logs, signal);
      return detailed.map(({ details }) => details?.slice(0, 4));
    };
    await expect(whileDown({})).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
    await expect(whileDown({ changed: true })).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
    // The other certain sources do not need that node.
    expect(await whileDown({ changed: false })).toEqual(["0x00"]);
    expect(await whileDown({ traces: { [TX]: [{ to: REGISTRY, input: registerCall("a") }] } })).toEqual([
      "0x00",
    ]);
  });

  it("takes the later record if nothing changed it since, whatever the input shows", async () => {
    const laterState = recordOf(1n, "a", updated);
    const pruned = { ...forwarded("a"), state: {}, laterState };
    const { details, requested } = await detail(story(), { ...pruned, changed: false });
    expect(details).toEqual([`0x01${Object.values(laterState)[0]?.slice(2)}`]);
    expect(requested.traces).toEqual([]);
    expect((await detail(story(), { ...pruned, changed: true })).details).toEqual([call]);
  });

  it("gives each event its own forwarded call if a transaction has several", async () => {
    const several = registered(registered(story(), 2n), 3n);
    const { details } = await detail(several, {
      ...forwarded("a", "a", "a"),
      state: {},
      laterState: { ...recordOf(1n, "a"), ...recordOf(2n, "a"), ...recordOf(3n, "a") },
    });
    expect(details).toEqual([call, call, call]);
  });

  it.each<[string, MemoryChain]>([
    ["another key", { ...forwarded("a"), laterState: stateOf(1n) }],
    ["a record of another owner", { ...forwarded("a"), laterState: recordOf(1n, "a", { owner: MULTICALL }) }],
    ["no call in the input", { ...forwarded(), laterState: recordOf(1n, "a") }],
    ["another agent's call in the input", { ...forwarded("b"), laterState: recordOf(1n, "a") }],
    ["no record at all", forwarded("a")],
    [
      "a trace with more calls than events",
      {
        traces: { [TX]: [registerCall("a"), registerCall("a")].map((input) => ({ to: REGISTRY, input })) },
        laterState: recordOf(1n, "a"),
      },
    ],
    [
      "a trace of a call to another contract",
      { traces: { [TX]: [{ to: MULTICALL, input: registerCall("a") }] }, laterState: recordOf(1n, "a") },
    ],
  ])("stops the index if nodes pruned the state and there is %s", async (_, chain) => {
    const failed = detail(story(), { ...chain, state: {} });
    await expect(failed).rejects.toMatchObject({ code: "NODE_STATE_MISSING" });
    await expect(failed).rejects.toThrow(
      `AgentRegistry.AgentRegistered leaves out in transaction ${TX} of block 9`,
    );
  });

  it("takes the traced call, whatever the input shows", async () => {
    const traces = { [TX]: [{ to: REGISTRY, input: registerCall("a") }] };
    const { details } = await detail(story(), { ...forwarded("b"), state: {}, traces });
    expect(details).toEqual([call]);
  });
});

describe("details that never change", () => {
  const attested = (story: LogSequence, id: bigint) =>
    story.append(
      "AttestationRegistry",
      "AttestationSubmitted",
      { id, attester: OWNER, schema: repeatHashByte("11"), subject: repeatHashByte("22") },
      { tx: TX, block: 9 },
    );
  const attestation = (id: bigint, revoked: boolean): Record<Hex, Hex> => ({
    [encodeFunctionData({ abi: attestationRegistryAbi, functionName: "getAttestation", args: [id] })]:
      encodeFunctionResult({
        abi: attestationRegistryAbi,
        functionName: "getAttestation",
        result: {
          attester: OWNER,
          schema: repeatHashByte("11"),
          subject: repeatHashByte("22"),
          dataHash: repeatHashByte("da"),
          timestamp: 1n,
          revoked,
        },
      }),
  });

  it("reads immutable details at a later block, and the same from all of them", async () => {
    const early = await detail(attested(new LogSequence(), 1n), {
      state: {},
      laterState: attestation(1n, false),
    });
    const late = await detail(attested(new LogSequence(), 1n), {
      state: {},
      laterState: attestation(1n, true),
    });
    expect(late.details).toEqual(early.details);
    expect(late.requested).toMatchObject({ calls: [], traces: [] });
  });

  it("reads immutable details at the block if the later record is not the event's", async () => {
    const chain = { state: attestation(1n, false), laterState: {} };
    const { details } = await detail(attested(new LogSequence(), 1n), chain);
    expect(details.map((each) => each?.slice(0, 4))).toEqual(["0x01"]);
  });
});

describe("details", () => {
  it("reads nothing for events that leave out nothing", async () => {
    const story = new LogSequence().append("AgentRegistry", "AgentRevoked", { agentId: 1n });
    const { details, requested } = await detail(story, {});
    expect(details).toEqual([null]);
    expect(requested).toEqual({ transactions: [], calls: [], laterCalls: [], traces: [] });
  });

  it("finds details of different kinds in one transaction", async () => {
    const submit = encodeFunctionData({
      abi: attestationRegistryAbi,
      functionName: "submitAttestation",
      args: [repeatHashByte("11"), repeatHashByte("22"), repeatHashByte("da")],
    });
    const story = registered(new LogSequence(), 1n).append(
      "AttestationRegistry",
      "AttestationSubmitted",
      { id: 1n, attester: OWNER, schema: repeatHashByte("11"), subject: repeatHashByte("22") },
      { tx: TX, block: 9 },
    );
    const chain = {
      transactions: { [TX]: { to: MEMORY_DEPLOYMENT.contracts.AttestationRegistry, input: submit } },
      state: stateOf(1n),
    };
    const { details } = await detail(story, chain);
    expect(details.map((each) => each?.slice(0, 4))).toEqual(["0x01", "0x00"]);
  });

  it("still reads the contract's record that earlier versions stored as details", () => {
    const reader = attestationsDomain.events.AttestationSubmitted?.details;
    if (!reader) throw new Error("attestations have details");
    const result = {
      attester: OWNER,
      schema: repeatHashByte("11"),
      subject: repeatHashByte("22"),
      dataHash: repeatHashByte("da"),
      timestamp: 1n,
      revoked: true,
    };
    const output = encodeFunctionResult({
      abi: attestationRegistryAbi,
      functionName: "getAttestation",
      result,
    });
    expect(createStoredDetailsReader(`0x01${output.slice(2)}`)(reader)).toBe(repeatHashByte("da"));
  });

  it("throws when details are not stored, or not of the event", () => {
    const reader = agentsDomain.events.AgentRegistered?.details;
    if (!reader) throw new Error("registrations have details");
    expect(() => createStoredDetailsReader(null)(reader)).toThrow("were not stored");
    expect(() => createStoredDetailsReader("0x00deadbeef")(reader)).toThrow("were not stored");
    expect(() => createStoredDetailsReader("0x")(reader)).toThrow("were not stored");
    expect(() => createStoredDetailsReader("0x02")(reader)).toThrow("were not stored");
  });
});
