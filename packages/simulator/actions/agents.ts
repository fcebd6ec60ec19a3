// Agent actions, for owners that are wallets, policy accounts, and a forwarding contract that anyone may use.

import type { SimulatedAgent } from "../state/simulator-state.ts";
import { registerAgent, revokeAgent, updateAgent } from "../transactions/agents.ts";
import {
  actThroughMulticall,
  registerAgentsInOneCall,
  registerAndUpdateAgent,
} from "../transactions/multicall.ts";
import { actThroughAccount } from "../transactions/policy-accounts.ts";
import type { SimulatorAction, Turn } from "../turn.ts";

export const agentActions: readonly SimulatorAction[] = [
  {
    name: "register an agent",
    weight: 6,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      const owner = random.pick(accounts.owners);
      const profile = newProfile(turn);
      return async () => state.agents.add({ id: await registerAgent(world, owner, profile), owner, profile });
    },
  },
  {
    name: "register an agent of a policy account",
    weight: 2,
    prepare: (turn) => {
      const { world, state } = turn;
      const account = turn.take(state.accounts, ({ frozen }) => !frozen);
      if (account === undefined) return undefined;
      const owner = actThroughAccount(account.signer, account.address);
      const profile = newProfile(turn);
      return async () =>
        state.agents.add({ id: await registerAgent(world, owner, profile), owner, account, profile });
    },
  },
  {
    name: "register several agents in one transaction",
    weight: 2,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      const relayer = random.pick(accounts.relayers);
      const owner = actThroughMulticall(world, relayer);
      const profiles = Array.from({ length: 2 + random.below(3) }, () => newProfile(turn));
      return async () => {
        const ids = await registerAgentsInOneCall(world, relayer, profiles);
        for (const [index, profile] of profiles.entries()) {
          const id = ids[index];
          if (id !== undefined) state.agents.add({ id, owner, profile });
        }
      };
    },
  },
  {
    name: "register and update an agent in one transaction",
    weight: 1,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      const relayer = random.pick(accounts.relayers);
      const [first, profile] = [newProfile(turn), newProfile(turn)];
      return async () => {
        const id = await registerAndUpdateAgent(world, relayer, first, profile);
        if (id !== undefined) state.agents.add({ id, owner: actThroughMulticall(world, relayer), profile });
      };
    },
  },
  {
    name: "update an agent",
    weight: 4,
    prepare: (turn) => {
      const agent = takeAgent(turn);
      if (agent === undefined) return undefined;
      agent.profile = newProfile(turn);
      return () => updateAgent(turn.world, agent.owner, agent.id, agent.profile);
    },
  },
  {
    name: "update an agent with what it already has",
    weight: 2,
    prepare: (turn) => {
      const agent = takeAgent(turn);
      if (agent === undefined) return undefined;
      return () => updateAgent(turn.world, agent.owner, agent.id, agent.profile);
    },
  },
  {
    name: "update an agent twice in one block",
    weight: 1,
    prepare: (turn) => {
      const { world } = turn;
      const agent = takeAgent(turn);
      if (agent === undefined) return undefined;
      const passing = newProfile(turn);
      agent.profile = newProfile(turn);
      return () =>
        world.inOneBlock([
          () => updateAgent(world, agent.owner, agent.id, passing),
          () => updateAgent(world, agent.owner, agent.id, agent.profile),
        ]);
    },
  },
  {
    name: "revoke an agent",
    weight: 1,
    prepare: (turn) => {
      const agent = takeAgent(turn);
      if (agent === undefined) return undefined;
      turn.state.agents.remove(agent);
      return () => revokeAgent(turn.world, agent.owner, agent.id);
    },
  },
  {
    name: "update and revoke an agent in one block",
    weight: 1,
    prepare: (turn) => {
      const { world, state } = turn;
      const agent = takeAgent(turn);
      if (agent === undefined) return undefined;
      state.agents.remove(agent);
      const last = newProfile(turn);
      return () =>
        world.inOneBlock([
          () => updateAgent(world, agent.owner, agent.id, last),
          () => revokeAgent(world, agent.owner, agent.id),
        ]);
    },
  },
];

/** An agent whose owner can act; a frozen account cannot. */
function takeAgent(turn: Turn): SimulatedAgent | undefined {
  const agent = turn.take(turn.state.agents, ({ account }) => account === undefined || !account.frozen);
  return agent?.account === undefined || turn.claim(agent.account) ? agent : undefined;
}

function newProfile(turn: Turn) {
  const { random } = turn;
  return {
    metadataURI: turn.uri("agent"),
    // A compressed key, an uncompressed one's first half, or none.
    pubkey: random.pick([`0x02${random.bytes32().slice(2)}`, random.bytes32(), "0x"] as const),
    capabilitiesHash: random.bytes32(),
  };
}
