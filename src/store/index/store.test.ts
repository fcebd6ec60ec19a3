// The index store writes every block once, stores block hashes, and prunes only what no reorg can undo.
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  openSampleIndex,
  type SampleIndex,
  writeBatch,
} from "../../../tests/reference-model/store/sample-index.ts";
import {
  createSampleFold,
  SAMPLE_TABLES,
  type SampleChange,
  sampleTableOf,
} from "../../../tests/reference-model/store/sample-tables.ts";
import { addAmounts } from "../../schema/change.ts";
import { formatKey, type Table } from "../../schema/table.ts";
import type { Session } from "../postgres/session.ts";
import type { RowVersions } from "./row-versions.ts";
import type { PreparedBatch } from "./store.ts";
import { buildVersionSteps, rollbackTables, USE_INDEXES } from "./versioned-rows.ts";

let index: SampleIndex;

beforeAll(async () => {
  index = await openSampleIndex();
});
afterEach(() => index.reset());
afterAll(() => index.close());

const TALLIES = 3;
const count: SampleChange = { table: TALLIES, verb: "add", key: 1, value: 1, looks: false };

async function newest(): Promise<{ number: number; hash: `0x${string}`; timestamp: number }> {
  const [block] = await index.store.readBlocksDescending(Number.MAX_SAFE_INTEGER, 1);
  if (!block) throw new Error("there is no block");
  return block;
}

describe("a repeated block", () => {
  it("rejects a repeated block and changes nothing", async () => {
    await index.write([[count], [count]], 5);
    const before = [await index.digest(), await index.store.readCheckpoint()];
    const tip = await newest();
    const again = { tip, blocks: [{ ...tip, logCount: 1 }], logs: [], finalized: 0 };
    await expect(writeBatch(index.store, again, createSampleFold())).rejects.toThrow(
      "cannot write blocks from 2: the index is already at 2",
    );
    expect([await index.digest(), await index.store.readCheckpoint()]).toEqual(before);
  });

  it("rejects a repeated block inside a batch with new blocks", async () => {
    await index.write([[count], [count]], 5);
    const old = await newest();
    const tip = { ...old, number: 3 };
    const blocks = [old, tip].map((block) => ({ ...block, logCount: 0 }));
    await expect(
      writeBatch(index.store, { tip, blocks, logs: [], finalized: 0 }, createSampleFold()),
    ).rejects.toThrow("already");
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 2 } });
  });

  it("rejects a repeated tip in a batch without blocks", async () => {
    await index.write([[count], [count]], 0);
    const tip = await newest();
    await expect(
      writeBatch(index.store, { tip, blocks: [], logs: [], finalized: 2 }, createSampleFold()),
    ).rejects.toThrow("cannot write blocks from 2");
  });

  it("accepts a block again after a rollback", async () => {
    await index.write([[count], [count]], 5);
    await index.rollback(1);
    await index.write([[count]], 5);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 2 }, finalized: 0 });
    const { rows } = await index.database.query("select times from tallies where valid_to is null");
    expect(rows).toEqual([{ times: "2" }]);
  });
});

describe("a fold that fails", () => {
  it("changes neither rows nor logs nor the checkpoint", async () => {
    await index.write([[count]], 5);
    const before = [await index.digest(), await index.store.readCheckpoint(), await newest()];
    const tip = { ...(await newest()), number: 2 };
    const batch = { tip, blocks: [{ ...tip, logCount: 0 }], logs: [], finalized: 0 };
    const failing = writeBatch(index.store, batch, async () => {
      throw new Error("this event makes no sense");
    });
    await expect(failing).rejects.toThrow("this event makes no sense");
    expect([await index.digest(), await index.store.readCheckpoint(), await newest()]).toEqual(before);
  });
});

describe("the checkpoint", () => {
  it("never moves the final block back", async () => {
    await index.write([[], [], []], 1);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 3 }, finalized: 2 });
    await index.write([[]], 4);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 4 }, finalized: 2 });
  });

  it("never marks a missing block as final", async () => {
    await index.write([[], []], -50);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 2 }, finalized: 2 });
  });
});

