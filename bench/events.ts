// Event streams: memory of quiet clients, delay from commit to many clients at once, and what both cost the indexer.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiMemory, EventApiReady } from "./events/api-child.ts";
import type { Arrivals, ClientsTask } from "./events/clients-child.ts";
import { type ControlReady, runStep } from "./events/control.ts";
import type { Commit } from "./events/writer-child.ts";
import {
  type Bench,
  type BenchReport,
  formatGrouped,
  formatPercent,
  quantilesOf,
} from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { withServer } from "./harness/with-children.ts";

const SCHEMA = "sextant";
const IDLE_CLIENTS = 1_000;
const FULL_IDLE_CLIENTS = 5_000;
// Files that a process has open alongside its streams.
const OTHER_FILES = 200;
const ACTIVE_CLIENTS = 500;
const SLOW_CLIENTS = 20;
// 200 events a second, in blocks as a fast chain has them.
const EVENTS_PER_BLOCK = 20;
const PACE_MS = 100;
const SECONDS = 15;
const FULL_SECONDS = 60;
const FAST_BLOCKS = 300;
// The last block is on its way to the clients.
const SETTLE_MS = 2_000;

type Stage = { readonly api: EventApiReady; readonly clients: string; readonly writer: string };
type Delivered = {
  readonly delaysMs: readonly number[];
  readonly commitsMs: readonly number[];
  /** The messages that should have arrived, and did not. */
  readonly missing: number;
};
type Sizes = {
  readonly idle: number;
  readonly active: number;
  readonly seconds: number;
  readonly fast: number;
};

export const eventsBench: Bench = {
  name: "events",
  run: ({ full, scale }) =>
    withServer("embedded", async (start, { connection }) => {
      const place = { connection, schema: SCHEMA };
      const writer = await start("writer", "events/writer-child.ts", place).next<ControlReady>();
      const api = await start("api", "events/api-child.ts", place, ["--expose-gc"]).next<EventApiReady>();
      const task: ClientsTask = { url: api.url };
      const clients = await start("clients", "events/clients-child.ts", task).next<ControlReady>();
      const stage = { api, clients: clients.control, writer: writer.control };
      return await measure(stage, chooseSizes(full, scale ?? 1));
    }),
};

function chooseSizes(full: boolean, scale: number): Sizes {
  const wanted = Math.ceil((full ? FULL_IDLE_CLIENTS : IDLE_CLIENTS) * Math.min(scale, 1));
  const idle = Math.min(wanted, readFileLimit() - OTHER_FILES);
  if (idle < wanted)
    logProgress(`${idle} quiet clients instead of ${wanted}: the limit of open files forbids more`);
  return {
    idle,
    active: Math.max(10, Math.ceil(ACTIVE_CLIENTS * Math.min(scale, 1))),
    seconds: scale < 1 ? 2 : full ? FULL_SECONDS : SECONDS,
    fast: scale < 1 ? 20 : FAST_BLOCKS,
  };
}

/** If the system does not say, what most of them allow at least. */
function readFileLimit(): number {
  try {
    const [, soft] =
      /^Max open files +(\d+|unlimited)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft ?? 1_024);
  } catch {
    return 1_024;
  }
}

async function measure(stage: Stage, sizes: Sizes): Promise<BenchReport> {
  const { writer, clients } = stage;
  // The first blocks and streams load code and prepare statements.
  await openClients(stage, 20, 0);
  await deliver(stage, 20, 1);
  await runStep(clients, "close");
  const memory = await measureIdle(stage, sizes.idle);
  logProgress("commits without streams");
  const pace = { events: EVENTS_PER_BLOCK, paceMs: PACE_MS };
  const alone = await runStep<Commit[]>(writer, "write", {
    ...pace,
    blocks: (sizes.seconds * 1_000) / PACE_MS,
  });
  const fastAlone = await writeFast(stage, sizes.fast);
  logProgress(`${sizes.active} clients`);
  await openClients(stage, sizes.active, 0);
  const active = await deliver(stage, sizes.active, sizes.seconds);
  const fastActive = await writeFast(stage, sizes.fast);
  await sleep(SETTLE_MS);
  await runStep(clients, "arrivals");
  logProgress(`${sizes.active} clients next to ${SLOW_CLIENTS} that do not read`);
  await openClients(stage, SLOW_CLIENTS, SLOW_CLIENTS);
  const withSlow = await deliver(stage, sizes.active, sizes.seconds);
  // As on machines of their own: what is left is what streams cost the database.
  for (const control of [stage.api.control, clients]) await runStep(control, "background");
  const fastApart = await writeFast(stage, sizes.fast);
  const commitsMs = alone.map(({ tookMs }) => tookMs);
  return toReport({ sizes, memory, active, withSlow, commitsMs, fastAlone, fastActive, fastApart });
}

async function openClients({ clients }: Stage, count: number, slow: number): Promise<void> {
  await runStep(clients, "open", { count, slow });
}

/** Bytes of the API process for each quiet client. */
async function measureIdle({ api, clients }: Stage, count: number): Promise<ApiMemory> {
  logProgress(`${count} quiet clients`);
  const before = await runStep<ApiMemory>(api.control, "memory");
  await runStep(clients, "open", { count });
  await sleep(SETTLE_MS);
  const after = await runStep<ApiMemory>(api.control, "memory");
  await runStep(clients, "close");
  await sleep(SETTLE_MS);
  return {
    rssBytes: (after.rssBytes - before.rssBytes) / count,
    heapBytes: (after.heapBytes - before.heapBytes) / count,
  };
}

