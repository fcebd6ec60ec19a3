// How fast a backfill is, held against what reading alone and writing alone could do at the same moment.
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { to as copyTo } from "pg-copy-streams";
import { createLogDecoder } from "../src/protocol/decode-logs.ts";
import { tables } from "../src/protocol/domains.ts";
import type { BackfillReport, BackfillTask } from "./backfill/backfill-child.ts";
import { type BenchServer, openBenchDatabase, startBenchServer } from "./backfill/bench-database.ts";
import type { CopyReport, CopyTask, DumpedTable } from "./backfill/copy-child.ts";
import { drainNode, type Served } from "./backfill/node-speed.ts";
import type { ReadReport, ReadTask } from "./backfill/read-child.ts";
import { historyChain } from "./history/history.ts";
import {
  type Bench,
  type BenchOptions,
  grouped,
  type Measurement,
  percent,
  perSecond,
} from "./measurement.ts";
import type { ReplayNodeReady } from "./replay-node-child.ts";
import { type Child, startChild } from "./start-child.ts";
import { tell } from "./tell.ts";

const SCHEMA = "sextant";
const COPY_SCHEMA = "sextant_copy";
const FULL_EVENTS = 1_000_000;
// The best of each counts: what else the machine does between two measurements only ever makes them slower.
const ROUNDS = 2;
// Where time per event is looked at; the stretch before each of them is what is timed.
const FLAT_AT = [50_000, 200_000, 1_000_000];
const FLAT_STRETCH = 50_000;

export const backfillBench: Bench = {
  name: "backfill",
  async run(options) {
    const children: Child[] = [];
    const start: Start = (name, file, args, node = []) => {
      const child = startChild({ name, file: new URL(file, import.meta.url), args, node });
      children.push(child);
      return child;
    };
    const server = await startBenchServer();
    try {
      const measured = await measure(options, server, start);
      return options.full ? [...measured, ...(await measureLong(options, server, start))] : measured;
    } finally {
      for (const child of children) await child.stop();
      await server.stop();
    }
  },
};

type Start = (name: string, file: string, args: readonly string[], node?: readonly string[]) => Child;

async function measure(
  options: BenchOptions,
  server: BenchServer,
  start: Start,
): Promise<readonly Measurement[]> {
  const { seed, events } = options;
  const { node, stop } = await startNode(start, seed, events);
  const served = await drain(node, seed);
  const task = { url: node.url, seed, head: node.head };
  const rounds: Round[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    tell(`round ${round} of ${ROUNDS}`);
    const readTask: ReadTask = task;
    const read = await run<ReadReport>(start, "reading", "read", readTask);
    const filled = await fill(start, server, options, { ...task, events: node.events });
    const dumped = await dump(server);
    const place = { connection: server.connection, schema: COPY_SCHEMA };
    const copyTask: CopyTask = { ...place, dumped, batches: filled.batches };
    const copied = await run<CopyReport>(start, "copying", "copy", copyTask);
    await dropSchemas(server, [SCHEMA, COPY_SCHEMA]);
    rounds.push({ read, filled, copied });
  }
  await stop();
  return [
    ...summary(rounds),
    {
      what: "node alone",
      value: grouped(perSecond(node.events, served.ms)),
      note: `logs/s served and thrown away, ${grouped(served.bytes / 2 ** 20)} MiB`,
    },
  ];
}

/** A history so long that whatever grows with it shows. */
async function measureLong(
  options: BenchOptions,
  server: BenchServer,
  start: Start,
): Promise<readonly Measurement[]> {
  const { node, stop } = await startNode(start, options.seed, FULL_EVENTS);
  const { url, events, head } = node;
  const filled = await fill(start, server, options, { url, seed: options.seed, head, events });
  await stop();
  return [
    {
      what: `events/s over ${grouped(events)}`,
      value: grouped(perSecond(filled.events, filled.ms)),
      note: `peak memory ${grouped(filled.rssBytesMax / 2 ** 20)} MiB`,
    },
    ...flatness(filled),
  ];
}

type Round = { readonly read: ReadReport; readonly filled: BackfillReport; readonly copied: CopyReport };

async function startNode(
  start: Start,
  seed: number,
  events: number,
): Promise<{ node: ReplayNodeReady; stop(): Promise<void> }> {
  const child = start("node", "replay-node-child.ts", [String(seed), String(events)]);
  const node = await child.next<ReplayNodeReady>();
  tell(`the node serves ${grouped(node.events)} events, ${grouped(node.bytes / 2 ** 20)} MiB`);
  return { node, stop: () => child.stop() };
}