describe("blocks", () => {
  it("stores blocks that have logs or that a reorg can undo, newest first", async () => {
    await index.write([[count], [], [], [count], []], 1);
    const numbers = async () =>
      (await index.store.readBlocksDescending(100, 100)).map(({ number }) => number);
    expect(await numbers()).toEqual([5, 4, 1]);
    await index.write([[], []], 4);
    expect(await numbers()).toEqual([7, 6, 5, 4, 1]);
    expect((await index.store.readBlocksDescending(6, 2)).map(({ number }) => number)).toEqual([6, 5]);
    await index.rollback(4);
    expect(await numbers()).toEqual([4, 1]);
  });

  it("rejects a rollback below the final block and deletes nothing", async () => {
    await index.write([[count], [count], [count]], 1);
    const before = [await index.digest(), await index.store.readCheckpoint()];
    const [, , first] = await index.store.readBlocksDescending(3, 3);
    if (!first) throw new Error("the first block is stored");
    await expect(index.store.rollback(first)).rejects.toThrow(
      "block 1 is final and cannot be rolled back to",
    );
    expect([await index.digest(), await index.store.readCheckpoint()]).toEqual(before);
  });

  it("keeps the hashes of blocks until they are replaced", async () => {
    await index.write([[], []], 5);
    const [second, first] = await index.store.readBlocksDescending(2, 2);
    await index.rollback(1);
    await index.write([[]], 5);
    const [replaced, unchanged] = await index.store.readBlocksDescending(2, 2);
    expect(unchanged).toEqual(first);
    expect(replaced?.hash).not.toBe(second?.hash);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: replaced });
  });
});

describe("a batch folded on top of another", () => {
  it("does not retain the previous one", async () => {
    await index.write([[count]], 5);
    const block = await newest();
    const prepareNext = (number: number, previous: PreparedBatch | null) => {
      const tip = { ...block, number };
      const batch = { tip, blocks: [{ ...tip, logCount: 0 }], logs: [], finalized: 0 };
      return index.store.prepare(batch, (rows) => createSampleFold()(batch.logs, rows), previous);
    };
    let first: PreparedBatch | null = await prepareNext(2, null);
    const reference = new WeakRef(first);
    const second = await prepareNext(3, first);
    first = null;
    await collectGarbage();
    expect(reference.deref()).toBeUndefined();
    expect(second.write).toBeTypeOf("function");
  });
});

