// A thousand purchases of processes that are killed and cut off at random; crash.test.ts has each phase once.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { createTestFolder } from "../support/test-folder.ts";
import type { BuyerLine, BuyerTask, KillPhase } from "./buyer-child.ts";
import { compileBuyer } from "./buyer-process.ts";
import { openClientStage, walletAt } from "./client-stage.ts";
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from "./faulty-proxy.ts";

/** `CRASH_RUNS` asks for another number, `CRASH_SEED` for other phases and faults. */
const RUNS = Number(process.env.CRASH_RUNS ?? 1_000);
/** Of one process at once. */
const BATCH = 10;
const SEED = Number(process.env.CRASH_SEED ?? 20_261);
/** Fewer runs may meet fewer kills by chance. */
const KILLS_MIN = RUNS >= 1_000 ? RUNS / 10 : 0;
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
  readonly start: ReturnType<typeof compileBuyer>;
  readonly task: Omit<BuyerTask, "purchases" | "kill" | "killAt">;
  /** In [0, 1). */
  readonly random: () => number;
  readonly runs: readonly number[];
};

/** One process after another over one journal: each finishes what the last one left, and is killed meanwhile. */
async function runLane({ proxy, start, task, random, runs }: Lane) {
  const delivered = new Map<string, BuyerLine>();
  const below = (end: number) => Math.floor(random() * end);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  let kills = 0;
  let left = [...runs];
  while (left.length > 0) {
    const purchases = left.slice(0, BATCH).map((run) => ({ address: walletAt(run), name: `run-${run}` }));
    const kill = pick(PHASES);
    const killAt = 1 + below(4);
    const buyer = start({ ...task, purchases, kill, killAt });
    proxy.plan = () => (random() < 0.3 ? pick(FAULTS) : "none");
    let settled = 0;
    proxy.onSettled = () => {
      settled += 1;
      if (kill === "after-settlement" && settled === killAt) buyer.child.kill("SIGKILL");
    };
    const { lines, err, signal } = await buyer.ended;
    expect(err).toBe("");
    if (signal === "SIGKILL") kills += 1;
    for (const line of lines) if ("bought" in line) delivered.set(line.bought, line);
    left = left.filter((run) => !delivered.has(`run-${run}`));
    // A line that a crash has torn.
    if (below(10) === 0) appendFileSync(task.journal, '{"v":1,"type":"signed","id":"0x');
  }
  return { delivered, kills };
}

it(
  `loses no response and pays none twice in ${RUNS} purchases`,
  async () => {
    const folder = await createTestFolder();
    const stage = await openClientStage();
    const start = compileBuyer(folder);
    const [proxy, payer] = [await startFaultyProxy(stage.url), await stage.payer(100n)];
    const file = join(folder, "payments.jsonl");
    const task = { portfolio: proxy.url, privateKey: payer.privateKey, journal: file, guard: stage.guard };
    const runs = Array.from({ length: RUNS }, (_, run) => run);
    const { delivered, kills } = await runLane({ proxy, start, task, random: seededRandom(SEED), runs });

    const { chain, ledger } = await stage.payments(payer.account.address);
    const journal = openFileJournal(file);
    const entries = (await journal.read()).list();
    await journal.close();
    expect(kills).toBeGreaterThanOrEqual(KILLS_MIN);
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
