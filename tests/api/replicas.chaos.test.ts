// Mixed reads over a primary and two replicas under reorgs, kills and a promotion: all equal the model, none leads back.
// One replica is three seconds late, and clients send the block that they have seen.
// The fast test of the same rules is src/store/replicas/open-replicas.test.ts.
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "@sextant/simulator/random";
import { expect, it, onTestFinished, vi } from "vitest";
import { Secret } from "../../src/lib/secret.ts";
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { type IndexerStage, openIndexerStage } from "../indexer/indexer-stage.ts";
import { ChainBranches } from "../reference-model/chain-branches.ts";
import { compare } from "../reference-model/index-equals-model.ts";
import { readModelEvents } from "../reference-model/model-events.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import { startSextant } from "../support/process/sextant-process.ts";
import { runsOf } from "../support/test-depth.ts";
import { listModelReads } from "./replicas/model-reads.ts";
import { ReadLog } from "./replicas/read-log.ts";
import { LATE, type Readers, ReadingClient } from "./replicas/reading-client.ts";
import { countReadsByServer, openReplicaSite, type ReplicaSite } from "./replicas/replica-site.ts";
import { runSextantClient } from "./replicas/sextant-client.ts";

/** Fewer while this test itself is worked on. */
const READS = Number(process.env.TEST_REPLICA_READS ?? runsOf(100_000));
// Ten at once keep every core busy; with fewer the script of kills takes two thirds of the time.
const CLIENTS = runsOf(10, { min: 4 });
const DELAY_MS = 3_000;
const SEED = 7;
const FIRST_STEPS = 150;
const FORK_DEPTH_MAX = 12;
// Blocks keep their time for as long as clients read at them.
const FINALITY_DEPTH = 150;
const PATIENCE = { timeout: 120_000, interval: 100 };
const MINUTE = 60_000;

type Run = {
  readonly stage: IndexerStage;
  readonly site: ReplicaSite;
  readonly branches: ChainBranches;
  readonly readers: Readers;
  readonly random: Random;
  /** The test's own connection, to whichever server is the primary. */
  readonly database: Database;
  /** Ends by itself. */
  readonly background: Promise<void>[];
};

/** Compares what was read so far, and lets clients read what is new. */
async function lookAround({ branches, readers, database }: Run): Promise<void> {
  const { model, number } = await branches.look();
  const indexed = (await readCheckpoint(database))?.block.number ?? 0;
  // Reads name no block that the indexer has still to read, or that the next reorg takes away.
  readers.reads = listModelReads(model, Math.min(number, indexed) - FORK_DEPTH_MAX);
  await readers.log.compare(branches);
}

const grow = (run: Run, steps: number) => run.stage.runSteps(steps, { stepsPerSecond: 25 });

/** The new branch has none, all or the first of the transactions: with gaps, the nonces of their senders would not fit. */
async function fork(run: Run, depth: number): Promise<void> {
  const { stage, random } = run;
  await lookAround(run);
  const percent = [0, 80, 100][random.below(3)] ?? 0;
  let isKept = true;
  const replay = () => {
    isKept &&= random.chance(percent);
    return isKept;
  };
  let onForked: () => void = () => undefined;
  const forked = new Promise<void>((resolve) => {
    onForked = resolve;
  });
  const recovered = run.site.reorg.during(async () => {
    await stage.chain.reorg(depth, { replay, blocks: depth + random.below(3) });
    const { number } = await stage.head();
    onForked();
    await waitUntilOnChain(run, number);
  });
  run.background.push(recovered);
  await Promise.race([forked, recovered]);
}

/** Until the index has the block of the branch that the chain has then. */
async function waitUntilOnChain({ stage, database }: Run, number: number): Promise<void> {
  await vi.waitFor(async () => {
    const { block } = (await readCheckpoint(database)) ?? {};
    const found = await stage.chain.request("eth_getBlockByNumber", [
      `0x${block?.number.toString(16)}`,
      false,
    ]);
    expect((found as { hash: string }).hash).toBe(block?.hash);
    expect(block?.number).toBeGreaterThanOrEqual(number);
  }, PATIENCE);
}

/** Long enough for the delayed replica to have everything, and so to serve. */
const rest = () => pause(DELAY_MS + 2_000);

/** While replicas come and go every request is served. */
async function disturbReplicas(run: Run): Promise<void> {
  const { prompt, delayed } = run.site;
  await grow(run, 40);
  await fork(run, 3);
  await rest();
  // The delayed replica serves, and has the old branch for three seconds more.
  await fork(run, FORK_DEPTH_MAX);
  await grow(run, 30);
  await prompt.kill();
  await grow(run, 30);
  await fork(run, 5);
  await prompt.start();
  await rest();
  await delayed.kill();
  await fork(run, 1);
  await grow(run, 30);
  await delayed.start();
  await rest();
  await lookAround(run);
}

