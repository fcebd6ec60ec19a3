// The guard's limits hold for calls at once and for processes that share a journal.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { createMemoryJournal } from "../../packages/client/journal/journal.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { startBuyer } from "./buyer-process.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";

const CALLS = 50;
const BUDGET = 10;

describe("a budget of ten payments", () => {
  let stage: ClientStage;
  beforeAll(async () => {
    stage = await openClientStage();
  });
  afterAll(() => stage?.close());

  it("spends a budget of ten payments exactly by fifty calls of two processes", async () => {
    const folder = await createTestFolder();
    const { account, privateKey } = await stage.payer(10n);
    const ended = await Promise.all(
      [0, 1].map((index) => {
        const half = CALLS / 2;
        const purchases = Array.from({ length: half }, (_, each) => ({
          address: walletAt(index * half + each),
          name: null,
        }));
        return startBuyer({
          portfolio: stage.url,
          privateKey,
          journal: join(folder, "payments.jsonl"),
          guard: { ...stage.guard, total: "0.1" },
          purchases,
          // So that both processes are between the check of the limit and the record at the same time.
          signMs: 100,
          kill: null,
          killAt: 1,
        }).ended;
      }),
    );
    expect(ended.map(({ code, err }) => [code, err])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    const lines = ended.flatMap((each) => each.lines);
    const failed = lines.flatMap((line) => ("failed" in line ? [`${line.code} ${line.charged}`] : []));
    expect(failed).toEqual(Array(CALLS - BUDGET).fill("LIMIT_EXCEEDED no"));
    const bought = lines.flatMap((line) => ("bought" in line ? [line.transaction] : []));
    const { chain, ledger } = await stage.payments(account.address);
    expect(chain).toHaveLength(BUDGET);
    expect(ledger).toEqual(chain);
    expect(bought.sort()).toEqual(chain);
    // Two processes start, and all calls wait for one lock.
  }, 60_000);

  it("limits payments per hour, per day and in total, in calls and in quotes", async () => {
    const { account } = await stage.payer();
    const journal = createMemoryJournal();
    const paid = createSextant({ portfolio: stage.url, payer: account, guard: stage.guard, journal });
    await paid.getPortfolio({ address: walletAt(100) });
    for (const name of ["perHour", "perDay", "total"] as const) {
      const guard = { ...stage.guard, [name]: "0.019999" };
      const limited = createSextant({ portfolio: stage.url, payer: account, guard, journal });
      await expect(limited.getPortfolio({ address: walletAt(101) })).rejects.toMatchObject({
        code: "LIMIT_EXCEEDED",
        charged: "no",
        message: expect.stringContaining(`guard.${name} 0.019999`),
      });
      const { problem, price } = await limited.quote({ address: walletAt(101) });
      expect([price, problem]).toEqual(["0.01", expect.stringContaining(`guard.${name}`)]);
    }
    expect((await paid.payments.budget()).spent).toEqual({ hour: "0.01", day: "0.01", total: "0.01" });
  });
});
