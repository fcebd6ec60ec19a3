// Compares an index of a simulated chain with the reference model, at many blocks and after a fork.

import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { Random } from "@sextant/simulator/random";
import { runSimulator } from "@sextant/simulator/simulator";
import { scriptedTimeline } from "@sextant/simulator/timeline";
import { openWorld } from "@sextant/simulator/world";
import { expect, onTestFinished } from "vitest";
import { tables } from "../../src/protocol/domains.ts";
import type { Table } from "../../src/schema/table.ts";
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import { startTestIndex, type TestIndex, toDeployment } from "../support/index/test-index.ts";
import { foldIntoModel } from "./fold-events.ts";
import { type ModelEvent, readModelEvents } from "./model-events.ts";
import type { PlainRow } from "./read-model.ts";

/** 2026-01-01: runs do not depend on the date. */
const GENESIS = 1_767_225_600n;
const STEPS = 300;
export const FORK_DEPTH = 12;

type Stage = {
  readonly chain: LocalChain;
  readonly deployment: LocalDeployment;
  readonly play: () => Promise<void>;
};

export async function setStage(seed: number, steps = STEPS): Promise<Stage> {
  const chain = await startLocalChain({
    chainId: 31_337,
    genesisTimestamp: GENESIS,
    reorgDepthMax: FORK_DEPTH,
    code: LOCAL_GENESIS_CODE,
  });
  onTestFinished(() => chain.stop());
  const { request } = chain;
  const deployment = await deploy({ request, owner: chain.accounts.owner });
  const timeline = await scriptedTimeline(request, GENESIS + 3_600n);
  const world = await openWorld({ request, deployment, timeline });
  return { chain, deployment, play: async () => void (await runSimulator({ world, seed, steps })) };
}

export async function startIndexing({ chain, deployment }: Stage): Promise<TestIndex> {
  const index = await startTestIndex({ urls: [chain.rpcUrl], deployment: toDeployment(deployment) });
  onTestFinished(() => index.close());
  return index;
}

export async function reachHead({ chain }: Stage, index: TestIndex): Promise<number> {
  const head = (await chain.request("eth_getBlockByNumber", ["latest", false])) as {
    number: string;
    hash: string;
  };
  await index.waitUntilIndexed({ number: Number(head.number), hash: head.hash });
  return Number(head.number);
}

async function rowsAsOf(
  index: Pick<TestIndex, "database">,
  table: Table,
  block: number,
): Promise<PlainRow[]> {
  const { rows } = await index.database.query<Record<string, PlainRow[string]>>({
    text: `select * from ${table.name} where valid_from <= $1 and (valid_to is null or valid_to > $1)`,
    values: [block],
  });
  return rows.map(({ valid_from: _from, valid_to: _to, ...row }) => row);
}

/** Rows as sorted texts with sorted columns, so that lists can be compared. */
function texts(rows: readonly PlainRow[]): string[] {
  const entries = rows.map((row) => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
  return entries.map((row) => JSON.stringify(Object.fromEntries(row))).sort();
}

/** Compares the head and some earlier blocks; returns which tables had rows. */
export async function compare(
  index: Pick<TestIndex, "database">,
  events: readonly ModelEvent[],
  blocks: readonly number[],
): Promise<Set<string>> {
  const finalized = (await readCheckpoint(index.database))?.finalized ?? 0;
  const filled = new Set<string>();
  for (const block of blocks) {
    const model = foldIntoModel(events, block);
    for (const table of tables) {
      if (table.history === "recent" && block < finalized) continue;
      const expected = texts(model.rows(table.name));
      if (expected.length > 0) filled.add(table.name);
      expect(texts(await rowsAsOf(index, table, block)), `${table.name} at block ${block}`).toEqual(expected);
    }
  }
  return filled;
}

function someBlocks(random: Random, count: number, first: number, head: number): number[] {
  const earlier = Array.from({ length: count }, () => first + random.below(head - first));
  // Half of the blocks are near the head, so that tables with recent history can be compared too.
  const near = earlier.map((block, index) => (index % 2 === 0 ? block : head - random.below(32)));
  return [first - 1, ...near, head];
}

/** The index follows the chain live, or starts when all blocks are there. Some blocks are compared, before and after a fork. */
export async function expectIndexEqualsModel(
  seed: number,
  { isLive, blocksCompared }: { isLive: boolean; blocksCompared: number },
): Promise<void> {
  const stage = await setStage(seed);
  const live = isLive ? await startIndexing(stage) : null;
  await stage.play();
  const index = live ?? (await startIndexing(stage));
  const head = await reachHead(stage, index);
  const random = new Random(seed);
  const { startBlock } = stage.deployment;

  const events = await readModelEvents(stage.chain.request, stage.deployment);
  const filled = await compare(index, events, someBlocks(random, blocksCompared, startBlock, head));
  expect([...filled].sort()).toEqual(tables.map(({ name }) => name).sort());

  await stage.chain.reorg(FORK_DEPTH, { replay: () => random.chance(50), blocks: FORK_DEPTH + 1 });
  const forked = await reachHead(stage, index);
  const others = await readModelEvents(stage.chain.request, stage.deployment);
  expect(others).not.toEqual(events);
  await compare(index, others, someBlocks(random, blocksCompared, startBlock, forked));
}
