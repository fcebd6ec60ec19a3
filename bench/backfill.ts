// How fast a backfill is, held against what reading alone and writing alone could do at the same moment.
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { to as copyTo } from "pg-copy-streams";
import { createLogDecoder } from "../src/protocol/decode-logs.ts";
import { tables } from "../src/protocol/domains.ts";
import { compareBackfills } from "./against/compare-backfill.ts";
import type { BackfillReport } from "./backfill/backfill-child.ts";
import type { CopyReport, CopyTask, DumpedTable } from "./backfill/copy-child.ts";
import { measureNodeThroughput, type NodeThroughput } from "./backfill/node-speed.ts";
import type { ReadReport, ReadTask } from "./backfill/read-child.ts";
import { runBackfill, startReplayNodeChild } from "./backfill/run-backfill.ts";
import { type BenchServer, openBenchDatabase } from "./harness/bench-database.ts";
import type { RelayReady, RelayTask } from "./harness/delay-child.ts";
import {
  aimAtLeast,
  aimBelowMemoryMax,
  type Bench,
  type BenchOptions,
  type BenchReport,
  chooseSize,
  formatGrouped,
  formatMegabytes,
  formatMicroseconds,
  formatPercent,
  formatPerSecond,
  type Headline,
  MEMORY_BYTES_MAX,
  type Measurement,
} from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { profileOptions, type StartChild, withServer } from "./harness/with-children.ts";
import { historyChain } from "./history/history.ts";
import type { ReplayNodeReady } from "./history/replay-node-child.ts";

const SCHEMA = "sextant";
const COPY_SCHEMA = "sextant_copy";
// The least that says something about a backfill.
const EVENTS = 200_000;
// The best of each counts: what else the machine does between two measurements only ever makes them slower.
const ROUNDS = { quick: 1, usual: 3, full: 3 };
// A node of a vendor on another continent.
const DISTANT_NODE_MS = 80;
// The positions at which time per event is measured; the stretch before each of them is timed.
const FLAT_AT = [50_000, 200_000, 1_000_000];
const FLAT_STRETCH = 50_000;

export const backfillBench: Bench = {
  name: "backfill",
  anyDatabase: true,
  run: (options) => withServer(options.database, (start, server) => measure(options, server, start)),
  compare: compareBackfills,
};

async function measure(options: BenchOptions, server: BenchServer, start: StartChild): Promise<BenchReport> {
  const { seed, events, profileFolder } = options;
  const count = chooseSize(options, ROUNDS);
  const { node, stop } = await startReplayNodeChild(start, { seed, events: events ?? EVENTS });
  const served = await drain(node, seed);
  const task = { url: node.url, seed, head: node.head };
  const place = { connection: server.connection, schema: SCHEMA };
  const distant = await openDistantNode(start, node.url);
  const rounds: Round[] = [];
  for (let round = 1; round <= count; round += 1) {
    logProgress(`round ${round} of ${count}`);
    const readTask: ReadTask = task;
    const read = await run<ReadReport>(start, "reading", "read", readTask);
    const filled = await runBackfill(
      start,
      { ...task, ...place, events: node.events },
      profileOptions(profileFolder),
    );
    const dumped = await dump(server);
    const copyTask: CopyTask = { ...place, schema: COPY_SCHEMA, dumped, batches: filled.batches };
    const copied = await run<CopyReport>(start, "copying", "copy", copyTask);
    await dropSchemas(server, [SCHEMA, COPY_SCHEMA]);
    const afar = await runBackfill(start, { ...task, url: distant, ...place, events: node.events });
    await dropSchemas(server, [SCHEMA]);
    rounds.push({ read, filled, copied, afar });
  }
  await stop();
  const { measurements, headlines } = summary(rounds);
  const alone = {
    what: "node alone",
    value: formatGrouped(formatPerSecond(node.events, served.ms)),
    note: `logs/s served and thrown away, ${formatGrouped(served.bytes / 2 ** 20)} MiB`,
  };
  return { measurements: [...measurements, alone], headlines };
}

/** The URL of the same node behind a relay that holds everything back. */
async function openDistantNode(start: StartChild, url: string): Promise<string> {
  const address = new URL(url);
  const relayTask: RelayTask = { port: Number(address.port), roundTripMs: DISTANT_NODE_MS };
  const { port } = await start("relay", "harness/delay-child.ts", relayTask).next<RelayReady>();
  address.port = String(port);
  return address.href;
}

type Round = {
  readonly read: ReadReport;
  readonly filled: BackfillReport;
  readonly copied: CopyReport;
  /** From the distant node. */
  readonly afar: BackfillReport;
};

