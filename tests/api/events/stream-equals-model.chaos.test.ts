// Who folds the stream, undos included, has the rows of the API, whatever forks and whatever is killed meanwhile.
// `streams.test.ts` and `read-events.test.ts` fail for the same broken rules, without processes.
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "@sextant/simulator/random";
import { expect, it, onTestFinished, vi } from "vitest";
import { readCheckpoint } from "../../../src/store/index/checkpoint.ts";
import { FINALITIES } from "../../../src/store/index/event-logs.ts";
import { type IndexerStage, openIndexerStage } from "../../indexer/indexer-stage.ts";
import { foldIntoModel } from "../../reference-model/fold-events.ts";
import { compare } from "../../reference-model/index-equals-model.ts";
import { readModelEvents } from "../../reference-model/model-events.ts";
import type { PlainRow, ReadModel } from "../../reference-model/read-model.ts";
import { startPrunedNode } from "../../support/nodes/pruned-node.ts";
import { chooseSeed } from "../../support/seeded-random.ts";
import { casesOf } from "../../support/test-depth.ts";
import { LIST_SHAPES } from "../record-shapes.ts";
import { FoldingClient } from "./folding-client.ts";
import { type KilledServices, startKilledPostgres, startKilledServices } from "./killed-services.ts";

const FINALITY_DEPTH = 12;
const FIXED_SEEDS = [1, 2, 3, 4, 5, 6];
const DISASTERS = ["api", "indexer", "database", "clients", "rebuild", "everything"] as const;
// On a machine with ten times the work that it can do.
const PATIENCE = { timeout: 240_000, interval: 50 };
const SEED_MS_MAX = 900_000;

type Run = {
  readonly stage: IndexerStage;
  readonly services: KilledServices;
  readonly clients: readonly FoldingClient[];
  readonly random: Random;
};

async function openRun(seed: number): Promise<Run> {
  const depths = { finalityDepth: FINALITY_DEPTH, reorgDepthMax: FINALITY_DEPTH };
  const stage = await openIndexerStage(seed, depths);
  onTestFinished(() => stage.chain.stop());
  // No fork reaches the contracts.
  await stage.chain.mine(FINALITY_DEPTH);
  // Half of the seeds with a node that forgets old states.
  const pruned =
    seed % 2 === 0 ? await startPrunedNode({ request: stage.chain.request, traces: true }) : null;
  onTestFinished(async () => pruned?.stop());
  // One for each seed: a server that was killed five times in a minute is not started again.
  const postgres = await startKilledPostgres();
  onTestFinished(() => postgres.stop());
  const { deployment, chain } = stage;
  const services = await startKilledServices(postgres.server, {
    deployment,
    rpcUrl: pruned?.url ?? chain.rpcUrl,
  });
  const clients = [...FINALITIES, "instant" as const].map(
    (finality) => new FoldingClient(finality, () => services.url),
  );
  onTestFinished(() => {
    for (const client of clients) client.stop();
  });
  return { stage, services, clients, random: new Random(seed) };
}

/** The new branch has none, all or the first of the transactions: with gaps, the nonces of their senders would not fit. */
async function fork({ stage, random }: Run): Promise<void> {
  const depth = 1 + random.below(FINALITY_DEPTH - 1);
  const percent = [0, 80, 100][random.below(3)] ?? 0;
  let isKept = true;
  const replay = () => {
    isKept &&= random.chance(percent);
    return isKept;
  };
  await stage.chain.reorg(depth, { replay, blocks: depth + random.below(3) });
}

async function strike(
  { services, clients, random }: Run,
  disaster: (typeof DISASTERS)[number],
): Promise<void> {
  await pause(random.below(300));
  if (disaster === "api") await services.killApi();
  else if (disaster === "indexer") await services.killIndexer();
  else if (disaster === "database") await services.killDatabase();
  else if (disaster === "rebuild") await services.rebuild();
  else if (disaster === "everything") {
    await Promise.all([services.killApi(), services.killIndexer(), services.killDatabase()]);
  } else {
    for (const client of clients) if (random.chance(70)) client.leave();
    await pause(random.below(1_000));
    for (const client of clients) client.comeBack();
  }
}

/** The chain grows and forks while something is struck. */
async function runRound(run: Run, disaster: (typeof DISASTERS)[number]): Promise<void> {
  const { stage, random } = run;
  await stage.runSteps(6 + random.below(6));
  const act = async () => {
    await fork(run);
    await stage.runSteps(3 + random.below(4));
    if (random.chance(50)) await fork(run);
  };
  await Promise.all([strike(run, disaster), act()]);
}

