// A thousand purchases, each of a process that is killed or cut off somewhere; crash.test.ts has each phase once.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { createTestFolder } from "../support/test-folder.ts";
import type { BuyerLine, BuyerTask, KillPhase } from "./buyer-child.ts";
import { compileBuyer } from "./buyer-process.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from "./faulty-proxy.ts";

const RUNS = 1_000;
const LANES = 2;
const SEED = 20_261;
const MINUTES_MAX = 20;
const PHASES: readonly (KillPhase | null)[] = [
  "before-signing",
  "after-journal",
  "after-sending",
  "after-sending",
  "after-settlement",
  "before-body",
  null,
];
const FAULTS: readonly ProxyFault[] = [
  "none",
  "none",
  "lose-request",
  "lose-response",
  "cut-body",
  "unavailable",
];

type Lane = {
  readonly stage: ClientStage;
  readonly proxy: FaultyProxy;
  readonly start: ReturnType<typeof compileBuyer>;
  readonly task: Omit<BuyerTask, "purchases" | "kill">;
  /** In [0, 1). */
  readonly random: () => number;
  readonly runs: readonly number[];
};

/** One process after another over one journal: each finishes what the last one left, and is killed in the next. */
async function runLane({ proxy, start, task, random, runs }: Lane): Promise<Map<string, BuyerLine>> {
  const delivered = new Map<string, BuyerLine>();
  const below = (end: number) => Math.floor(random() * end);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const toPurchase = (run: number) => ({ address: walletAt(run), name: `run-${run}` });
  let left = [...runs];
  while (left.length > 0) {
    // The purchase of the last process, and one that this process is killed in.
    const purchases = left.slice(0, 2).map(toPurchase);
    const kill = purchases.length > 1 ? pick(PHASES) : null;
    const buyer = start({ ...task, purchases, kill });
    let faults = below(3);
    proxy.plan = () => {
      faults -= 1;
      return faults >= 0 ? pick(FAULTS) : "none";
    };
    let settled = 0;
    proxy.onSettled = () => {
      settled += 1;
      if (kill === "after-settlement" && settled > 1) buyer.child.kill("SIGKILL");
    };
    const { lines, err } = await buyer.ended;
    expect(err).toBe("");
    for (const line of lines) if ("bought" in line) delivered.set(line.bought, line);
    left = left.filter((run) => !delivered.has(`run-${run}`));
    // A line that a crash has torn.
    if (below(10) === 0) appendFileSync(task.journal, '{"v":1,"type":"signed","id":"0x');
  }
  return delivered;
}

it(
  `loses no response and pays none twice in ${RUNS} purchases`,
  async () => {
    const folder = await createTestFolder();
    const stage = await openClientStage();
    const start = compileBuyer(folder);
    const lanes = await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        const [proxy, payer] = [await startFaultyProxy(stage.url), await stage.payer(100n)];
        const journal = join(folder, `payments-${lane}.jsonl`);
        const task = { portfolio: proxy.url, privateKey: payer.privateKey, journal, guard: stage.guard };
        const runs = Array.from({ length: RUNS / LANES }, (_, run) => lane * (RUNS / LANES) + run);
        const random = seededRandom(SEED + lane);
        return { stage, proxy, start, task, random, runs, address: payer.account.address };
      }),
    );
    const delivered = await Promise.all(lanes.map(runLane));
    for (const [lane, { address, runs, task, proxy }] of lanes.entries()) {
      const { chain, ledger } = await stage.payments(address);
      const lines = [...(delivered[lane]?.values() ?? [])];
      const bought = lines.map((line) => ("bought" in line ? line.transaction : null));
      const journal = openFileJournal(task.journal);
      const entries = (await journal.read()).list();
      await journal.close();
      expect(chain).toHaveLength(runs.length);
      expect(ledger).toEqual(chain);
      expect(bought.sort()).toEqual(chain);
      expect(entries.map(({ transaction }) => transaction).sort()).toEqual(chain);
      await proxy.stop();
    }
    await stage.close();
  },
  MINUTES_MAX * 60_000,
);
