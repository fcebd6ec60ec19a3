// Purchases of processes that are killed and cut off at random, a thousand at full depth; crash.test.ts has each phase once.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import { chooseSeed, seededRandom } from "../support/seeded-random.ts";
import { runsOf } from "../support/test-depth.ts";
import { createTestFolder } from "../support/test-folder.ts";
import type { BuyerLine, BuyerTask, KillPhase } from "./buyer-child.ts";
import { startBuyer } from "./buyer-process.ts";
import { openClientStage, walletAt } from "./client-stage.ts";
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from "./faulty-proxy.ts";

/** `CRASH_RUNS` asks for another number, `TEST_SEED` for the phases and faults of another run. */
const RUNS = Number(process.env.CRASH_RUNS ?? runsOf(1_000, { min: 100 }));
/** The purchases of one process at once. */
const BATCH = 10;
const SEED = chooseSeed();
/** Most processes are killed, and each of them buys at most a batch. */
const KILLS_MIN = Math.floor(RUNS / BATCH / 2);
const MINUTES_MAX = 45 * Math.max(1, RUNS / 1_000);
const PHASES: readonly (KillPhase | null)[] = [
  "before-signing",
  "after-journal",
  "after-sending",
  "after-settlement",
  "before-body",
  null,
];
const FAULTS: readonly ProxyFault[] = ["none", "lose-request", "lose-response", "cut-body", "unavailable"];

type Lane = {
  readonly proxy: FaultyProxy;
  readonly task: Omit<BuyerTask, "purchases" | "kill" | "killAt">;
  /** In [0, 1). */
  readonly random: () => number;
  readonly runs: readonly number[];
};

/** One process after another over one journal: each finishes what the last one left, and is killed meanwhile. */
async function runLane({ proxy, task, random, runs }: Lane) {
  const delivered = new Map<string, BuyerLine>();
  const below = (end: number) => Math.floor(random() * end);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const kills: KillPhase[] = [];
  let phases: (KillPhase | null)[] = [];
  let left = [...runs];
  while (left.length > 0) {
    const purchases = left.slice(0, BATCH).map((run) => ({ address: walletAt(run), name: `run-${run}` }));
    // In rounds, so that a short run has every phase as well.
    if (phases.length === 0) phases = [...PHASES];
    const [kill = null] = phases.splice(below(phases.length), 1);
    const killAt = 1 + below(4);
    const buyer = startBuyer({ ...task, purchases, kill, killAt });
    proxy.plan = () => (random() < 0.3 ? pick(FAULTS) : "none");
    let settled = 0;
    proxy.onSettled = () => {
      settled += 1;
      if (kill === "after-settlement" && settled === killAt) buyer.child.kill("SIGKILL");
    };
    const { lines, err, signal } = await buyer.ended;
    expect(err).toBe("");
    if (signal === "SIGKILL" && kill !== null) kills.push(kill);
    for (const line of lines) if ("bought" in line) delivered.set(line.bought, line);
    left = left.filter((run) => !delivered.has(`run-${run}`));
    // A line that a crash has torn.
    if (below(10) === 0) appendFileSync(task.journal, '{"v":1,"type":"signed","id":"0x');
  }
  return { delivered, kills };
}

it(
  `killed buyers lose no response and pay none twice in ${RUNS} purchases (seed ${SEED})`,
  async () => {
    const folder = await createTestFolder();
    const stage = await openClientStage();
    const [proxy, payer] = [await startFaultyProxy(stage.url), await stage.payer(100n)];
    const file = join(folder, "payments.jsonl");
    const task = { portfolio: proxy.url, privateKey: payer.privateKey, journal: file, guard: stage.guard };
    const runs = Array.from({ length: RUNS }, (_, run) => run);
    const { delivered, kills } = await runLane({ proxy, task, random: seededRandom(SEED), runs });

    const { chain, ledger } = await stage.payments(payer.account.address);
    const journal = openFileJournal(file);
    const entries = (await journal.read()).list();
    await journal.close();
    expect(kills.length).toBeGreaterThanOrEqual(KILLS_MIN);
    if (RUNS >= PHASES.length * BATCH) {
      expect([...new Set(kills)].sort()).toEqual(PHASES.filter((phase) => phase !== null).sort());
    }
    expect(chain).toHaveLength(RUNS);
    expect(ledger).toEqual(chain);
    expect(entries.map(({ transaction }) => transaction).sort()).toEqual(chain);
    const bought = [...delivered.values()].map((line) => ("bought" in line ? line.transaction : null));
    expect(bought.sort()).toEqual(chain);
    await proxy.stop();
    await stage.close();
  },
  MINUTES_MAX * 60_000,
);
