// The second ceiling: the same rows and raw logs copied into the same tables and indexes, and nothing computed.
import { readFile } from "node:fs/promises";
import { tables } from "../../src/protocol/domains.ts";
import { encodeCopyLines } from "../../src/store/fast/copy-encoder.ts";
import { createRowIndexes, createRowTables } from "../../src/store/index/row-tables.ts";
import { type BenchDatabaseTarget, openBenchDatabase } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";

/** A table's rows as COPY wrote them out. */
export type DumpedTable = { readonly name: string; readonly file: string };

export type CopyTask = BenchDatabaseTarget & {
  readonly dumped: readonly DumpedTable[];
  /** In how many transactions: as many as the backfill needed. */
  readonly batches: number;
};

export type CopyReport = { readonly rows: number; readonly ms: number };

const NEWLINE = 10;

const task = JSON.parse(process.argv[2] ?? "") as CopyTask;
const database = await openBenchDatabase(task);
await database.transaction(async (session) => {
  await createRowTables(session, tables);
  await createRowIndexes(session, tables);
});
const parts = await Promise.all(
  task.dumped.map(async ({ name, file }) => ({ name, ...cut(await readFile(file), task.batches) })),
);
const progress = createProgressReporter();
let ms = 0;
for (let batch = 0; batch < task.batches; batch += 1) {
  const steps = parts.flatMap(({ name, pieces }) => {
    const piece = pieces[batch];
    return piece && piece.length > 0
      ? [{ copy: `copy ${name} from stdin`, messages: encodeCopyLines([piece.toString()]) }]
      : [];
  });
  const startedMs = performance.now();
  await database.transaction((session) => session.sendPipeline(steps));
  ms += performance.now() - startedMs;
  progress(() => `${batch + 1} of ${task.batches} batches`);
}
const report: CopyReport = { rows: parts.reduce((sum, { rows }) => sum + rows, 0), ms };
await database.close();
sendToParent(report);

function cut(bytes: Buffer, count: number): { rows: number; pieces: Buffer[] } {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(at + 1);
  const endOf = (batch: number): number => ends[Math.floor((batch * ends.length) / count) - 1] ?? 0;
  const pieces = Array.from({ length: count }, (_, batch) => bytes.subarray(endOf(batch), endOf(batch + 1)));
  return { rows: ends.length, pieces };
}
