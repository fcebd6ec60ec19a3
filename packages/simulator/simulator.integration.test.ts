// The simulator emits every event, covers the unusual cases, and repeats its history for the same seed.
// A tool of tests and of the local run; world.test.ts and the history that all tests share are the fast part.
import { setTimeout as sleep } from "node:timers/promises";
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { PROTOCOL_ABIS } from "@sextant/contracts/interface/protocol-abis";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import type { RpcTransaction } from "viem";
import { afterAll, describe, expect, it } from "vitest";
import { casesOf, isFullDepth } from "../../tests/support/test-depth.ts";
import { startDeployedChain } from "./deployed-chain.ts";
import { countEvents, type DecodedProtocolEvent, missingEvents, readEvents } from "./read-events.ts";
import { runSimulator, SIMULATOR_ACTIONS } from "./simulator.ts";
import { registerAgent } from "./transactions/agents.ts";
import { openWorld, type World } from "./world.ts";

const STEPS = 400;
// Another seed shows early that it is another.
const OTHER_STEPS = 40;
const STEPS_BEFORE_REVERT = 20;
// All kinds of events are repeated at full depth only. A shorter run is not part of a longer one: chain time is planned
// over all steps.
const REPEATED_STEPS = isFullDepth() ? STEPS : 60;
// The simulator uses forty accounts; a hundred separates the runs on one chain.
const FIRST_CAST = 1_000;
const CAST_SIZE = 100;
const chains: LocalChain[] = [];
const runs = new Map<number, ReturnType<typeof simulate>>();

async function simulate(seed: number, steps = STEPS) {
  const deployed = await startDeployedChain();
  chains.push(deployed.chain);
  const actions: string[] = [];
  const completed = await runSimulator({
    world: deployed.world,
    seed,
    steps,
    onStep: ({ number, action }) => {
      expect(number).toBe(actions.push(action));
    },
  });
  expect(completed).toBe(steps);
  return { ...deployed, actions, events: await readEvents(deployed.chain.request, deployed.deployment) };
}

/** The run of this seed that all tests share. */
function sharedRun(seed: number): ReturnType<typeof simulate> {
  const run = runs.get(seed) ?? simulate(seed);
  runs.set(seed, run);
  return run;
}

async function startLiveChain(blockTimeMs?: number) {
  const chain = await startLocalChain({
    chainId: 31_337,
    code: LOCAL_GENESIS_CODE,
    ...(blockTimeMs === undefined ? {} : { blockTimeMs }),
  });
  chains.push(chain);
  const deployment = await deploy({ request: chain.request, owner: chain.accounts.owner });
  return { chain, deployment };
}

type LiveChain = Awaited<ReturnType<typeof startLiveChain>>;

/** The chains that several tests share, by block time; the test that breaks a contract comes last. */
const liveChains = new Map<number | undefined, Promise<LiveChain>>();

/** A new view of the chain, whose nonces hold after a reorg too, and accounts that have not registered anywhere. */
let casts = 0;
async function openLiveWorld(
  blockTimeMs?: number,
): Promise<LiveChain & { readonly world: World; readonly firstAccountIndex: number }> {
  const live = liveChains.get(blockTimeMs) ?? startLiveChain(blockTimeMs);
  liveChains.set(blockTimeMs, live);
  const { chain, deployment } = await live;
  const world = await openWorld({ request: chain.request, deployment });
  casts += 1;
  return { chain, deployment, world, firstAccountIndex: FIRST_CAST + casts * CAST_SIZE };
}

const named = (events: readonly DecodedProtocolEvent[], ...names: string[]) =>
  events.filter(({ event }) => names.includes(event));

function countBy<T>(items: readonly T[], key: (item: T) => unknown): number[] {
  const counts = new Map<unknown, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return [...counts.values()];
}

/** Whether an operator acted in a block before the one it registered in. */
function actedBeforeRegistering(
  acts: readonly DecodedProtocolEvent[],
  entries: readonly DecodedProtocolEvent[],
  actor: string,
) {
  return entries.some(({ args, block }) =>
    acts.some((act) => act.args[actor] === args.operator && act.block < block),
  );
}

afterAll(async () => {
  await Promise.all(chains.map((chain) => chain.stop()));
});

