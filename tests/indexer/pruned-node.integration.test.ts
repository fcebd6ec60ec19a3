// A node with 128 blocks of state is enough to index calls through accounts, bundles and other contracts.
// Fast tests of the same rules: src/chain/past-state.test.ts, src/protocol/details/*.test.ts.

import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { JsonRpcError } from "@sextant/local-chain/rpc/json-rpc-error";
import { decodeReceiptEvents } from "@sextant/simulator/receipt-events";
import { runSimulator } from "@sextant/simulator/simulator";
import { registerAgent, registerAgentData, updateAgent } from "@sextant/simulator/transactions/agents";
import { revokeAttestation, submitAttestation } from "@sextant/simulator/transactions/attestations";
import { signIntent, submitIntent, submitIntentData } from "@sextant/simulator/transactions/intents";
import { registerAgentsInOneCall, registerAndUpdateAgent } from "@sextant/simulator/transactions/multicall";
import type { World } from "@sextant/simulator/world";
import { keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { TestDatabase } from "../support/database/test-database.ts";
import { rebuildTestRows, startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { type PrunedNodeOptions, startPrunedNode } from "../support/nodes/pruned-node.ts";
import { casesOf, runsOf } from "../support/test-depth.ts";
import { type CleanIndex, FINALITY } from "./clean-index.ts";
import {
  type CallRoute,
  type ContractCallerStage,
  openContractCallerStage,
} from "./contract-caller-stage.ts";

const MINUTE = 60_000;
/** More blocks than the node has state for. */
const BLOCKS_LATER = 200;
const QUICK = { pauseMsBase: 2, pauseMsMax: 20 };
/** After the accounts of the stage. */
const FIRST_SIMULATED_ACCOUNT = 1_000;

const VISIBLE: readonly CallRoute[] = ["execute", "executeWithSessionKey", "handleOps", "multicall"];
const hashOf = (text: string) => keccak256(toHex(text));
const profileOf = (name: string) => ({
  metadataURI: `ipfs://${name}`,
  pubkey: toHex(`key of ${name}`),
  capabilitiesHash: hashOf(`capabilities of ${name}`),
});

const wishOf = ({ local }: World, amountOutMin: bigint) => ({
  inputToken: local.UsdCoin,
  outputToken: local.WrappedEther,
  constraints: { amountInMax: 1_000n, amountOutMin, deadline: 4_000_000_000n, slippageBps: 50 },
});

/** One of each kind through the route; the agent and the attestation change afterwards. */
async function actThrough(stage: ContractCallerStage, route: CallRoute): Promise<void> {
  const { world, routes } = stage;
  const actor = routes[route];
  const agentId = await registerAgent(world, actor, profileOf(route));
  await submitIntent(world, actor, await signIntent(world, world.wallet(60), wishOf(world, 900n)));
  const statement = {
    schema: hashOf("schema"),
    subject: hashOf(route),
    dataHash: hashOf(`data of ${route}`),
  };
  const attestationId = await submitAttestation(world, actor, statement);
  await updateAgent(world, actor, agentId, {
    metadataURI: `ipfs://${route}-2`,
    capabilitiesHash: hashOf("changed"),
  });
  await revokeAttestation(world, actor, attestationId);
}

/** Two calls that are not those which the inputs of their transactions show. */
async function actBehindOtherCalls(stage: ContractCallerStage) {
  const { world } = stage;
  const [real, shown] = [profileOf("real"), { ...profileOf("real"), capabilitiesHash: hashOf("shown") }];
  const agentId = await registerAgent(world, stage.showing(registerAgentData(shown)), real);
  const owner = world.wallet(60);
  const signed = await signIntent(world, owner, { ...wishOf(world, 900n), nonce: 7n });
  const other = await signIntent(world, owner, { ...wishOf(world, 1n), nonce: 7n });
  const intentId = await submitIntent(world, stage.showing(submitIntentData(other)), signed);
  return { agentId, intentId, capabilitiesHash: real.capabilitiesHash, amountOutMin: "900" };
}

// One chain for all tests. The calls that no transaction shows come last, and their indexes continue copies of the first.
let stage: ContractCallerStage;
let archive: CleanIndex;
let indexed: TestDatabase;
let behindOtherCalls: Awaited<ReturnType<typeof actBehindOtherCalls>>;
beforeAll(async () => {
  stage = await openContractCallerStage();
  for (const route of VISIBLE) await actThrough(stage, route);
  const { world, bundle } = stage;
  const to = world.contracts.AgentRegistry;
  const together = ["first", "second", "second"].map((name) => ({
    to,
    data: registerAgentData(profileOf(name)),
  }));
  const receipt = await bundle(together);
  expect(decodeReceiptEvents(receipt, to, agentRegistryAbi, "AgentRegistered")).toHaveLength(together.length);
  await registerAgentsInOneCall(world, world.actors.owner, [profileOf("third"), profileOf("fourth")]);
  await registerAndUpdateAgent(world, world.actors.owner, profileOf("fifth"), profileOf("sixth"));
  // No transaction shows this call, but the record has not changed.
  await registerAgent(world, stage.routes.hidden, profileOf("seventh"));
  behindOtherCalls = await actBehindOtherCalls(stage);
  const steps = runsOf(250);
  await runSimulator({ world, seed: 31, steps, firstAccountIndex: FIRST_SIMULATED_ACCOUNT });
  await stage.chain.mine(BLOCKS_LATER);
  const index = await startTestIndex({ urls: [stage.chain.rpcUrl], deployment: stage.deployment });
  archive = await digestAtHead(index);
  indexed = await index.keepAsTemplate();
}, 2 * MINUTE);
afterAll(async () => {
  await indexed?.drop();
  await stage?.chain.stop();
});

async function digestAtHead(index: TestIndex): Promise<CleanIndex> {
  const head = await stage.head();
  await index.waitUntilIndexed(head);
  const finalized = head.number - FINALITY;
  return { head, finalized, digest: await index.digest(finalized) };
}

type PrunedIndexOptions = Omit<PrunedNodeOptions, "request"> & {
  readonly otherUrls?: readonly string[];
  /** The index that it continues; it reads all history without one. */
  readonly template?: string;
};

type PrunedIndex = {
  readonly index: TestIndex;
  readonly counts: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

async function openPrunedIndex({
  otherUrls = [],
  template,
  ...options
}: PrunedIndexOptions): Promise<PrunedIndex> {
  const node = await startPrunedNode({ request: stage.chain.request, ...options });
  const index = await startTestIndex({
    urls: [node.url, ...otherUrls],
    deployment: stage.deployment,
    rpcLimits: QUICK,
    ...(template === undefined ? {} : { template }),
  });
  return {
    index,
    counts: node.counts,
    async close() {
      await index.close();
      await node.stop();
    },
  };
}

/** The same until the test ends. */
async function prunedIndex(options: PrunedIndexOptions): Promise<PrunedIndex> {
  const opened = await openPrunedIndex(options);
  onTestFinished(opened.close);
  return opened;
}

describe("a history that is old and came through contracts", () => {
  it(
    "writes the tables of an archive node if the pruned node offers debug_traceTransaction",
    async () => {
      const { index, counts } = await prunedIndex({ traces: true });
      expect(await digestAtHead(index)).toEqual(archive);
      expect(counts.get("debug_traceTransaction") ?? 0).toBeGreaterThan(VISIBLE.length);
    },
    MINUTE,
  );

  describe("read from a node that does not trace", () => {
    let opened: PrunedIndex;
    beforeAll(async () => {
      opened = await openPrunedIndex({ traces: false });
    });
    afterAll(() => opened?.close());

    it(
      "writes the tables of an archive node without traces, byte for byte",
      async () => {
        expect(await digestAtHead(opened.index)).toEqual(archive);
        // The first attempt fails and is the only one.
        expect(opened.counts.get("debug_traceTransaction")).toBe(1);
      },
      MINUTE,
    );

    it("stores the calls that were made, not those that transaction inputs show", async () => {
      const { agentId, intentId, ...made } = behindOtherCalls;
      const { rows } = await opened.index.database.query<typeof made>({
        text: `select capabilities_hash as "capabilitiesHash", amount_out_min::text as "amountOutMin"
          from agents, intents where agent_id = $1 and intent_id = $2`,
        values: [agentId, intentId],
      });
      expect(rows).toEqual([made]);
    });

    it(
      "rebuilds an old history to the same tables without a node",
      async () => {
        const { index } = opened;
        await index.stopIndexing();
        await rebuildTestRows(index.database, stage.deployment);
        expect(await index.digest(archive.finalized)).toEqual(archive.digest);
      },
      MINUTE,
    );
  });

  const revert = () => {
    throw new JsonRpcError(3, "execution reverted", "0x");
  };
  it.each(
    casesOf(
      { shows: "an empty result", onDroppedState: (): unknown => "0x" },
      { shows: "a revert", onDroppedState: revert },
    ),
  )(
    "does not believe a node that returns $shows for a pruned state",
    async ({ onDroppedState }) => {
      const { index } = await prunedIndex({ traces: false, onDroppedState });
      expect(await digestAtHead(index)).toEqual(archive);
    },
    MINUTE,
  );
});

describe("a history whose calls no transaction shows", () => {
  let hidden: CleanIndex;
  beforeAll(async () => {
    await actThrough(stage, "hidden");
    await stage.chain.mine(BLOCKS_LATER);
    const { rpcUrl } = stage.chain;
    const template = indexed.name;
    const index = await startTestIndex({ urls: [rpcUrl], deployment: stage.deployment, template });
    hidden = await digestAtHead(index);
    await index.close();
    expect(hidden.digest.agents).not.toBe(archive.digest.agents);
  }, MINUTE);

  it(
    "writes the rows of an archive node for hidden calls if the node traces",
    async () => {
      const { index } = await prunedIndex({ traces: true, template: indexed.name });
      await index.waitUntilIndexed(hidden.head);
      // The stored call and the stored record are two forms of the same details.
      const { logs: _, ...rows } = await index.digest(hidden.finalized);
      const { logs: __, ...expected } = hidden.digest;
      expect(rows).toEqual(expected);
    },
    MINUTE,
  );

  it(
    "stops at hidden calls if the node does not trace, and names what is needed",
    async () => {
      const { index } = await prunedIndex({ traces: false, template: indexed.name });
      const reason = await failureOf(index);
      expect(reason).toMatch(/AgentRegistered .*transaction 0x[0-9a-f]{64} .*block \d+/);
      expect(reason).toContain("archive node");
      expect(reason).toContain("debug_traceTransaction");
      expect(index.failure()).toBeNull();
    },
    MINUTE,
  );

  it(
    "reads hidden calls from an archive node behind a pruned one, without traces",
    async () => {
      const otherUrls = [stage.chain.rpcUrl];
      const { index } = await prunedIndex({ traces: false, otherUrls, template: indexed.name });
      expect(await digestAtHead(index)).toEqual(hidden);
    },
    MINUTE,
  );
});

async function failureOf({ status }: TestIndex): Promise<string> {
  for (const until = Date.now() + MINUTE / 2; Date.now() < until; ) {
    const { phase, reason } = status.report();
    if (phase === "failing" && reason !== null) return reason;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the index does not fail: ${JSON.stringify(status.report())}`);
}
