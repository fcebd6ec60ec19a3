// How fast a backfill is, held against what reading alone and writing alone could do at the same moment.
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { to as copyTo } from "pg-copy-streams";
import { tables } from "../src/protocol/domains.ts";
import type { BackfillReport, BackfillTask } from "./backfill/backfill-child.ts";
import { type BenchServer, openBenchDatabase, startBenchServer } from "./backfill/bench-database.ts";
import type { CopyReport, CopyTask, DumpedTable } from "./backfill/copy-child.ts";
import type { ReadReport, ReadTask } from "./backfill/read-child.ts";
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
const FULL_EVENTS = 1_000_000;
// Where time per event is looked at; the stretch before each of them is what is timed.
const FLAT_AT = [50_000, 200_000, 1_000_000];
const FLAT_STRETCH = 50_000;

export const backfillBench: Bench = {
  name: "backfill",
  async run(options) {
    const history = options.full ? Math.max(options.events, FULL_EVENTS) : options.events;
    const children: Child[] = [];
    const start = (name: string, file: string, args: readonly string[], node: readonly string[] = []) => {
      const child = startChild({ name, file: new URL(file, import.meta.url), args, node });
      children.push(child);
      return child;
    };
    const server = await startBenchServer();
    try {
      return await measure(options, history, server, start);
    } finally {
      for (const child of children) await child.stop();
      await server.stop();
    }
  },
};

type Start = (name: string, file: string, args: readonly string[], node?: readonly string[]) => Child;

async function measure(
  options: BenchOptions,
  history: number,
  server: BenchServer,
  start: Start,
): Promise<readonly Measurement[]> {
  const { seed, profileFolder } = options;
  const node = await start("node", "replay-node-child.ts", [
    String(seed),
    String(history),
  ]).next<ReplayNodeReady>();
  tell(`the node serves ${grouped(node.events)} events, ${grouped(node.bytes / 2 ** 20)} MiB`);
  const place = { connection: server.connection, schema: SCHEMA };
  const profile = profileFolder === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
  const run = <T>(name: string, file: string, task: object, flags: readonly string[] = []) =>
    start(name, file, [JSON.stringify(task)], flags).next<T>();

  const readTask: ReadTask = { url: node.url, seed, head: node.head };
  const read = await run<ReadReport>("reading", "backfill/read-child.ts", readTask);
  const task: BackfillTask = { ...place, url: node.url, seed, events: node.events, head: node.head };
  const filled = await run<BackfillReport>("backfill", "backfill/backfill-child.ts", task, profile);
  const dumped = await dump(server);
  const copyTask: CopyTask = { ...place, schema: `${SCHEMA}_copy`, dumped, batches: filled.batches };
  const copied = await run<CopyReport>("copying", "backfill/copy-child.ts", copyTask);
  return summary(filled, read, copied);
}

function summary(filled: BackfillReport, read: ReadReport, copied: CopyReport): Measurement[] {
  const rate = perSecond(filled.events, filled.ms);
  const reading = perSecond(read.events, read.ms);
  const copying = perSecond(filled.events, copied.ms);
  const lower = Math.min(reading, copying);
  const each = (ms: number, events: number) => `${((ms * 1000) / events).toFixed(1)} µs`;
  return [
    { what: "events/s", value: grouped(rate), note: `${grouped(filled.events)} events` },
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
    { what: "  of the lower ceiling", value: percent(rate, lower), note: "aim: 50 % or more" },
    {
      what: "peak memory",
      value: `${grouped(filled.rssBytesMax / 2 ** 20)} MiB`,
      note: "the indexer's process; aim: below 500",
    },
    {
      what: "rows per event",
      value: (copied.rows / filled.events).toFixed(2),
      note: `raw logs and blocks included, in ${filled.batches} transactions`,
    },
    {
      what: "CPU per event",
      value: each(filled.cpuMs, filled.events),
      note: `the indexer's process; ${each(read.cpuMs, read.events)} when it only reads`,
    },
    ...FLAT_AT.filter((at) => at <= filled.events + FLAT_STRETCH).map((at) => ({
      what: `time per event at ${grouped(at)}`,
      value: each(...stretch(filled.marks, at)),
      note: `the ${grouped(FLAT_STRETCH)} before it; aim: flat`,
    })),
  ];
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
