// New pages of the row tables are summarized while they are written, during vacuum and after a restart.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import type { Table } from "../../schema/table.ts";
import { acquireLock, type Lock } from "../postgres/advisory-lock.ts";
import type { Database } from "../postgres/database.ts";
import { createRowSummaries } from "./store.ts";

let database: Database;
let lock: Lock;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ database, drop } = await openTestDatabase());
  const acquired = await acquireLock(database, "sample", { waitMs: 0 });
  if (!acquired) throw new Error("the lock is taken");
  lock = acquired;
});
afterAll(async () => {
  await lock.release();
  await drop();
});
beforeEach(async () => {
  await database.query("drop table if exists notes");
  await database.query("create table notes (valid_from bigint, text text)");
  await database.query("create index notes_born on notes using brin (valid_from) with (pages_per_range = 1)");
});

const notes = { name: "notes" } as Table;

async function addPages(): Promise<void> {
  await database.query("insert into notes select n, repeat('x', 1000) from generate_series(1, 100) n");
}

/** How many ranges had no summary. They have one now. */
async function summarizeRest(): Promise<number> {
  const { rows } = await database.query<{ ranges: number }>(
    "select brin_summarize_new_values('notes_born') as ranges",
  );
  return rows[0]?.ranges ?? Number.NaN;
}

describe("new pages", () => {
  it("summarizes new pages after a process's first batch, and again after enough logs", async () => {
    const summarize = createRowSummaries(lock, [notes], 10);
    await addPages();
    await summarize(1);
    expect(await summarizeRest()).toBe(0);
    await addPages();
    await summarize(9);
    expect(await summarizeRest()).toBeGreaterThan(10);
    await addPages();
    await summarize(1);
    expect(await summarizeRest()).toBe(0);
  });

  it("leaves new pages to a running vacuum, without waiting for it", async () => {
    await addPages();
    const vacuum = await database.connect("vacuum");
    onTestFinished(() => vacuum.end());
    await vacuum.query("begin");
    await vacuum.query("lock table notes in share update exclusive mode");
    await createRowSummaries(lock, [notes])(1);
    await vacuum.query("rollback");
    expect(await summarizeRest()).toBeGreaterThan(10);
    expect(lock.isHeld).toBe(true);
  });

  it("summarizes without an index that an operator has dropped", async () => {
    await database.query("drop index notes_born");
    await expect(createRowSummaries(lock, [notes])(1)).resolves.toBeUndefined();
  });
});
