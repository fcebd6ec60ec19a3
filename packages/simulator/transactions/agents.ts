// Agents: registering, changing, revoking them.

import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

export type AgentProfile = {
  readonly metadataURI: string;
  readonly pubkey: Hex;
  readonly capabilitiesHash: Hex;
};

export function registerAgentData({ metadataURI, pubkey, capabilitiesHash }: AgentProfile): Hex {
  return encodeFunctionData({
    abi: agentRegistryAbi,
    functionName: "registerAgent",
    args: [metadataURI, pubkey, capabilitiesHash],
  });
}

export function updateAgentData(agentId: bigint, profile: Omit<AgentProfile, "pubkey">): Hex {
  return encodeFunctionData({
    abi: agentRegistryAbi,
    functionName: "updateAgent",
    args: [agentId, profile.metadataURI, profile.capabilitiesHash],
  });
}

export async function registerAgent(world: World, owner: Actor, profile: AgentProfile): Promise<bigint> {
  const to = world.contracts.AgentRegistry;
  const receipt = await owner.send({ to, data: registerAgentData(profile) });
  return decodeReceiptEvent(receipt, to, agentRegistryAbi, "AgentRegistered").agentId;
}

export async function updateAgent(
  world: World,
  owner: Actor,
  agentId: bigint,
  profile: Omit<AgentProfile, "pubkey">,
): Promise<void> {
  await owner.send({ to: world.contracts.AgentRegistry, data: updateAgentData(agentId, profile) });
}

export async function revokeAgent(world: World, owner: Actor, agentId: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: agentRegistryAbi, functionName: "revokeAgent", args: [agentId] });
  await owner.send({ to: world.contracts.AgentRegistry, data });
}
