// An export as a process of its own, so that its memory and time are its own.
import { runExport } from "../../src/export/run-export.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { rowDeclaration } from "../../src/protocol/domains.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";

export type ExportTask = BenchDatabaseTarget & {
  /** A new one. */
  readonly folder: string;
};

export type ExportReport = {
  readonly events: number;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  readonly largestFileBytes: number;
  readonly ms: number;
  readonly rssBytesMax: number;
};

const { folder, ...place } = JSON.parse(process.argv[2] ?? "") as ExportTask;
const database = await openBenchDatabase(place);
const startedMs = performance.now();
const {
  manifest: { files },
} = await runExport({
  database,
  declaration: rowDeclaration,
  folder,
  to: null,
  step: null,
  wholeRanges: false,
  log: benchLog,
  clock: systemClock,
  signal: new AbortController().signal,
});
const sum = (values: readonly number[]) => values.reduce((one, other) => one + other, 0);
const report: ExportReport = {
  events: sum(files.filter(({ table }) => table === "logs").map(({ rows }) => rows)),
  rows: sum(files.map(({ rows }) => rows)),
  files: files.length,
  bytes: sum(files.map(({ bytes }) => bytes)),
  largestFileBytes: Math.max(...files.map(({ bytes }) => bytes)),
  ms: performance.now() - startedMs,
  rssBytesMax: process.resourceUsage().maxRSS * 1024,
};
await database.close();
sendToParent(report);