/** One undo for certain: the client has the head, and the chain forks below it. */
async function undoOnce({ stage, clients }: Run): Promise<void> {
  await stage.runSteps(25);
  const { number } = await stage.head();
  const instant = clients.filter(({ finality }) => finality === "instant");
  await vi.waitFor(() => {
    for (const { connections } of clients) expect(connections).toBe(1);
    for (const { model } of instant) expect(model.complete).toBe(number);
  }, PATIENCE);
  await stage.chain.reorg(3, { replay: "none", blocks: 4 });
  await vi.waitFor(() => {
    for (const { model } of instant) expect(model.undoCount).toBe(1);
  }, PATIENCE);
}

/** Compares what each client holds with the rows as of the block of its last progress. */
async function expectClientsEqualRows({ stage, services, clients }: Run): Promise<void> {
  const head = await stage.head();
  const { database, url } = services;
  const position = await vi.waitFor(async () => {
    const checkpoint = await readCheckpoint(database);
    expect(checkpoint?.block.hash).toBe(head.hash);
    return checkpoint;
  }, PATIENCE);
  const chain = await readModelEvents(stage.chain.request, stage.local);
  const { rows } = await database.query<{ id: string; number: string }>(
    "select '0x' || encode(b.hash, 'hex') || '-' || l.log_index as id, b.number from logs l join blocks b on b.number = l.block_number order by l.block_number, l.log_index",
  );
  expect(rows).toHaveLength(chain.length);
  for (const client of clients) {
    const { model, finality } = client;
    // No node of this chain calls more safe than final.
    const upTo = finality === "instant" ? head.number : (position?.finalized ?? 0);
    await vi.waitFor(() => {
      client.assertSound();
      expect(model.complete, finality).toBe(upTo);
    }, PATIENCE);
    const ids = rows.filter(({ number }) => Number(number) <= upTo).map(({ id }) => id);
    expect(model.ids, finality).toEqual(ids);
    const events = client.toModelEvents(chain);
    await compare({ database }, events, [upTo]);
    await expectApiEqualsModel(url, foldIntoModel(events, upTo), upTo);
    if (finality === "finalized") expect(model.undoCount).toBe(0);
  }
}

/** The lists of the API as of the block; what a record has alongside the columns of its row is derived. */
async function expectApiEqualsModel(url: string, model: ReadModel, block: number): Promise<void> {
  for (const [path, { key, id }] of Object.entries(LIST_SHAPES)) {
    const rows = new Map(model.rows(key).map((row) => [String(row[id]), row]));
    const records = await readList(`${url}${path}?block=${block}&limit=100`, key);
    expect(records.map((record) => String(record[id])).sort(), path).toEqual([...rows.keys()].sort());
    for (const record of records) {
      const row = rows.get(String(record[id])) ?? {};
      // An open intent past its deadline is shown as expired.
      const names = Object.keys(record).filter((name) => name in row && name !== "status");
      const textsOf = (from: PlainRow) => names.map((name) => `${name} ${from[name]}`);
      expect(textsOf(record), path).toEqual(textsOf(row));
    }
  }
}

async function readList(first: string, key: string): Promise<readonly PlainRow[]> {
  const records: PlainRow[] = [];
  for (let url = first; ; ) {
    const response = await fetch(url);
    expect(response.status, url).toBe(200);
    const page = (await response.json()) as Record<string, PlainRow[]> & {
      pagination: { next_cursor?: string };
    };
    records.push(...(page[key] ?? []));
    if (page.pagination.next_cursor === undefined) return records;
    url = `${first}&cursor=${page.pagination.next_cursor}`;
  }
}

it.each(casesOf(chooseSeed(), ...FIXED_SEEDS))(
  "clients that fold the stream hold the rows of the API, with seed %i",
  async (seed) => {
    const run = await openRun(seed);
    await undoOnce(run);
    const left = [...DISASTERS];
    while (left.length > 0) {
      const [disaster = "clients"] = left.splice(run.random.below(left.length), 1);
      await runRound(run, disaster);
      if (left.length === 3) await expectClientsEqualRows(run);
    }
    // Most of it becomes final, so that there is much to compare there.
    await run.stage.chain.mine(FINALITY_DEPTH / 2);
    await expectClientsEqualRows(run);
    for (const client of run.clients) expect(client.connections).toBeGreaterThan(1);
  },
  SEED_MS_MAX,
);