describe("a chain of batches", () => {
  it("keeps current rows in memory, and forgets them in every chain but one", async () => {
    await index.write([[count]], 0);
    const tallies = SAMPLE_TABLES.find(({ name }) => name === "tallies") as Table;
    const key = sampleTableOf(count).key(count.key);
    const keyText = formatKey(tallies.key, key);
    const block = await newest();
    const prepareNext = async (number: number, isCounted: boolean, previous: PreparedBatch | null) => {
      const tip = { ...block, number };
      const batch = { tip, blocks: [{ ...tip, logCount: 0 }], logs: [], finalized: number };
      const origin = { block_number: BigInt(number), tx_hash: "0x", log_index: 0 };
      const changeRows = async (rows: RowVersions) => {
        if (isCounted) rows.change(addAmounts(tallies, key as never, { times: 1n }), origin);
      };
      const prepared = await index.store.prepare(batch, changeRows, previous);
      return { prepared, times: prepared.latest(tallies, keyText)?.times };
    };
    const second = await prepareNext(2, true, null);
    await second.prepared.write();
    const third = await prepareNext(3, false, second.prepared);
    await third.prepared.write();
    // Behind the back of the store, so that it shows where a row comes from.
    await index.database.query("update tallies set times = 50 where valid_to is null");
    const fourth = await prepareNext(4, true, third.prepared);
    expect(fourth.times).toBe(3n);
    expect((await prepareNext(4, true, third.prepared)).times).toBe(51n);
    expect((await prepareNext(4, true, null)).times).toBe(51n);
  });
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // A dereferenced WeakRef keeps its target alive until the end of the turn.
  for (let round = 0; round < 3; round += 1) {
    await nextTurn();
    collect();
  }
}

describe("rows that were written", () => {
  it("summarizes written rows for rollbacks from a process's first batch on", async () => {
    await index.write([[count]], 0);
    // The first range of a new table has a summary from the start; this is several more.
    await index.database.query(
      "insert into tallies select who, n, times, volume, valid_from, valid_to from tallies, generate_series(10, 20000) n",
    );
    const tip = { ...(await newest()), number: 2 };
    const batch = { tip, blocks: [{ ...tip, logCount: 0 }], logs: [], finalized: 2 };
    await writeBatch(index.reopen(), batch, createSampleFold());
    const { rows } = await index.database.query("select brin_summarize_new_values('tallies_born') as ranges");
    expect(rows).toEqual([{ ranges: 0 }]);
  });
});

const tallies = SAMPLE_TABLES.find(({ name }) => name === "tallies") as Table;

async function readScansOfTallies(session: Pick<Session, "query">): Promise<number> {
  const { rows } = await session.query<{ scans: string }>(
    "select pg_stat_get_xact_numscans('tallies'::regclass) as scans",
  );
  return Number(rows[0]?.scans);
}

describe("rows that end", () => {
  it.each(["full", "recent"] as const)(
    "finds ended rows of %s history by an index, with plans from when the table was small",
    async (history) => {
      const found = await index.database.transaction(async (session) => {
        const row = (day: bigint, times: bigint) => ({ who: "w", day, times, volume: 0n });
        const write = (at: number) => {
          const keys = at === 1 ? [] : [1n, 2n].map((day) => ({ keyText: "", key: row(day, 0n), at }));
          const rows = [1n, 2n].map((day) => ({ row: row(day, BigInt(at)), from: at, to: null }));
          const versions = { table: { ...tallies, history }, endedVersions: keys, newVersions: rows };
          return session.sendPipeline([USE_INDEXES, ...buildVersionSteps(versions, { final: true })]);
        };
        await write(1);
        // As autovacuum does: of a table with two rows all are read.
        await session.query("analyze tallies");
        // PostgreSQL keeps a plan from the sixth execution on.
        for (let at = 2; at <= 8; at += 1) await write(at);
        await session.query(
          "insert into tallies select 'w', n, 1, 0, 1, null from generate_series(10, 20000) n",
        );
        const before = await readScansOfTallies(session);
        await write(9);
        const scans = (await readScansOfTallies(session)) - before;
        const { rows } = await session.query<{ current: number; ended: number }>(
          "select count(*) filter (where valid_to is null and times = 9)::int as current, count(valid_to)::int as ended from tallies where day < 10",
        );
        return { scans, ...rows[0] };
      });
      expect(found).toEqual({ scans: 0, current: 2, ended: history === "full" ? 16 : 0 });
    },
  );
});

describe("statements that are kept", () => {
  it("changes rows of the tables that a rebuild has put in the place of others", async () => {
    for (let batch = 0; batch < 7; batch += 1) await index.write([[count]], 1);
    await index.rebuild();
    await index.write([[count]], 1);
    const { rows } = await index.database.query(
      "select times from tallies where valid_to is null order by times",
    );
    expect(rows).toEqual([{ times: "8" }]);
    expect(await index.versions(tallies)).toHaveLength(8);
  });
});

describe("a rollback", () => {
  it("finds the rows that it deletes by the index, without statistics of the table", async () => {
    await index.write([[count], [count]], 5);
    // As right after a first backfill, or after a backup was restored.
    await index.database.query(
      "insert into tallies select who, n, times, volume, 1, null from tallies, generate_series(10, 20000) n where valid_to is null",
    );
    const scanned = await index.database.transaction(async (session) => {
      const before = await readScansOfTallies(session);
      await rollbackTables(session, [tallies], 1);
      return (await readScansOfTallies(session)) - before;
    });
    expect(scanned).toBe(0);
    expect(await index.versions(tallies)).toHaveLength(1 + 19_991);
  });
});

describe("the revision", () => {
  it("increases with every batch, rollback and rebuild", async () => {
    const revision = async () => {
      const { rows } = await index.database.query<{ revision: string }>("select revision from checkpoint");
      return BigInt(rows[0]?.revision ?? -1);
    };
    const changes = [
      () => index.write([[count], [count]], 5),
      () => index.write([[count]], 5),
      () => index.rollback(2),
      () => index.rebuild(),
    ];
    const seen: bigint[] = [];
    for (const change of changes) {
      await change();
      seen.push(await revision());
    }
    expect(seen.every((each, at) => at === 0 || each > (seen[at - 1] ?? 0n))).toBe(true);
  });
});
