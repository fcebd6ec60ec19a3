// Steps with agents, also through other contracts, do on chain what their names say.

import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeployedChain, startDeployedChain } from "../deployed-chain.ts";
import { readEvents } from "../read-events.ts";
import { registerAgent, revokeAgent, updateAgent } from "./agents.ts";
import { actThroughMulticall, registerAgentsInOneCall, registerAndUpdateAgent } from "./multicall.ts";

let stage: DeployedChain;
const profile = (name: string) => ({
  metadataURI: `ipfs://${name}`,
  pubkey: toHex(name),
  capabilitiesHash: keccak256(toHex(name)),
});

async function emittedBy<T>(step: () => Promise<T>) {
  const { chain, deployment, world } = stage;
  const from = Number(await world.client.getBlockNumber({ cacheTime: 0 })) + 1;
  const result = await step();
  const events = await readEvents(chain.request, deployment, from);
  return {
    result,
    events: events.map(({ contract, event, args }) => [`${contract}.${event}`, args]),
    raw: events,
  };
}

const readAgent = (id: bigint) =>
  stage.world.client.readContract({
    address: stage.world.contracts.AgentRegistry,
    abi: agentRegistryAbi,
    functionName: "getAgent",
    args: [id],
  });

beforeAll(async () => {
  stage = await startDeployedChain();
});
afterAll(() => stage.chain.stop());

describe("agent steps", () => {
  it("registers, updates and revokes", async () => {
    const { world } = stage;
    const { agent } = world.actors;
    const registered = await emittedBy(() => registerAgent(world, agent, profile("one")));
    const agentId = registered.result;
    expect(registered.events).toEqual([
      ["AgentRegistry.AgentRegistered", { agentId, owner: agent.address, metadataURI: "ipfs://one" }],
    ]);
    expect(await readAgent(agentId)).toMatchObject(profile("one"));
    const { metadataURI, capabilitiesHash } = profile("two");
    const updated = await emittedBy(() => updateAgent(world, agent, agentId, profile("two")));
    expect(updated.events).toEqual([
      ["AgentRegistry.AgentUpdated", { agentId, metadataURI, capabilitiesHash }],
    ]);
    const revoked = await emittedBy(() => revokeAgent(world, agent, agentId));
    expect(revoked.events).toEqual([["AgentRegistry.AgentRevoked", { agentId }]]);
  });

  it("registers several in one transaction, owned by the calling contract", async () => {
    const { world } = stage;
    const { payer } = world.actors;
    const names = ["a", "b", "c"];
    const { result, raw } = await emittedBy(() => registerAgentsInOneCall(world, payer, names.map(profile)));
    expect(raw.map(({ event, args }) => [event, args.metadataURI])).toEqual(
      names.map((name) => ["AgentRegistered", `ipfs://${name}`]),
    );
    expect(new Set(raw.map(({ transactionHash }) => transactionHash)).size).toBe(1);
    expect(raw.map(({ args }) => args.agentId)).toEqual(result);
    const [first = 0n] = result;
    expect((await readAgent(first)).owner.toLowerCase()).toBe(world.local.Multicall3);
    await updateAgent(world, actThroughMulticall(world, world.actors.solver), first, profile("d"));
    expect((await readAgent(first)).metadataURI).toBe("ipfs://d");
  });

  it("registers and updates in one transaction", async () => {
    const { world } = stage;
    const { result, raw } = await emittedBy(() =>
      registerAndUpdateAgent(world, world.actors.payer, profile("born"), profile("changed")),
    );
    expect(raw.map(({ event, args }) => [event, args.agentId, args.metadataURI])).toEqual([
      ["AgentRegistered", result, "ipfs://born"],
      ["AgentUpdated", result, "ipfs://changed"],
    ]);
    expect(new Set(raw.map(({ transactionHash }) => transactionHash)).size).toBe(1);
  });
});
