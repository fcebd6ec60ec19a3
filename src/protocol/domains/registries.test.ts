// Registries: agents, solvers, attestors and attestations, and who may have acted before registering.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { encodeFunctionData } from "viem";
import { describe, expect, it } from "vitest";
import {
  LogSequence,
  MEMORY_DEPLOYMENT,
  type MemoryChain,
  repeatAddressByte,
  repeatHashByte,
} from "../../../tests/support/index/memory-index.ts";
import { agents, attestations, attesterActivity, attestors, solvers } from "./registries.ts";

const [OWNER, ATTESTER] = [repeatAddressByte("01"), repeatAddressByte("a7")];

/** Every transaction of the story calls the contract directly with this input. */
function called(
  story: LogSequence,
  to: keyof typeof MEMORY_DEPLOYMENT.contracts,
  input: `0x${string}`,
): MemoryChain {
  const call = { to: MEMORY_DEPLOYMENT.contracts[to], input };
  return { transactions: Object.fromEntries(story.logs.map((log) => [log.transactionHash, call])) };
}

describe("an agent", () => {
  const register = encodeFunctionData({
    abi: agentRegistryAbi,
    functionName: "registerAgent",
    args: ["ipfs://a", "0x04abcdef", repeatHashByte("ca")],
  });

  it("an agent has key and capabilities from the call, then what updates say", async () => {
    const story = new LogSequence()
      .append("AgentRegistry", "AgentRegistered", { agentId: 1n, owner: OWNER, metadataURI: "ipfs://a" })
      .append("AgentRegistry", "AgentRegistered", { agentId: 2n, owner: OWNER, metadataURI: "ipfs://a" });
    const chain = called(story, "AgentRegistry", register);
    const [first] = (await story.rows(chain)).of(agents);
    expect(first).toMatchObject({
      owner: OWNER,
      pubkey: "0x04abcdef",
      capabilities_hash: repeatHashByte("ca"),
      revoked: false,
      block_number: 1n,
    });
    const rows = await story
      .append("AgentRegistry", "AgentUpdated", {
        agentId: 1n,
        metadataURI: "",
        capabilitiesHash: repeatHashByte("cb"),
      })
      .append("AgentRegistry", "AgentRevoked", { agentId: 1n })
      .rows(chain);
    expect(rows.of(agents)).toMatchObject([
      {
        metadata_uri: "",
        capabilities_hash: repeatHashByte("cb"),
        pubkey: "0x04abcdef",
        revoked: true,
        block_number: 1n,
      },
      { metadata_uri: "ipfs://a", revoked: false, block_number: 2n },
    ]);
  });

  it("revoking an agent that was never registered stops the index", async () => {
    const story = new LogSequence().append("AgentRegistry", "AgentRevoked", { agentId: 1n });
    await expect(story.rows()).rejects.toThrow("AgentRegistry.AgentRevoked, log 0 of block 1");
  });
});

describe("a solver", () => {
  it("a solver has the bond and state of the last event", async () => {
    const rows = await new LogSequence()
      .append("SolverRegistry", "SolverRegistered", {
        solverId: 1n,
        operator: OWNER,
        metadataURI: "a",
        capabilitiesHash: repeatHashByte("ca"),
        bond: 5n,
      })
      .append("SolverRegistry", "SolverBondChanged", { solverId: 1n, bond: 2n ** 256n - 1n })
      .append("SolverRegistry", "SolverUpdated", {
        solverId: 1n,
        metadataURI: "b",
        capabilitiesHash: repeatHashByte("cb"),
        active: false,
      })
      .rows();
    expect(rows.one(solvers)).toMatchObject({
      solver_id: 1n,
      operator: OWNER,
      metadata_uri: "b",
      capabilities_hash: repeatHashByte("cb"),
      bond: 2n ** 256n - 1n,
      active: false,
      block_number: 1n,
    });
  });
});

describe("attestations", () => {
  const submit = encodeFunctionData({
    abi: attestationRegistryAbi,
    functionName: "submitAttestation",
    args: [repeatHashByte("11"), repeatHashByte("22"), repeatHashByte("da")],
  });
  const submitted = (story: LogSequence, id: bigint) =>
    story.append("AttestationRegistry", "AttestationSubmitted", {
      id,
      attester: ATTESTER,
      schema: repeatHashByte("11"),
      subject: repeatHashByte("22"),
    });

  it("an attestation has the data hash of the call and the time of the block", async () => {
    const story = submitted(new LogSequence(), 1n);
    const rows = await story.rows(called(story, "AttestationRegistry", submit));
    expect(rows.one(attestations)).toMatchObject({
      attester: ATTESTER,
      schema_hash: repeatHashByte("11"),
      subject: repeatHashByte("22"),
      data_hash: repeatHashByte("da"),
      timestamp: BigInt(story.logs[0]?.blockTimestamp ?? 0),
      revoked: false,
    });
  });

  it("counts attestations for an attestor that registers later", async () => {
    const story = submitted(submitted(new LogSequence(), 1n), 2n);
    story.append("AttestationRegistry", "AttestationRevoked", { id: 1n });
    story.append("AttestorRegistry", "AttestorRegistered", {
      attestorId: 4n,
      operator: ATTESTER,
      metadataURI: "",
      schemasHash: repeatHashByte("5c"),
    });
    submitted(story, 3n);
    story.append("AttestorRegistry", "AttestorUpdated", {
      attestorId: 4n,
      metadataURI: "ipfs://b",
      schemasHash: repeatHashByte("5d"),
      active: false,
    });
    const rows = await story.rows(called(story, "AttestationRegistry", submit));
    const attestor = rows.one(attestors);
    expect(attestor).toMatchObject({
      active: false,
      schemas_hash: repeatHashByte("5d"),
      metadata_uri: "ipfs://b",
    });
    expect(rows.one(attesterActivity)).toEqual({
      attester: attestor.operator,
      attestations: 3n,
      revoked_attestations: 1n,
    });
    expect(rows.of(attestations).map((row) => row.revoked)).toEqual([true, false, false]);
  });

  it("revoking an attestation that was never submitted stops the index", async () => {
    const story = new LogSequence().append("AttestationRegistry", "AttestationRevoked", { id: 1n });
    await expect(story.rows()).rejects.toThrow("could not be folded");
  });
});