async function deliver({ clients, writer }: Stage, expected: number, seconds: number): Promise<Delivered> {
  await runStep(clients, "arrivals");
  const blocks = (seconds * 1_000) / PACE_MS;
  const pace = { events: EVENTS_PER_BLOCK, paceMs: PACE_MS };
  const commits = await runStep<Commit[]>(writer, "write", { ...pace, blocks });
  await sleep(SETTLE_MS);
  const arrivals = await runStep<Arrivals>(clients, "arrivals");
  const delaysMs: number[] = [];
  let missing = 0;
  for (const { block, committedMs } of commits) {
    const times = arrivals[block] ?? [];
    missing += Math.max(0, expected - times.length);
    for (const timeMs of times) delaysMs.push(timeMs - committedMs);
  }
  return { delaysMs, commitsMs: commits.map(({ tookMs }) => tookMs), missing };
}

/** Events a second, as fast as they can be written. */
async function writeFast({ writer }: Stage, blocks: number): Promise<number> {
  const startedMs = performance.now();
  await runStep(writer, "write", { blocks, events: EVENTS_PER_BLOCK });
  return (blocks * EVENTS_PER_BLOCK * 1_000) / (performance.now() - startedMs);
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
const RATE = (1_000 / PACE_MS) * EVENTS_PER_BLOCK;

type Found = {
  readonly sizes: Sizes;
  readonly memory: ApiMemory;
  readonly active: Delivered;
  readonly withSlow: Delivered;
  readonly commitsMs: readonly number[];
  readonly fastAlone: number;
  readonly fastActive: number;
  readonly fastApart: number;
};

function toReport(found: Found): BenchReport {
  const { sizes, memory, active, withSlow, fastAlone, fastActive, fastApart } = found;
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
  const [delays, slowed] = [quantilesOf(active.delaysMs), quantilesOf(withSlow.delaysMs)];
  const [alone, streamed] = [quantilesOf(found.commitsMs), quantilesOf(active.commitsMs)];
  const load = `${sizes.active} clients, ${RATE} events/s`;
  const measurements = [
    {
      what: "memory of a quiet client",
      value: kilobytes(memory.rssBytes),
      note: `resident, of ${sizes.idle}; heap and buffers ${kilobytes(memory.heapBytes)}`,
    },
    {
      what: "commit to client, median",
      value: ms(delays.medianMs),
      note: `${load}; until all events of the block are there`,
    },
    {
      what: "commit to client, p99",
      value: ms(delays.p99Ms),
      note: `${active.missing} deliveries later than ${SETTLE_MS / 1_000} s`,
    },
    {
      what: "the same next to clients that do not read, p99",
      value: ms(slowed.p99Ms),
      note: `${SLOW_CLIENTS} of them; ${withSlow.missing} later`,
    },
    { what: "a commit without streams, median", value: ms(alone.medianMs), note: `${RATE} events/s` },
    { what: "a commit with streams, median", value: ms(streamed.medianMs), note: load },
    { what: "events written as fast as possible, without streams", value: `${formatGrouped(fastAlone)} /s` },
    {
      what: "the same with streams",
      value: `${formatGrouped(fastActive)} /s`,
      note: "clients and API share the machine with the writer",
    },
    {
      what: "the same, with clients and API that yield the processor",
      value: `${formatGrouped(fastApart)} /s`,
      note: "as if they had machines of their own",
    },
  ];
  return { measurements, headlines: toHeadlines(found) };
}

function toHeadlines(found: Found): BenchReport["headlines"] {
  const { sizes, active, withSlow, fastAlone, fastActive, fastApart } = found;
  const [delays, slowed] = [quantilesOf(active.delaysMs), quantilesOf(withSlow.delaysMs)];
  const [alone, streamed] = [quantilesOf(found.commitsMs), quantilesOf(active.commitsMs)];
  return [
    {
      what: `p99 from commit to ${sizes.active} clients`,
      value: ms(slowed.p99Ms),
      ceiling: `${ms(delays.p99Ms)} without ${SLOW_CLIENTS} clients that do not read`,
      ratio: `${(slowed.p99Ms / delays.p99Ms).toFixed(2)} ×`,
      aim: null,
    },
    {
      what: "write rate next to streams on the same machine",
      value: `${formatGrouped(fastActive)} events/s`,
      ceiling: `${formatGrouped(fastAlone)} events/s without streams`,
      ratio: formatPercent(fastActive, fastAlone),
      aim: null,
    },
    {
      what: "write rate next to streams that yield the processor",
      value: `${formatGrouped(fastApart)} events/s`,
      ceiling: `${formatGrouped(fastAlone)} events/s without streams`,
      ratio: formatPercent(fastApart, fastAlone),
      aim: null,
    },
    {
      what: `a commit at ${RATE} events/s next to streams`,
      value: ms(streamed.medianMs),
      ceiling: `${ms(alone.medianMs)} without streams`,
      ratio: formatPercent(streamed.medianMs, alone.medianMs),
      aim: null,
    },
  ];
}
