// The report of the benchmark of replicas, with and without the processor time of the servers.
import { expect, it } from "vitest";
import type { ReadCell } from "../../bench/replicas/measure-reads.ts";
import type { WriterCell } from "../../bench/replicas/measure-writer.ts";
import { NO_LOAD } from "../../bench/replicas/observed-load.ts";
import { reportReplicas } from "../../bench/replicas/replica-report.ts";

const read = (own: Partial<ReadCell>): ReadCell => ({
  ...{ kind: "mixed", replicas: 0, requests: 10_000, ms: 1_000, cpuMs: 900 },
  ...{ primaryMs: 500, replicasMs: 0, primaryReads: 10_000 },
  ...own,
});
const writer = (replicas: number | null, ms: number): WriterCell => ({
  ...{ replicas, events: 10_000, ms, behindMs: 5 },
  observed: { ...NO_LOAD, ms },
});
const WRITES = [writer(null, 1_000), writer(0, 2_500), writer(1, 2_000)];
const ratiosOf = (reads: readonly ReadCell[]) =>
  reportReplicas(reads, WRITES).headlines.map(({ value, ratio }) => [value, ratio]);

it("compares with no replica, and computes when a core of the primary is full", () => {
  const one = read({ replicas: 1, requests: 9_000, primaryMs: 45, replicasMs: 500, primaryReads: 900 });
  expect(ratiosOf([read({}), one])).toEqual([
    ["9,000 req/s", "90 %"],
    ["200,000 req/s", "10.0 ×"],
    ["4,000 events/s", "40 %"],
    ["5,000 events/s", "50 %"],
  ]);
});

it("computes nothing if the system does not show processor time", () => {
  const unknown = { primaryMs: null, replicasMs: null };
  const reads = [read(unknown), read({ ...unknown, replicas: 1 })];
  expect(ratiosOf(reads)).toHaveLength(3);
  expect(reportReplicas(reads, WRITES).measurements[1]?.note).toContain(" - ");
});
