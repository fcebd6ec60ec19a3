// A node with 128 blocks of state is enough to index calls through accounts, bundles and other contracts.

import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { JsonRpcError } from "@sextant/local-chain/rpc/json-rpc-error";
import { decodeReceiptEvents } from "@sextant/simulator/receipt-events";
import { registerAgent, registerAgentData, updateAgent } from "@sextant/simulator/transactions/agents";
import { revokeAttestation, submitAttestation } from "@sextant/simulator/transactions/attestations";
import { signIntent, submitIntent, submitIntentData } from "@sextant/simulator/transactions/intents";
import { registerAgentsInOneCall, registerAndUpdateAgent } from "@sextant/simulator/transactions/multicall";
import type { World } from "@sextant/simulator/world";
import { keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { rebuildTestRows, startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { type PrunedNodeOptions, startPrunedNode } from "../support/nodes/pruned-node.ts";
import { casesOf, runsOf } from "../support/test-depth.ts";
import { type CleanIndex, digestCleanIndex } from "./clean-index.ts";
import {
  type CallRoute,
  type ContractCallerStage,
  openContractCallerStage,
} from "./contract-caller-stage.ts";
import { openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;
/** More blocks than the node has state for. */
const BLOCKS_LATER = 200;
const QUICK = { pauseMsBase: 2, pauseMsMax: 20 };

type Stage = Pick<ContractCallerStage, "chain" | "deployment" | "head">;

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

async function prunedIndex(
  stage: Stage,
  options: Omit<PrunedNodeOptions, "request">,
  otherUrls: readonly string[] = [],
): Promise<{ index: TestIndex; counts: ReadonlyMap<string, number> }> {
  const node = await startPrunedNode({ request: stage.chain.request, ...options });
  const urls = [node.url, ...otherUrls];
  const index = await startTestIndex({ urls, deployment: stage.deployment, rpcLimits: QUICK });
  onTestFinished(async () => {
    await index.close();
    await node.stop();
  });
  return { index, counts: node.counts };
}

describe("a history that is old and came through contracts", () => {
  let stage: ContractCallerStage;
  let archive: CleanIndex;
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
    expect(decodeReceiptEvents(receipt, to, agentRegistryAbi, "AgentRegistered")).toHaveLength(
      together.length,
    );
    await registerAgentsInOneCall(world, world.actors.owner, [profileOf("third"), profileOf("fourth")]);
    await registerAndUpdateAgent(world, world.actors.owner, profileOf("fifth"), profileOf("sixth"));
    // No transaction shows this call, but the record has not changed.
    await registerAgent(world, stage.routes.hidden, profileOf("seventh"));
    await stage.chain.mine(BLOCKS_LATER);
    archive = await digestCleanIndex(stage);
  }, MINUTE);
  afterAll(() => stage?.chain.stop());

  it.each([true, false])(
    "gives the tables of an archive node (debug_traceTransaction offered: %s)",
    async (traces) => {
      const { index, counts } = await prunedIndex(stage, { traces });
      await index.waitUntilIndexed(archive.head);
      expect(await index.digest(archive.finalized)).toEqual(archive.digest);
      const traced = counts.get("debug_traceTransaction") ?? 0;
      // Without traces, the first attempt fails and is the only one.
      if (traces) expect(traced).toBeGreaterThan(VISIBLE.length);
      else expect(traced).toBe(1);
    },
    MINUTE,
  );

  const revert = () => {
    throw new JsonRpcError(3, "execution reverted", "0x");
  };
  it.each(
    casesOf(
      { shows: "an empty result", onDroppedState: (): unknown => "0x" },
      { shows: "a revert", onDroppedState: revert },
    ),
  )(
    "is not read from a node that returns $shows for a pruned state",
    async ({ onDroppedState }) => {
      const { index } = await prunedIndex(stage, { traces: false, onDroppedState });
      await index.waitUntilIndexed(archive.head);
      expect(await index.digest(archive.finalized)).toEqual(archive.digest);
    },
    MINUTE,
  );

  it(
    "is rebuilt to the same tables without a node",
    async () => {
      const { index } = await prunedIndex(stage, { traces: false });
      await index.waitUntilIndexed(archive.head);
      await index.stopIndexing();
      await rebuildTestRows(index.database, stage.deployment);
      expect(await index.digest(archive.finalized)).toEqual(archive.digest);
    },
    MINUTE,
  );
});

describe("a history whose calls no transaction shows", () => {
  let stage: ContractCallerStage;
  let archive: CleanIndex;
  beforeAll(async () => {
    stage = await openContractCallerStage();
    await actThrough(stage, "hidden");
    await stage.chain.mine(BLOCKS_LATER);
    archive = await digestCleanIndex(stage);
  }, MINUTE);
  afterAll(() => stage?.chain.stop());

  it(
    "gives the rows of an archive node where the node traces transactions",
    async () => {
      const { index } = await prunedIndex(stage, { traces: true });
      await index.waitUntilIndexed(archive.head);
      // The stored call and the stored record are two forms of the same details.
      const { logs: _, ...rows } = await index.digest(archive.finalized);
      const { logs: __, ...expected } = archive.digest;
      expect(rows).toEqual(expected);
    },
    MINUTE,
  );

  it(
    "stops at that block where it does not, and names what is needed",
    async () => {
      const { index } = await prunedIndex(stage, { traces: false });
      const reason = await failureOf(index);
      expect(reason).toMatch(/AgentRegistered .*transaction 0x[0-9a-f]{64} .*block \d+/);
      expect(reason).toContain("archive node");
      expect(reason).toContain("debug_traceTransaction");
      expect(index.failure()).toBeNull();
    },
    MINUTE,
  );

  it(
    "is read from an archive node behind a pruned one, without traces",
    async () => {
      const { index } = await prunedIndex(stage, { traces: false }, [stage.chain.rpcUrl]);
      await index.waitUntilIndexed(archive.head);
      expect(await index.digest(archive.finalized)).toEqual(archive.digest);
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

describe("a transaction whose input shows another call than it makes", () => {
  it(
    "is indexed by the call it makes: an intent, and an agent that was not updated",
    async () => {
      const stage = await openContractCallerStage();
      onTestFinished(() => stage.chain.stop());
      const { world } = stage;
      const [real, shown] = [profileOf("real"), { ...profileOf("real"), capabilitiesHash: hashOf("shown") }];
      await registerAgent(world, stage.showing(registerAgentData(shown)), real);
      const owner = world.wallet(60);
      const signed = await signIntent(world, owner, { ...wishOf(world, 900n), nonce: 7n });
      const other = await signIntent(world, owner, { ...wishOf(world, 1n), nonce: 7n });
      await submitIntent(world, stage.showing(submitIntentData(other)), signed);
      await stage.chain.mine(BLOCKS_LATER);

      const { index } = await prunedIndex(stage, { traces: false });
      await index.waitUntilIndexed(await stage.head());
      const { rows } = await index.database.query<{ hash: string; least: string }>(
        "select capabilities_hash as hash, amount_out_min::text as least from agents, intents",
      );
      expect(rows).toEqual([{ hash: real.capabilitiesHash, least: "900" }]);
      const { finalized, digest } = await digestCleanIndex(stage);
      expect(await index.digest(finalized)).toEqual(digest);
    },
    MINUTE,
  );
});

describe("a simulated history", () => {
  it(
    "gives the tables of an archive node, byte for byte, from a node with 128 blocks of state",
    async () => {
      const stage = await openIndexerStage(31, { reorgDepthMax: 0 });
      onTestFinished(() => stage.chain.stop());
      await stage.runSteps(runsOf(250));
      await stage.chain.mine(BLOCKS_LATER);
      const { index } = await prunedIndex(stage, { traces: false });
      await index.waitUntilIndexed(await stage.head());
      const { finalized, digest } = await digestCleanIndex(stage);
      expect(await index.digest(finalized)).toEqual(digest);
    },
    2 * MINUTE,
  );
});
