// Registries: agents, solvers, attestors and attestations, and who may have acted before registering.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { encodeFunctionData } from "viem";
import { describe, expect, it } from "vitest";
import {
  addressOf,
  DEPLOYMENT,
  hashOf,
  type MemoryChain,
  Story,
} from "../../../tests/support/index/memory-index.ts";
import { agents } from "./agents.ts";
import { attestations, attesterActivity } from "./attestations.ts";
import { attestors } from "./attestors.ts";
import { solvers } from "./solvers.ts";

const [OWNER, ATTESTER] = [addressOf("01"), addressOf("a7")];

/** Every transaction of the story calls the contract directly with this input. */
function called(story: Story, to: keyof typeof DEPLOYMENT.contracts, input: `0x${string}`): MemoryChain {
  const call = { to: DEPLOYMENT.contracts[to], input };
  return { transactions: Object.fromEntries(story.logs.map((log) => [log.transactionHash, call])) };
}

describe("an agent", () => {
  const register = encodeFunctionData({
    abi: agentRegistryAbi,
    functionName: "registerAgent",
    args: ["ipfs://a", "0x04abcdef", hashOf("ca")],
  });

  it("has key and capabilities from the call, then what updates say", async () => {
    const story = new Story()
      .say("AgentRegistry", "AgentRegistered", { agentId: 1n, owner: OWNER, metadataURI: "ipfs://a" })
      .say("AgentRegistry", "AgentRegistered", { agentId: 2n, owner: OWNER, metadataURI: "ipfs://a" });
    const chain = called(story, "AgentRegistry", register);
    const [first] = (await story.rows(chain)).of(agents);
    expect(first).toMatchObject({
      owner: OWNER,
      pubkey: "0x04abcdef",
      capabilities_hash: hashOf("ca"),
      revoked: false,
      block_number: 1n,
    });
    const rows = await story
      .say("AgentRegistry", "AgentUpdated", { agentId: 1n, metadataURI: "", capabilitiesHash: hashOf("cb") })
      .say("AgentRegistry", "AgentRevoked", { agentId: 1n })
      .rows(chain);
    expect(rows.of(agents)).toMatchObject([
      {
        metadata_uri: "",
        capabilities_hash: hashOf("cb"),
        pubkey: "0x04abcdef",
        revoked: true,
        block_number: 1n,
      },
      { metadata_uri: "ipfs://a", revoked: false, block_number: 2n },
    ]);
  });

  it("that is updated but was never registered stops the index", async () => {
    const story = new Story().say("AgentRegistry", "AgentRevoked", { agentId: 1n });
    await expect(story.rows()).rejects.toThrow("AgentRegistry.AgentRevoked, log 0 of block 1");
  });
});

describe("a solver", () => {
  it("has the bond and state of the last event", async () => {
    const rows = await new Story()
      .say("SolverRegistry", "SolverRegistered", {
        solverId: 1n,
        operator: OWNER,
        metadataURI: "a",
        capabilitiesHash: hashOf("ca"),
        bond: 5n,
      })
      .say("SolverRegistry", "SolverBondChanged", { solverId: 1n, bond: 2n ** 256n - 1n })
      .say("SolverRegistry", "SolverUpdated", {
        solverId: 1n,
        metadataURI: "b",
        capabilitiesHash: hashOf("cb"),
        active: false,
      })
      .rows();
    expect(rows.one(solvers)).toMatchObject({
      solver_id: 1n,
      operator: OWNER,
      metadata_uri: "b",
      capabilities_hash: hashOf("cb"),
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
    args: [hashOf("11"), hashOf("22"), hashOf("da")],
  });
  const submitted = (story: Story, id: bigint) =>
    story.say("AttestationRegistry", "AttestationSubmitted", {
      id,
      attester: ATTESTER,
      schema: hashOf("11"),
      subject: hashOf("22"),
    });

  it("have the data hash of the call and the time of the block", async () => {
    const story = submitted(new Story(), 1n);
    const rows = await story.rows(called(story, "AttestationRegistry", submit));
    expect(rows.one(attestations)).toMatchObject({
      attester: ATTESTER,
      schema_hash: hashOf("11"),
      subject: hashOf("22"),
      data_hash: hashOf("da"),
      timestamp: BigInt(story.logs[0]?.blockTimestamp ?? 0),
      revoked: false,
    });
  });

  it("before the attestor registers count for the attestor", async () => {
    const story = submitted(submitted(new Story(), 1n), 2n);
    story.say("AttestationRegistry", "AttestationRevoked", { id: 1n });
    story.say("AttestorRegistry", "AttestorRegistered", {
      attestorId: 4n,
      operator: ATTESTER,
      metadataURI: "",
      schemasHash: hashOf("5c"),
    });
    submitted(story, 3n);
    story.say("AttestorRegistry", "AttestorUpdated", {
      attestorId: 4n,
      metadataURI: "ipfs://b",
      schemasHash: hashOf("5d"),
      active: false,
    });
    const rows = await story.rows(called(story, "AttestationRegistry", submit));
    const attestor = rows.one(attestors);
    expect(attestor).toMatchObject({ active: false, schemas_hash: hashOf("5d"), metadata_uri: "ipfs://b" });
    expect(rows.one(attesterActivity)).toEqual({
      attester: attestor.operator,
      attestations: 3n,
      revoked_attestations: 1n,
    });
    expect(rows.of(attestations).map((row) => row.revoked)).toEqual([true, false, false]);
  });

  it("that are revoked but were never submitted stop the index", async () => {
    const story = new Story().say("AttestationRegistry", "AttestationRevoked", { id: 1n });
    await expect(story.rows()).rejects.toThrow("could not be folded");
  });
});
