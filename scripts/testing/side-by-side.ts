// Runs suites that mostly wait for processes two at a time: they need no more than the two cores of a runner.
import { spawn } from "node:child_process";
import { findRun, type SuiteRun } from "./recorded-runs.ts";
import { SUITES, type SuiteName } from "./suites.ts";

export type PlannedSuite = { readonly suite: SuiteName; readonly args: readonly string[] };

/**
 * The most expensive first. What that one prints is shown at once; what the others print, each at its end. Each suite is
 * a process of its own, so that its processor time is known.
 */
export async function runSideBySide(planned: readonly PlannedSuite[]): Promise<readonly SuiteRun[]> {
  const [first, second, ...others] = [...planned].sort(
    (left, right) => SUITES[right.suite].budgetSeconds - SUITES[left.suite].budgetSeconds,
  );
  if (first === undefined) return [];
  const runs: SuiteRun[] = [];
  /** Takes the next suite whenever one has ended. */
  const runInTurn = async (run: Promise<SuiteRun> | null) => {
    for (let next = run; next !== null; ) {
      runs.push(await next);
      const plan = others.shift();
      next = plan === undefined ? null : runUnseen(plan);
    }
  };
  await Promise.all([runInTurn(runShown(first)), runInTurn(second === undefined ? null : runUnseen(second))]);
  return runs;
}

async function runUnseen(plan: PlannedSuite): Promise<SuiteRun> {
  const output: Buffer[] = [];
  const child = startSuite(plan, "pipe");
  child.stdout?.on("data", (data: Buffer) => void output.push(data));
  child.stderr?.on("data", (data: Buffer) => void output.push(data));
  const run = await whenEnded(plan, child);
  process.stdout.write(`\n== ${plan.suite}\n${Buffer.concat(output).toString()}`);
  return run;
}

function runShown(plan: PlannedSuite): Promise<SuiteRun> {
  process.stdout.write(`\n== ${plan.suite}\n`);
  return whenEnded(plan, startSuite(plan, "inherit"));
}

type Child = ReturnType<typeof startSuite>;

function startSuite({ suite, args }: PlannedSuite, stdio: "inherit" | "pipe") {
  return spawn(process.execPath, ["--import", "tsx", "scripts/test-suite.ts", suite, ...args], {
    stdio: ["ignore", stdio, stdio],
  });
}

async function whenEnded({ suite }: PlannedSuite, child: Child): Promise<SuiteRun> {
  const started = performance.now();
  await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return findRun(suite) ?? failedRun(suite, (performance.now() - started) / 1000);
}

/** For a process that ended before it could record what it ran. */
function failedRun(suite: SuiteName, wallSeconds: number): SuiteRun {
  const nothing = { passed: 0, skipped: 0, unstable: [], failures: [], files: [] };
  return { suite, ...nothing, failed: 1, wallSeconds, processorSeconds: 0, slowness: 1 };
}
