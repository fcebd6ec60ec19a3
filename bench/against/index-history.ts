// Indexes a history with the `sextant indexer` of one version, as its users start it, and takes its costs.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { readPeakBytes, readTreeCpuMs } from "../harness/process-costs.ts";
import { createProgressLog } from "../harness/progress.ts";
import type { ProgramOfVersion } from "./program-of-version.ts";
import type { RunDatabase } from "./run-database.ts";

type HistoryToIndex = {
  readonly nodeUrl: string;
  readonly head: number;
  /** The file that NETWORK names; the process runs in its folder. */
  readonly deploymentFile: string;
  readonly folder: string;
};

/** Costs that the system does not show are null. */
export type IndexingCosts = {
  readonly ms: number;
  /** The part of `ms` until the process listens. */
  readonly startMs: number;
  readonly cpuMs: number | null;
  readonly startCpuMs: number | null;
  readonly peakBytes: number | null;
  readonly databaseCpuMs: number | null;
  readonly walBytes: number;
  readonly storedBytes: number;
  readonly rowsWritten: number;
  /** Null if this version stores its blocks otherwise. */
  readonly events: number | null;
};

const SCHEMA = "sextant";
const LISTENING = /"url":"(http:[^"]+)"/;
const POLL_MS = 50;
// Far longer than any history that is compared.
const RUN_MS_MAX = 3_600_000;
const OUTPUT_SHOWN = 2_000;
const UNDEFINED = ["42P01", "3F000"];

export async function indexHistory(
  version: ProgramOfVersion,
  history: HistoryToIndex,
  database: RunDatabase,
): Promise<IndexingCosts> {
  const before = await database.readCosts();
  const bytesBefore = await readDatabaseBytes(database);
  const startedMs = performance.now();
  const indexer = startIndexer(version, history, database.url);
  try {
    const pid = indexer.child.pid ?? 0;
    const url = await indexer.listening;
    const startMs = performance.now() - startedMs;
    const startCpuMs = readTreeCpuMs(pid);
    await waitUntilIndexed(indexer, url, { head: history.head, database, name: version.name });
    const ms = performance.now() - startedMs;
    const [cpuMs, peakBytes] = [readTreeCpuMs(pid), readPeakBytes(pid)];
    // A stopping process may still write; its sessions report their rows when they end.
    await indexer.stop();
    const after = await database.readCosts();
    return {
      ms,
      startMs,
      cpuMs,
      startCpuMs,
      peakBytes,
      databaseCpuMs: after.cpuMs === null || before.cpuMs === null ? null : after.cpuMs - before.cpuMs,
      walBytes: after.walBytes - before.walBytes,
      storedBytes: (await readDatabaseBytes(database)) - bytesBefore,
      rowsWritten: await countRowsWritten(database),
      events: await countEvents(database),
    };
  } finally {
    await indexer.stop();
  }
}

type Indexer = {
  readonly child: ChildProcess;
  /** The URL of its status; rejects with its output if it ends before. */
  readonly listening: Promise<string>;
  describeEnd(): string | null;
  stop(): Promise<void>;
};

function startIndexer(
  { folder, program }: ProgramOfVersion,
  { nodeUrl, deploymentFile, folder: cwd }: HistoryToIndex,
  databaseUrl: string,
): Indexer {
  const child = spawn(process.execPath, [...program, "indexer"], {
    cwd,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: cwd,
      NETWORK: deploymentFile,
      RPC_URL: nodeUrl,
      DATABASE_URL: databaseUrl,
      DATABASE_SCHEMA: SCHEMA,
      // There is one node, and an audit at a random moment would be charged to one of the versions.
      INDEXER_PORT: "0",
      SEXTANT_COMPARED_PERCENT: "0",
      SEXTANT_AUDIT_SECONDS: "0",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let isEnded = false;
  const ended = once(child, "close").then(() => {
    isEnded = true;
  });
  const describeEnd = () =>
    isEnded ? `the indexer in ${folder} ended: ${output.slice(-OUTPUT_SHOWN)}` : null;
  const listening = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-2 * OUTPUT_SHOWN);
        const [, url] = LISTENING.exec(output) ?? [];
        if (url !== undefined) resolve(url);
      });
    }
    ended.then(() => reject(new Error(describeEnd() ?? "")), reject);
  });
  return {
    child,
    listening,
    describeEnd,
    async stop() {
      if (!isEnded) child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Until the last block is stored and the process reports that it is ready: it may have indexes to build. */
async function waitUntilIndexed(
  indexer: Indexer,
  url: string,
  { head, database, name }: { readonly head: number; readonly database: RunDatabase; readonly name: string },
): Promise<void> {
  const progress = createProgressLog(name);
  for (const untilMs = performance.now() + RUN_MS_MAX; performance.now() < untilMs; await sleep(POLL_MS)) {
    const end = indexer.describeEnd();
    if (end !== null) throw new Error(end);
    const block = await readIndexedBlock(database);
    progress(() => `block ${block} of ${head}`);
    if (block >= head && (await isReady(url))) return;
  }
  throw new Error(`the ${name} version had not indexed block ${head} in time`);
}

async function readIndexedBlock(database: RunDatabase): Promise<number> {
  try {
    const [row] = await database.query<{ block: string }>(
      `select block_number as block from ${SCHEMA}.checkpoint`,
    );
    return Number(row?.block ?? 0);
  } catch (error) {
    // The indexer has not made its tables yet.
    if (UNDEFINED.includes((error as { code?: string }).code ?? "")) return 0;
    throw error;
  }
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/ready`);
  await response.arrayBuffer();
  return response.status === 200;
}

async function readDatabaseBytes(database: RunDatabase): Promise<number> {
  const [row] = await database.query<{ bytes: string }>(
    "select pg_database_size(current_database()) as bytes",
  );
  return Number(row?.bytes);
}

async function countRowsWritten(database: RunDatabase): Promise<number> {
  const [row] = await database.query<{ written: string }>(
    "select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) as written from pg_stat_user_tables",
  );
  return Number(row?.written);
}

async function countEvents(database: RunDatabase): Promise<number | null> {
  try {
    const [row] = await database.query<{ events: string }>(
      `select sum(log_count) as events from ${SCHEMA}.blocks`,
    );
    return Number(row?.events);
  } catch {
    return null;
  }
}
