// Command line: plays the economy on a fresh local chain and prints how often each event of the protocol occurred.
import { parseArgs } from "node:util";
import { startDeployedChain } from "./deployed-chain.ts";
import { reportProgress } from "./progress.ts";
import { countEvents, type EventCount, missingEvents, readEvents } from "./read-events.ts";
import { runSimulator, SIMULATOR_ACTIONS } from "./simulator.ts";

const USAGE = `Usage: npm run economy -- [--steps 2000] [--seed 1]

Plays ${SIMULATOR_ACTIONS.length} kinds of moves on a local chain of its own, then prints how often each event
of each contract occurred. The same seed gives the same history and the same table.

  --steps  how many moves to play (1 to 1000000)
  --seed   where chance starts (0 to 4294967295)
  --help   this text
`;

/** A run of a million keeps a few gigabytes of chain in memory; more belongs on a real node. */
const STEPS_MAX = 1_000_000;
const SEED_MAX = 2 ** 32 - 1;

function readInteger(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`--${name} takes a whole number from ${min} to ${max}, not "${text}"`);
}

function table(counts: readonly EventCount[]): string {
  const width = Math.max(...counts.map(({ contract, event }) => contract.length + event.length + 1));
  const rows = counts.map(({ contract, event, count, never }) => {
    const name = `${contract}.${event}`.padEnd(width);
    return `${name}  ${never === undefined ? String(count).padStart(7) : `never: ${never}`}`;
  });
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return `${[...rows, `${"all events".padEnd(width)}  ${String(total).padStart(7)}`].join("\n")}\n`;
}

async function run(steps: number, seed: number): Promise<void> {
  const stop = new AbortController();
  // A second Ctrl-C finds no handler and ends the process at once.
  process.once("SIGINT", () => stop.abort());
  const { chain, deployment, world } = await startDeployedChain();
  try {
    const progress = reportProgress(process.stderr, world.counters);
    const played = await runSimulator({ world, seed, steps, signal: stop.signal, onStep: progress.step });
    progress.end();
    const counts = countEvents(await readEvents(chain.request, deployment));
    process.stdout.write(
      `${played} steps of seed ${seed}, ${world.counters.block} blocks\n\n${table(counts)}`,
    );
    const missing = missingEvents(counts);
    if (missing.length > 0) throw new Error(`These events did not occur: ${missing.join(", ")}`);
  } finally {
    await chain.stop();
  }
}

try {
  const { values } = parseArgs({
    options: {
      steps: { type: "string", default: "2000" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) process.stdout.write(USAGE);
  else
    await run(
      readInteger("steps", values.steps, 1, STEPS_MAX),
      readInteger("seed", values.seed, 0, SEED_MAX),
    );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
