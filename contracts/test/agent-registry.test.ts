// Agents: registered by anybody, changed by their owner only, revoked for good.
import { keccak256, toHex, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { agentRegistryAbi as abi, agentRegistryBytecode } from "../generated/agent-registry.ts";
import { decodeEvents, expectRevert, startEvm } from "./evm.ts";
import { findPermissionlessFunctions } from "./permissionless-functions.ts";

const evm = await startEvm();
const { owner, agent, payer } = evm.chain.accounts;
const deploy = () => evm.deploy(abi, agentRegistryBytecode, []);
const capabilities = keccak256(toHex("translate"));
const otherCapabilities = keccak256(toHex("swap"));

describe("registerAgent", () => {
  it("counts ids from 1 across owners and stores what was given", async () => {
    const registry = await deploy();
    const first = ["ipfs://first", "0x04aabb", capabilities] as const;
    expect(await registry.call(owner.address, "registerAgent", first)).toBe(1n);
    expect(decodeEvents(await registry.send(owner.address, "registerAgent", first), abi)).toEqual([
      {
        eventName: "AgentRegistered",
        args: { agentId: 1n, owner: owner.address, metadataURI: "ipfs://first" },
      },
    ]);
    const second = await registry.send(agent.address, "registerAgent", ["", "0x", zeroHash]);
    expect(decodeEvents(second, abi)).toEqual([
      { eventName: "AgentRegistered", args: { agentId: 2n, owner: agent.address, metadataURI: "" } },
    ]);
    expect(await registry.read("getAgent", [1n])).toEqual({
      owner: owner.address,
      metadataURI: "ipfs://first",
      pubkey: "0x04aabb",
      capabilitiesHash: capabilities,
      revoked: false,
    });
    expect(await registry.read("getAgent", [2n])).toEqual({
      owner: agent.address,
      metadataURI: "",
      pubkey: "0x",
      capabilitiesHash: zeroHash,
      revoked: false,
    });
  });

  it("lists only the owner's agents in order, revoked ones included", async () => {
    const registry = await deploy();
    for (const { address } of [owner, agent, owner, owner]) {
      await registry.send(address, "registerAgent", ["ipfs://same", "0x01", capabilities]);
    }
    await registry.send(owner.address, "revokeAgent", [3n]);
    expect(await registry.read("getAgentsByOwner", [owner.address])).toEqual([1n, 3n, 4n]);
    expect(await registry.read("getAgentsByOwner", [agent.address])).toEqual([2n]);
    expect(await registry.read("getAgentsByOwner", [payer.address])).toEqual([]);
    expect(await registry.read("getAgentsByOwner", [zeroAddress])).toEqual([]);
  });

  it("keeps text and keys longer than a storage word", async () => {
    const registry = await deploy();
    const metadataURI = `data:application/json,${"ä".repeat(300)}`;
    const pubkey = `0x${"c3".repeat(133)}` as const;
    await registry.send(owner.address, "registerAgent", [metadataURI, pubkey, capabilities]);
    expect(await registry.read("getAgent", [1n])).toMatchObject({ metadataURI, pubkey });
  });
});

describe("updateAgent and revokeAgent", () => {
  it("updateAgent changes metadata and capabilities, never the owner or the key", async () => {
    const registry = await deploy();
    await registry.send(owner.address, "registerAgent", ["ipfs://old", "0x04aabb", capabilities]);
    const receipt = await registry.send(owner.address, "updateAgent", [1n, "ipfs://new", otherCapabilities]);
    expect(decodeEvents(receipt, abi)).toEqual([
      {
        eventName: "AgentUpdated",
        args: { agentId: 1n, metadataURI: "ipfs://new", capabilitiesHash: otherCapabilities },
      },
    ]);
    expect(await registry.read("getAgent", [1n])).toEqual({
      owner: owner.address,
      metadataURI: "ipfs://new",
      pubkey: "0x04aabb",
      capabilitiesHash: otherCapabilities,
      revoked: false,
    });
  });

  it("revokes permanently: the record stays readable and cannot change", async () => {
    const registry = await deploy();
    await registry.send(owner.address, "registerAgent", ["ipfs://a", "0x01", capabilities]);
    const receipt = await registry.send(owner.address, "revokeAgent", [1n]);
    expect(decodeEvents(receipt, abi)).toEqual([{ eventName: "AgentRevoked", args: { agentId: 1n } }]);
    expect(await registry.read("getAgent", [1n])).toEqual({
      owner: owner.address,
      metadataURI: "ipfs://a",
      pubkey: "0x01",
      capabilitiesHash: capabilities,
      revoked: true,
    });
    await expectRevert(registry.send(owner.address, "revokeAgent", [1n]), abi, "AgentAlreadyRevoked");
    const update = [1n, "ipfs://b", capabilities] as const;
    await expectRevert(registry.send(owner.address, "updateAgent", update), abi, "AgentAlreadyRevoked");
    await expectRevert(registry.call(payer.address, "updateAgent", update), abi, "Unauthorized");
  });

  it("rejects changes by every account but the owner, also the owner of another agent", async () => {
    const registry = await deploy();
    await registry.send(owner.address, "registerAgent", ["ipfs://a", "0x01", capabilities]);
    await registry.send(agent.address, "registerAgent", ["ipfs://b", "0x02", capabilities]);
    for (const from of [agent.address, payer.address]) {
      const update = [1n, "ipfs://b", capabilities] as const;
      await expectRevert(registry.call(from, "updateAgent", update), abi, "Unauthorized");
      await expectRevert(registry.call(from, "revokeAgent", [1n]), abi, "Unauthorized");
    }
  });

  it.each([0n, 2n, 2n ** 256n - 1n])(
    "updateAgent and revokeAgent reject the unknown agent %s",
    async (agentId) => {
      const registry = await deploy();
      await registry.send(owner.address, "registerAgent", ["ipfs://a", "0x01", capabilities]);
      const update = [agentId, "ipfs://b", capabilities] as const;
      await expectRevert(registry.read("getAgent", [agentId]), abi, "AgentNotFound");
      await expectRevert(registry.call(owner.address, "updateAgent", update), abi, "AgentNotFound");
      await expectRevert(registry.call(owner.address, "revokeAgent", [agentId]), abi, "AgentNotFound");
      // A node simulates calls without a sender as the zero address, which must own nothing.
      await expectRevert(registry.call(zeroAddress, "revokeAgent", [agentId]), abi, "AgentNotFound");
    },
  );
});

describe("outsiders", () => {
  it("other accounts can register agents of their own and change no other", async () => {
    const registry = await deploy();
    await registry.send(owner.address, "registerAgent", ["ipfs://a", "0x01", capabilities]);
    await registry.send(owner.address, "registerAgent", ["ipfs://b", "0x02", capabilities]);
    await registry.send(owner.address, "revokeAgent", [2n]);
    const open = await findPermissionlessFunctions({
      evm,
      contract: registry,
      outsiders: [agent.address, payer.address],
      pool: {
        numbers: [0n, 1n, 2n, 3n],
        addresses: [owner.address],
        words: [zeroHash, capabilities, otherCapabilities],
      },
      world: () =>
        Promise.all([
          registry.read("getAgent", [1n]),
          registry.read("getAgent", [2n]),
          registry.read("getAgentsByOwner", [owner.address]),
        ]),
      numRuns: 30,
    });
    expect(open).toEqual(["registerAgent"]);
  });
});
