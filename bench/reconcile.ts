// How many payments a second reconciliation follows until they are final, over a real chain and database.
import {
  type Bench,
  type BenchReport,
  chooseSize,
  formatGrouped,
  formatPerSecond,
} from "./harness/measurement.ts";
import { profileOptions, withServer } from "./harness/with-children.ts";
import type { ReconcileBenchReport, ReconcileBenchTask } from "./reconcile/reconcile-child.ts";
import type { SettledChain, SettledChainTask } from "./reconcile/settled-chain-child.ts";

const SCHEMA = "sextant";
// Ten payments a second on a chain with a block every two seconds.
const TASK: Omit<SettledChainTask, "blocks"> = { paymentsPerBlock: 20, delayMs: 20 };
const BLOCKS = { quick: 2, usual: 30, full: 300 };

export const reconcileBench: Bench = {
  name: "reconcile",
  run: (options) =>
    withServer("embedded", async (start, server) => {
      const chainTask: SettledChainTask = { ...TASK, blocks: chooseSize(options, BLOCKS) };
      const filled = start("settled chain", "reconcile/settled-chain-child.ts", chainTask);
      const chain = await filled.next<SettledChain>();
      const task: ReconcileBenchTask = { connection: server.connection, schema: SCHEMA, chain };
      const child = start(
        "reconcile",
        "reconcile/reconcile-child.ts",
        task,
        profileOptions(options.profileFolder),
      );
      const report = await child.next<ReconcileBenchReport>();
      await child.stop();
      return reportOf(report);
    }),
};

function reportOf(report: ReconcileBenchReport): BenchReport {
  const line = (what: string, { rows, ms, requests }: ReconcileBenchReport["watched"]) => ({
    what,
    value: `${formatGrouped(formatPerSecond(rows, ms))} rows/s`,
    note: `${formatGrouped(rows)} rows, ${formatGrouped(requests)} calls to a node ${TASK.delayMs} ms away`,
  });
  const measurements = [
    line("settled, not final yet: one look", report.watched),
    line("settled, then final", report.finalized),
    line("unknown, found on chain", report.found),
  ];
  const { rows, ms, requests } = report.finalized;
  const headline = {
    what: "payments reconciled until final",
    value: `${formatGrouped(formatPerSecond(rows, ms))} rows/s`,
    ceiling: "40 payments/s by one facilitator",
    ratio: `${(requests / rows).toFixed(2)} calls a row`,
    aim: { text: "200 rows/s or more", met: formatPerSecond(rows, ms) >= 200 },
  };
  return { measurements, headlines: [headline] };
}