async function killServices(run: Run): Promise<void> {
  const { indexer, apis, withoutIndexer } = run.site;
  for (const { process, outage } of apis) {
    await fork(run, 1 + run.random.below(FORK_DEPTH_MAX));
    await outage.during(async () => {
      await process.kill();
      await grow(run, 15);
      await process.start();
    });
    await withoutIndexer.during(async () => {
      await fork(run, 1 + run.random.below(FORK_DEPTH_MAX));
      await indexer.kill();
      await grow(run, 15);
      await indexer.start();
      await waitUntilServed(run);
    });
  }
}

/** The primary dies, and a replica takes its place: reads that need the primary fail until then. */
async function promoteReplica(run: Run): Promise<void> {
  const { cluster, withoutPrimary } = run.site;
  await grow(run, 20);
  await withoutPrimary.during(async () => {
    await Promise.all([grow(run, 40), cluster.primary.kill()]);
    await pause(1_000);
    await cluster.failOverTo(await cluster.findMostAdvanced());
    await waitUntilServed(run);
  });
}

const stop = (readers: Readers) => {
  readers.isOver = true;
};

/** Until every API process has the head from the primary. */
async function waitUntilServed({ stage, site }: Run): Promise<void> {
  const head = await stage.head();
  for (const { process } of site.apis) {
    await vi.waitFor(async () => {
      const response = await fetch(`${process.url}/events?from=head`);
      await response.body?.cancel();
      expect(response.headers.get("x-indexed-block-hash")).toBe(head.hash);
    }, PATIENCE);
  }
}

async function openRun(): Promise<Run> {
  const stage = await openIndexerStage(SEED, {
    ...{ finalityDepth: FINALITY_DEPTH, reorgDepthMax: FORK_DEPTH_MAX },
  });
  onTestFinished(() => stage.chain.stop());
  await stage.runSteps(FIRST_STEPS);
  const { deployment, chain, local } = stage;
  const rpcUrls = [chain.rpcUrl, chain.wsUrl];
  const site = await openReplicaSite({ deployment, rpcUrls }, { applyDelayMs: DELAY_MS });
  const branches = new ChainBranches(chain.request, local);
  const log = new ReadLog();
  const { model, number } = await branches.look();
  const readers: Readers = {
    ...{ site, log, reads: listModelReads(model, number), failed: new Map(), faults: [], slowestMs: 0 },
    isOver: false,
  };
  const database = await openTestConnection({ url: new Secret(site.cluster.url) });
  onTestFinished(() => database.close());
  const run = { stage, site, branches, readers, random: new Random(SEED), database, background: [] };
  await waitUntilServed(run);
  return run;
}

it(
  "every response equals the model at its block, and no client is led back",
  async () => {
    const run = await openRun();
    const { stage, site, branches, readers } = run;
    const clients = Array.from({ length: CLIENTS }, (_, at) => new ReadingClient(readers, at).run());
    const disturb = async () => {
      await disturbReplicas(run);
      // The clients go on: on a busy machine they have not read as much yet.
      await vi.waitFor(async () => {
        const read = await countReadsByServer(site.apis[0] as (typeof site.apis)[0]);
        for (const { port } of site.cluster.replicas)
          expect(read.get(`127.0.0.1:${port}`)).toBeGreaterThan(100);
      }, PATIENCE);
      // A replica that dies costs no request.
      const allowed = ["reorg", LATE];
      expect([...readers.failed.keys()].filter((reason) => !allowed.includes(reason))).toEqual([]);
      await killServices(run);
      await promoteReplica(run);
      while (readers.log.compared < READS) {
        await grow(run, 30);
        await fork(run, 1 + run.random.below(FORK_DEPTH_MAX));
      }
    };
    const disturbed = disturb().finally(() => stop(readers));
    // Whatever fails, no client goes on.
    const [asked] = await Promise.all([runSextantClient(readers, SEED), disturbed, ...clients]).finally(() =>
      stop(readers),
    );
    expect(asked).toBeGreaterThan(100);
    await lookAround(run);
    expect(readers.faults).toEqual([]);
    readers.log.expectComplete(branches);
    expect(readers.log.compared).toBeGreaterThanOrEqual(READS);
    expect(readers.failed.get(LATE) ?? 0).toBeLessThan(READS / 100);

    await waitUntilServed(run);
    await Promise.all(run.background);
    const { number } = await stage.head();
    await compare(run, await readModelEvents(stage.chain.request, stage.local), [number]);
    const { code, out, err } = await startSextant(["audit"], { environment: site.environment }).ended;
    expect(code, out + err).toBe(0);
  },
  15 * MINUTE,
);