async function run<T>(start: StartChild, name: string, file: "read" | "copy", task: object): Promise<T> {
  const child = start(name, `backfill/${file}-child.ts`, task);
  const report = await child.next<T>();
  await child.stop();
  return report;
}

function drain(node: ReplayNodeReady, seed: number): Promise<NodeThroughput> {
  const { deployment } = historyChain(seed);
  const { addresses, topics0, anyEmitterTopics0 } = createLogDecoder(deployment);
  const filters = [{ address: addresses, topics: [topics0] }, { topics: [anyEmitterTopics0] }];
  return measureNodeThroughput(node.url, { from: deployment.startBlock, to: node.head }, filters);
}

type BestRound = Round & {
  readonly rounds: number;
  readonly rssBytesMax: number;
  /** Events per second. */
  readonly rate: number;
  readonly reading: number;
  readonly copying: number;
};

function summary(rounds: readonly Round[]): BenchReport {
  const fastest = <T extends { readonly ms: number }>(reports: readonly T[]): T =>
    reports.reduce((one, other) => (other.ms < one.ms ? other : one));
  const filled = fastest(rounds.map((round) => round.filled));
  const read = fastest(rounds.map((round) => round.read));
  const copied = fastest(rounds.map((round) => round.copied));
  const best: BestRound = {
    read,
    filled,
    copied,
    afar: fastest(rounds.map((round) => round.afar)),
    rounds: rounds.length,
    rssBytesMax: Math.max(...rounds.map((round) => round.filled.rssBytesMax)),
    rate: formatPerSecond(filled.events, filled.ms),
    reading: formatPerSecond(read.events, read.ms),
    copying: formatPerSecond(filled.events, copied.ms),
  };
  return { measurements: measurementsOf(best), headlines: headlinesOf(best) };
}

function headlinesOf({ rate, reading, copying, rssBytesMax, afar }: BestRound): Headline[] {
  const lower = Math.min(reading, copying);
  const afarRate = formatPerSecond(afar.events, afar.ms);
  return [
    {
      what: "events/s",
      value: formatGrouped(rate),
      ceiling: `${formatGrouped(lower)} ${copying < reading ? "copied" : "read and decoded"} alone`,
      ratio: formatPercent(rate, lower),
      aim: aimAtLeast(rate, lower, 50),
    },
    {
      // The ceiling that no database has a part in: what compares one database with another.
      what: "events/s against reading",
      value: formatGrouped(rate),
      ceiling: `${formatGrouped(reading)} read and decoded alone`,
      ratio: formatPercent(rate, reading),
      aim: null,
    },
    {
      what: `events/s, node ${DISTANT_NODE_MS} ms away`,
      value: formatGrouped(afarRate),
      ceiling: `${formatGrouped(rate)} from a local one`,
      ratio: formatPercent(afarRate, rate),
      aim: aimAtLeast(afarRate, rate, 80),
    },
    {
      what: "peak memory",
      value: formatMegabytes(rssBytesMax),
      ceiling: formatMegabytes(MEMORY_BYTES_MAX),
      ratio: formatPercent(rssBytesMax, MEMORY_BYTES_MAX),
      aim: aimBelowMemoryMax(rssBytesMax),
    },
  ];
}

function measurementsOf(best: BestRound): Measurement[] {
  const { filled, read, copied, rounds, rate, reading, copying, rssBytesMax } = best;
  return [
    {
      what: "events/s",
      value: formatGrouped(rate),
      note: `${formatGrouped(filled.events)} events, best of ${rounds} rounds`,
    },
    {
      what: "  of reading alone",
      value: formatPercent(rate, reading),
      note: `${formatGrouped(reading)} events/s read and decoded`,
    },
    {
      what: "  of copying alone",
      value: formatPercent(rate, copying),
      note: `${formatGrouped(copying)} events/s copied`,
    },
    {
      what: "  of the lower ceiling",
      value: formatPercent(rate, Math.min(reading, copying)),
      note: "aim: 50 % or more",
    },
    {
      what: "peak memory",
      value: formatMegabytes(rssBytesMax),
      note: `the indexer's process; aim: below ${formatMegabytes(MEMORY_BYTES_MAX)}`,
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
    what: `time per event at ${formatGrouped(at)}`,
    value: perEvent(...stretch(marks, at)),
    note: `the ${formatGrouped(FLAT_STRETCH)} before it; aim: flat`,
  }));
}

function perEvent(ms: number, events: number): string {
  return formatMicroseconds(ms / events, 1);
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