async function run<T>(
  start: Start,
  name: string,
  file: "read" | "copy" | "backfill",
  task: object,
  node: readonly string[] = [],
): Promise<T> {
  const child = start(name, `backfill/${file}-child.ts`, [JSON.stringify(task)], node);
  const report = await child.next<T>();
  await child.stop();
  return report;
}

function fill(
  start: Start,
  { connection }: BenchServer,
  { profileFolder }: BenchOptions,
  history: Omit<BackfillTask, "connection" | "schema">,
): Promise<BackfillReport> {
  const task: BackfillTask = { ...history, connection, schema: SCHEMA };
  const profile = profileFolder === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
  return run(start, "backfill", "backfill", task, profile);
}

function drain(node: ReplayNodeReady, seed: number): Promise<Served> {
  const { deployment } = historyChain(seed);
  const { addresses, topics0, anyEmitterTopics0 } = createLogDecoder(deployment);
  const filters = [{ address: addresses, topics: [topics0] }, { topics: [anyEmitterTopics0] }];
  return drainNode(node.url, { from: deployment.startBlock, to: node.head }, filters);
}

function summary(rounds: readonly Round[]): Measurement[] {
  const best = <T extends { readonly ms: number }>(reports: readonly T[]): T =>
    reports.reduce((one, other) => (other.ms < one.ms ? other : one));
  const filled = best(rounds.map((round) => round.filled));
  const read = best(rounds.map((round) => round.read));
  const copied = best(rounds.map((round) => round.copied));
  const rssBytesMax = Math.max(...rounds.map((round) => round.filled.rssBytesMax));
  const rate = perSecond(filled.events, filled.ms);
  const reading = perSecond(read.events, read.ms);
  const copying = perSecond(filled.events, copied.ms);
  return [
    {
      what: "events/s",
      value: grouped(rate),
      note: `${grouped(filled.events)} events, best of ${rounds.length} rounds`,
    },
    {
      what: "  of reading alone",
      value: percent(rate, reading),
      note: `${grouped(reading)} events/s read and decoded`,
    },
    {
      what: "  of copying alone",
      value: percent(rate, copying),
      note: `${grouped(copying)} events/s copied`,
    },
    {
      what: "  of the lower ceiling",
      value: percent(rate, Math.min(reading, copying)),
      note: "aim: 50 % or more",
    },
    {
      what: "peak memory",
      value: `${grouped(rssBytesMax / 2 ** 20)} MiB`,
      note: "the indexer's process; aim: below 500",
    },
    {
      what: "rows per event",
      value: (copied.rows / filled.events).toFixed(2),
      note: `raw logs and blocks included, in ${filled.batches} transactions`,
    },
    {
      what: "CPU per event",
      value: perEvent(filled.cpuMs, filled.events),
      note: `the indexer's process; ${perEvent(read.cpuMs, read.events)} when it only reads`,
    },
    ...flatness(filled),
  ];
}

function flatness({ events, marks }: BackfillReport): Measurement[] {
  return FLAT_AT.filter((at) => at <= events).map((at) => ({
    what: `time per event at ${grouped(at)}`,
    value: perEvent(...stretch(marks, at)),
    note: `the ${grouped(FLAT_STRETCH)} before it; aim: flat`,
  }));
}

function perEvent(ms: number, events: number): string {
  return `${((ms * 1000) / events).toFixed(1)} µs`;
}

/** How long the events before a point took, and how many they were. */
function stretch(marks: BackfillReport["marks"], at: number): [ms: number, events: number] {
  const before = marks.findLast(({ events }) => events <= at - FLAT_STRETCH) ?? { events: 0, ms: 0 };
  const after = marks.find(({ events }) => events >= at) ?? marks.at(-1) ?? before;
  return [after.ms - before.ms, after.events - before.events];
}

/** Every table as COPY writes it, in the order in which the rows lie there. */
async function dump({ connection, folder }: BenchServer): Promise<DumpedTable[]> {
  const database = await openBenchDatabase({ connection, schema: SCHEMA });
  const client = await database.connect("dump", { statementTimeoutMs: 0 });
  try {
    const dumped: DumpedTable[] = [];
    for (const name of [...tables.map((table) => table.name), "logs", "blocks"]) {
      const file = join(folder, `${name}.copy`);
      await pipeline(client.query(copyTo(`copy ${name} to stdout`)), createWriteStream(file));
      dumped.push({ name, file });
    }
    return dumped;
  } finally {
    await client.end();
    await database.close();
  }
}

async function dropSchemas({ connection }: BenchServer, schemas: readonly string[]): Promise<void> {
  const database = await openBenchDatabase({ connection, schema: SCHEMA });
  try {
    for (const schema of schemas) {
      await database.transaction((session) => session.query(`drop schema if exists ${schema} cascade`));
    }
  } finally {
    await database.close();
  }
}