describe("runSimulator", () => {
  it.each(casesOf(1, 2, 3))(
    "emits every event and covers the unusual cases within 400 steps of seed %i",
    { timeout: 120_000 },
    async (seed) => {
      const { chain, events, actions } = await sharedRun(seed);
      expect(missingEvents(countEvents(events))).toEqual([]);
      expect(new Set(actions).size).toBeGreaterThan(SIMULATOR_ACTIONS.length * 0.9);

      const agents = named(events, "AgentRegistered");
      expect(Math.max(...countBy(agents, ({ transactionHash }) => transactionHash))).toBeGreaterThan(1);
      const direct = await Promise.all(
        agents.map(async ({ transactionHash, address }) => {
          const transaction = await chain.request("eth_getTransactionByHash", [transactionHash]);
          return (transaction as RpcTransaction).to === address;
        }),
      );
      expect(new Set(direct)).toEqual(new Set([true, false]));

      const fills = named(events, "IntentFilled");
      expect(actedBeforeRegistering(fills, named(events, "SolverRegistered"), "solver")).toBe(true);
      const attestations = named(events, "AttestationSubmitted");
      expect(actedBeforeRegistering(attestations, named(events, "AttestorRegistered"), "attester")).toBe(
        true,
      );

      const selections = countBy(named(events, "SolverBidSelected"), ({ args }) => args.intentId);
      expect(Math.max(...selections)).toBeGreaterThan(1);
      const touched = new Set(
        named(events, "SolverBidSubmitted", "IntentCancelled").map(({ args }) => args.intentId),
      );
      expect(named(events, "IntentSubmitted").some(({ args }) => !touched.has(args.intentId))).toBe(true);

      const perBlock = countBy(events, ({ block }) => block);
      expect(Math.max(...perBlock)).toBeGreaterThan(5);
      const head = Number(await chain.request("eth_blockNumber"));
      expect(perBlock.length).toBeLessThan(head);
      expect(new Set(named(events, "QuoteCommitted").map(({ args }) => args.paymentRail))).toEqual(
        new Set([0, 1, 2, 3]),
      );
    },
  );

  it("repeats the history of a seed, and makes another from another seed", { timeout: 120_000 }, async () => {
    const first = await simulate(1, REPEATED_STEPS);
    const again = await simulate(1, REPEATED_STEPS);
    const other = await simulate(2, OTHER_STEPS);
    expect(again.events).toEqual(first.events);
    expect(again.actions).toEqual(first.actions);
    expect(again.world.counters).toEqual(first.world.counters);
    const heads = await Promise.all(
      [first, again].map(({ chain }) => chain.request("eth_getBlockByNumber", ["latest", false])),
    );
    expect(heads[1]).toMatchObject({ timestamp: (heads[0] as { timestamp: string }).timestamp });
    expect(other.actions).not.toEqual(first.actions.slice(0, OTHER_STEPS));
    const names = ({ events }: typeof first) => events.map(({ event }) => event);
    expect(names(other)).not.toEqual(names(first).slice(0, other.events.length));
  });

  it("lets days pass: a spend window ends, and its total starts again", async () => {
    const { events } = await sharedRun(1);
    const totals = new Map<string, bigint>();
    const startedAgain = named(events, "SpendRecorded").filter(({ args }) => {
      const key = `${args.account} ${args.token}`;
      const before = totals.get(key) ?? 0n;
      totals.set(key, args.dailyTotal as bigint);
      return before > 0n && args.dailyTotal === args.amount;
    });
    expect(startedAgain.length).toBeGreaterThan(0);
  });

  it.each([undefined, 40])(
    "runs alongside other senders on a live chain (blocks of %s ms) until aborted",
    async (ms) => {
      const { chain, world, firstAccountIndex } = await openLiveWorld(ms);
      const stop = new AbortController();
      let steps = 0;
      const simulation = runSimulator({
        world,
        seed: 5,
        firstAccountIndex,
        stepsPerSecond: 200,
        signal: stop.signal,
        onStep: ({ number }) => {
          steps = number;
          if (number >= 25) stop.abort();
        },
      });
      const profile = { metadataURI: "", pubkey: "0x", capabilitiesHash: world.random.bytes32() } as const;
      while (!stop.signal.aborted) {
        await registerAgent(world, world.actors.agent, profile);
        await sleep(5);
      }
      expect(await simulation).toBe(steps);
      expect(steps).toBeLessThan(40);
      // Its state is void after a reorg: another simulator goes on.
      await chain.reorg(3);
      const after = await openLiveWorld(ms);
      expect(await runSimulator({ ...after, seed: 5, steps: 10 })).toBe(10);
    },
  );

  it("keeps to stepsPerSecond, and stops at once when aborted", async () => {
    const live = await openLiveWorld();
    const stop = new AbortController();
    const moments: number[] = [];
    const onStep = () => {
      if (moments.push(performance.now()) === 1) setTimeout(() => stop.abort(), 500);
    };
    const steps = await runSimulator({ ...live, seed: 2, stepsPerSecond: 5, signal: stop.signal, onStep });
    expect(steps).toBe(moments.length);
    // Two or three are due in half a second, and the last turn may add a block of eight.
    expect(steps).toBeLessThan(3 + 8);
    // Aborted, it does not wait for the next action.
    expect(performance.now() - (moments.at(-1) ?? 0)).toBeLessThan(1_000);
  });

  it("stops at the step that reverts, and names it and the reason", async () => {
    const { chain, world, firstAccountIndex } = await openLiveWorld();
    const revertAlways = "0x60006000fd";
    const steps: string[] = [];
    const simulation = runSimulator({
      world,
      seed: 1,
      firstAccountIndex,
      steps: STEPS,
      onStep: ({ action }) => {
        if (steps.push(action) === STEPS_BEFORE_REVERT)
          void chain.setCode(world.contracts.CommerceRegistry, revertAlways);
      },
    });
    await expect(simulation).rejects.toThrow(
      /^Step \d+, "[a-z ]+", failed: Transaction 0x\w+ of 0x\w+ to 0x\w+ reverted: /,
    );
    await expect(simulation).rejects.toMatchObject({ cause: { name: "TransactionReverted" } });
    expect(steps.length).toBeGreaterThanOrEqual(STEPS_BEFORE_REVERT);
  });
});

describe("counting events", () => {
  it("counts every event of every interface, and names the missing ones", () => {
    const declared = Object.entries(PROTOCOL_ABIS).flatMap(([contract, abi]) =>
      abi.flatMap((item) => (item.type === "event" ? [`${contract}.${item.name}`] : [])),
    );
    const counts = countEvents([{ contract: "AgentRegistry", event: "AgentRevoked" }]);
    expect(counts.map(({ contract, event }) => `${contract}.${event}`)).toEqual(declared);
    expect(counts.find(({ event }) => event === "AgentRevoked")?.count).toBe(1);
    const missing = missingEvents(counts);
    expect(missing).toContain("AgentRegistry.AgentRegistered");
    expect(missing).not.toContain("AgentRegistry.AgentRevoked");
    expect(missing).not.toContain("IntentBook.EIP712DomainChanged");
    expect(missing).toHaveLength(declared.length - 2);
  });
});
