// Transactions of a world: alone and together in blocks, failing loudly, on chains that mine by themselves too.

import { deploy } from "@sextant/contracts/deploy/deploy";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { parseEther, toHex } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { type DeployedChain, startDeployedChain } from "./deployed-chain.ts";
import { scriptedTimeline } from "./timeline.ts";
import { TransactionRevertedError } from "./transaction-sender.ts";
import { registerAgent, revokeAgent, updateAgent } from "./transactions/agents.ts";
import { actThroughAccount, openPolicyAccount } from "./transactions/policy-accounts.ts";
import { sendEther } from "./transactions/tokens.ts";
import { openWorld } from "./world.ts";

const profile = {
  metadataURI: "ipfs://agent",
  pubkey: "0x02",
  capabilitiesHash: toHex(7, { size: 32 }),
} as const;
const running: LocalChain[] = [];

async function stage(): Promise<DeployedChain> {
  const opened = await startDeployedChain();
  running.push(opened.chain);
  return opened;
}

async function head(
  chain: LocalChain,
): Promise<{ number: number; timestamp: bigint; transactions: string[] }> {
  const block = (await chain.request("eth_getBlockByNumber", ["latest", false])) as Record<string, never>;
  return {
    number: Number(block.number),
    timestamp: BigInt(block.timestamp ?? 0),
    transactions: block.transactions ?? [],
  };
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((chain) => chain.stop()));
});

describe("a scripted world", () => {
  it("mines one block per transaction, two seconds apart, however fast the machine is", async () => {
    const { chain, world } = await stage();
    const { agent } = world.actors;
    expect(await registerAgent(world, agent, profile)).toBe(1n);
    const first = await head(chain);
    expect(await registerAgent(world, agent, profile)).toBe(2n);
    const second = await head(chain);
    expect(second.number).toBe(first.number + 1);
    expect(second.timestamp).toBe(first.timestamp + 2n);
    world.timeline.control?.skip(3_600n);
    await world.timeline.control?.idle(2);
    expect(await head(chain)).toMatchObject({
      number: second.number + 2,
      timestamp: second.timestamp + 3_604n,
      transactions: [],
    });
    expect(world.counters).toMatchObject({ transactions: 2, events: 2 });
  });

  it("puts the first transaction of each task into one block, in the order of the tasks", async () => {
    const { chain, world } = await stage();
    const { agent, solver } = world.actors;
    const before = await head(chain);
    const outcomes = await world.inOneBlock<unknown>([
      () => registerAgent(world, agent, profile),
      async () => "nothing sent",
      async () => {
        const id = await registerAgent(world, solver, profile);
        await updateAgent(world, solver, id, profile);
        return id;
      },
      () => world.inOneBlock([1, 2].map(() => () => registerAgent(world, agent, profile))),
    ]);
    expect(outcomes).toEqual([1n, "nothing sent", 2n, [3n, 4n]]);
    const shared = (await chain.request("eth_getBlockByNumber", [toHex(before.number + 1), false])) as {
      transactions: string[];
    };
    expect(shared.transactions).toHaveLength(4);
    expect((await head(chain)).number).toBe(before.number + 2);
  });

  it("keeps the others of a block when one fails, and goes on afterwards", async () => {
    const { world } = await stage();
    const { agent, solver } = world.actors;
    const id = await registerAgent(world, agent, profile);
    let registered: bigint | undefined;
    await expect(
      world.inOneBlock<unknown>([
        () => updateAgent(world, solver, id, profile),
        async () => {
          registered = await registerAgent(world, solver, profile);
        },
      ]),
    ).rejects.toThrow(/reverted: Unauthorized\(\)$/);
    expect(registered).toBe(2n);
    expect(await registerAgent(world, solver, profile)).toBe(3n);
  });

  it("names the reason of a revert, also one that an account wraps", async () => {
    const { world } = await stage();
    const { agent } = world.actors;
    const id = await registerAgent(world, agent, profile);
    await revokeAgent(world, agent, id);
    const again = revokeAgent(world, agent, id);
    await expect(again).rejects.toBeInstanceOf(TransactionRevertedError);
    await expect(again).rejects.toThrow(
      new RegExp(
        `of ${agent.address} to ${world.contracts.AgentRegistry} reverted: AgentAlreadyRevoked\\(\\)$`,
      ),
    );
    const account = await openPolicyAccount(world, agent);
    const target = world.local.DemoTarget;
    await expect(actThroughAccount(agent, account).send({ to: target })).rejects.toThrow(
      /TargetNotAllowed\(0x/,
    );
  });

  it("reads the nonce again after the node rejected a transaction", async () => {
    const { world } = await stage();
    const { agent } = world.actors;
    const unfunded = world.wallet(9_999);
    await expect(sendEther(unfunded, agent.address, 1n)).rejects.toThrow(/funds/);
    await sendEther(agent, unfunded.address, parseEther("1"));
    await sendEther(unfunded, agent.address, 1n);
    expect(await world.client.getTransactionCount({ address: unfunded.address })).toBe(1);
  });

  it("starts after the head, and gives mining back at the end", async () => {
    const { chain, world } = await stage();
    const { timestamp } = await head(chain);
    await expect(scriptedTimeline(chain.request, timestamp)).rejects.toThrow(/already at/);
    expect(await chain.request("hardhat_getAutomine")).toBe(false);
    await world.timeline.end();
    expect(await chain.request("hardhat_getAutomine")).toBe(true);
  });
});

describe("a world on a chain that mines by itself", () => {
  it.each([{ name: "at once" }, { name: "on an interval", blockTimeMs: 30 }])(
    "keeps the order of tasks on a chain that mines $name",
    async ({ blockTimeMs }) => {
      const chain = await startLocalChain({
        chainId: 31_337,
        ...(blockTimeMs === undefined ? {} : { blockTimeMs }),
      });
      running.push(chain);
      const deployment = await deploy({ request: chain.request, owner: chain.accounts.owner });
      const world = await openWorld({ request: chain.request, deployment });
      const { agent, solver } = world.actors;
      const ids = await world.inOneBlock([
        () => registerAgent(world, agent, profile),
        () => registerAgent(world, solver, profile),
        () => registerAgent(world, agent, profile),
      ]);
      expect(ids).toEqual([1n, 2n, 3n]);
      expect(await world.timeline.now()).toBeGreaterThanOrEqual((await head(chain)).timestamp);
      expect(world.timeline.control).toBeUndefined();
    },
  );
});
