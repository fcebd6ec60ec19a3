// The simulator command: runs on a new local chain and prints how often each protocol event occurred.
import { parseArgs } from "node:util";
import { startDeployedChain } from "./deployed-chain.ts";
import { type ProgressStream, reportProgress } from "./progress.ts";
import { countEvents, type EventCount, missingEvents, readEvents } from "./read-events.ts";
import { runSimulator, SIMULATOR_ACTIONS } from "./simulator.ts";

const USAGE = `Usage: npm run simulator -- [--steps 2000] [--seed 1]

Runs ${SIMULATOR_ACTIONS.length} kinds of actions on a local chain of its own, then prints how often each event
of each contract occurred. The same seed gives the same history and the same table.

  --steps  number of actions (1 to 1000000)
  --seed   seed of the random numbers (0 to 4294967295)
  --help   this text
`;

/** A million steps hold a few gigabytes of chain in memory; more belongs on a real node. */
const STEPS_MAX = 1_000_000;
const SEED_MAX = 2 ** 32 - 1;

export type SimulatorHost = {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressStream;
  /** Ends the run after the current action. */
  readonly interrupt: AbortSignal;
};

/** Resolves with the exit code. */
export async function runSimulatorCommand(args: readonly string[], host: SimulatorHost): Promise<number> {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        steps: { type: "string", default: "2000" },
        seed: { type: "string", default: "1" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) host.stdout.write(USAGE);
    else {
      const steps = readInteger("steps", values.steps, 1, STEPS_MAX);
      await runAndReport(steps, readInteger("seed", values.seed, 0, SEED_MAX), host);
    }
    return 0;
  } catch (error) {
    host.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

async function runAndReport(steps: number, seed: number, host: SimulatorHost): Promise<void> {
  const { chain, deployment, world } = await startDeployedChain();
  try {
    const progress = reportProgress(host.stderr, world.counters);
    const completed = await runSimulator({
      world,
      seed,
      steps,
      signal: host.interrupt,
      onStep: progress.step,
    });
    progress.end();
    const counts = countEvents(await readEvents(chain.request, deployment));
    host.stdout.write(
      `${completed} steps of seed ${seed}, ${world.counters.block} blocks\n\n${formatTable(counts)}`,
    );
    const missing = missingEvents(counts);
    if (missing.length > 0) throw new Error(`These events did not occur: ${missing.join(", ")}`);
  } finally {
    await chain.stop();
  }
}

function readInteger(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`--${name} takes a whole number from ${min} to ${max}, not "${text}"`);
}

function formatTable(counts: readonly EventCount[]): string {
  const width = Math.max(...counts.map(({ contract, event }) => contract.length + event.length + 1));
  const rows = counts.map(({ contract, event, count, never }) => {
    const name = `${contract}.${event}`.padEnd(width);
    return `${name}  ${never === undefined ? String(count).padStart(7) : `never: ${never}`}`;
  });
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return `${[...rows, `${"all events".padEnd(width)}  ${String(total).padStart(7)}`].join("\n")}\n`;
}
