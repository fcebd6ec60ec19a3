// Calls made through a contract that forwards them: the calldata of the transaction is not what the protocol sees.

import type { TransactionCall } from "@sextant/contracts/deploy/transaction";
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { encodeFunctionData, type Hex, zeroAddress } from "viem";
import { decodeReceiptEvents } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";
import { type AgentProfile, registerAgentData, updateAgentData } from "./agents.ts";

/** Makes the forwarding contract act: what it owns, anybody may change through it. */
export function actThroughMulticall(world: World, sender: Actor): Actor {
  return {
    address: world.local.Multicall3,
    send: (call) => sender.send(forwardCall(world, [call])),
  };
}

/** Several agents of one transaction. */
export async function registerAgentsInOneCall(
  world: World,
  sender: Actor,
  profiles: readonly AgentProfile[],
): Promise<bigint[]> {
  const to = world.contracts.AgentRegistry;
  const calls = profiles.map((profile) => ({ to, data: registerAgentData(profile) }));
  const receipt = await sender.send(forwardCall(world, calls));
  return decodeReceiptEvents(receipt, to, agentRegistryAbi, "AgentRegistered").map(({ agentId }) => agentId);
}

/** An agent that is changed in the transaction it is born in. */
export async function registerAndUpdateAgent(
  world: World,
  sender: Actor,
  profile: AgentProfile,
  update: Omit<AgentProfile, "pubkey">,
): Promise<bigint | undefined> {
  const to = world.contracts.AgentRegistry;
  const register = registerAgentData(profile);
  // The id it will get is what the call returns now; if others register too, the update may miss and may fail.
  const foreseen = (await world.request("eth_call", [
    { from: world.local.Multicall3, to, data: register },
    "latest",
  ])) as Hex;
  const change = updateAgentData(BigInt(foreseen), update);
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [
      [
        { target: to, allowFailure: false, callData: register },
        { target: to, allowFailure: true, callData: change },
      ],
    ],
  });
  const receipt = await sender.send({ to: world.local.Multicall3, data });
  return decodeReceiptEvents(receipt, to, agentRegistryAbi, "AgentRegistered")[0]?.agentId;
}

/** One call that forwards many, each of which must succeed. */
export function forwardCall(world: World, calls: readonly TransactionCall[]): TransactionCall {
  const value = calls.reduce((sum, call) => sum + (call.value ?? 0n), 0n);
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3Value",
    args: [
      calls.map((call) => ({
        target: call.to ?? zeroAddress,
        allowFailure: false,
        value: call.value ?? 0n,
        callData: call.data ?? "0x",
      })),
    ],
  });
  return { to: world.local.Multicall3, data, value };
}
