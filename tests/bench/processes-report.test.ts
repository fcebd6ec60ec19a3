// The report of the benchmark of portfolio processes: each cell is compared with what it has more of.
import { expect, it } from "vitest";
import type { ProcessesCell } from "../../bench/portfolio/measure-processes.ts";
import { reportProcesses } from "../../bench/portfolio/processes-report.ts";

const cell = (own: Partial<ProcessesCell>): ProcessesCell => ({
  ...{ series: "processes", wallets: "different wallets", processes: 1, connections: 16 },
  ...{ snapshots: 100, ms: 2_000, cpuMs: 3_000, nodeCpuMs: 1_000, nodeRequests: 2_800 },
  ...own,
});

it("compares processes with one process, and requests with those of a snapshot that shares nothing", () => {
  const { headlines, measurements } = reportProcesses(
    [
      cell({}),
      cell({ processes: 2, snapshots: 180 }),
      cell({ wallets: "returning wallets", snapshots: 200 }),
      cell({ wallets: "returning wallets", processes: 2, snapshots: 300 }),
      cell({ wallets: "one wallet", snapshots: 10_000, nodeRequests: 200 }),
      cell({ wallets: "one wallet", processes: 2, snapshots: 10_000, nodeRequests: 400 }),
      cell({ series: "at once", connections: 1, snapshots: 10, nodeRequests: 280 }),
      cell({ series: "at once", connections: 64, nodeRequests: 2_800 }),
      cell({ series: "at once", connections: 1, wallets: "one wallet", snapshots: 1_000, nodeRequests: 200 }),
      cell({
        series: "at once",
        connections: 64,
        wallets: "one wallet",
        snapshots: 6_400,
        nodeRequests: 200,
      }),
    ],
    { delayMs: 20 },
  );
  expect(headlines.map(({ value, ceiling, ratio }) => [value, ceiling, ratio])).toEqual([
    ["90.0 a second", "50.0 by one process", "180 %"],
    ["150 a second", "100 by one process", "150 %"],
    ["200 a second", "100 by one process", "200 %"],
    ["28.0", "28.0 that shares nothing", "100 %"],
    ["0.031", "28.0 that shares nothing", "0 %"],
  ]);
  // Only two processes with wallets of their own have an aim.
  expect(headlines.map(({ aim }) => aim)).toEqual([
    { text: "100 or more", met: false },
    null,
    null,
    null,
    null,
  ]);
  expect(measurements).toHaveLength(11);
  expect(measurements[1]?.note).toContain("30.00 ms");
});
