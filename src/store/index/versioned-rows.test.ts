// Versioned rows in a real database equal a plain copy per block after any writes, rollbacks and rebuilds.
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  openSampleIndex,
  type RowVersion,
  rowsAt,
  type SampleBlock,
  type SampleIndex,
  toPlainRows,
} from "../../../tests/reference-model/store/sample-index.ts";
import {
  SAMPLE_DECLARATIONS,
  SAMPLE_TABLES,
  type SampleChange,
  type SampleVerb,
} from "../../../tests/reference-model/store/sample-tables.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { formatKey, type Row, type Table } from "../../schema/table.ts";

let index: SampleIndex;

beforeAll(async () => {
  index = await openSampleIndex();
});
afterEach(() => index.reset());
afterAll(() => index.close());

// A busy machine runs fewer cases instead of timing out. Looked at between cases only: fast-check would leave a running
// case behind, which goes on writing while the index is reset for the next test.
const PROPERTY_MS_MAX = 15_000;

/** A property over the index, which each case begins empty. */
function withEmptyIndex<T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => Promise<void>) {
  const end = performance.now() + PROPERTY_MS_MAX;
  let runs = 0;
  return fc.asyncProperty(arbitrary, async (value) => {
    // At least one case counts, however slow.
    if (runs > 0 && performance.now() > end) return;
    runs += 1;
    await index.reset();
    await check(value);
  });
}

const ACCOUNTS = 0;
const SIGHTINGS = 2;
const TALLIES = 3;
const RECENT_TALLIES = 4;

const act = (verb: SampleVerb, table: number, key: number, value = 1): SampleChange => ({
  table,
  verb,
  key,
  value,
  looks: false,
});

const acts: fc.Arbitrary<SampleChange> = fc.record({
  table: fc.nat(SAMPLE_DECLARATIONS.length - 1),
  verb: fc.constantFrom<SampleVerb>("insert", "put", "update", "add"),
  key: fc.nat(3),
  value: fc.integer({ min: -50, max: 50 }),
  looks: fc.boolean(),
});

type Step =
  | { readonly kind: "write"; readonly blocks: readonly SampleBlock[]; readonly unsettled: number }
  | { readonly kind: "rollback"; readonly depth: number }
  | { readonly kind: "rebuild" };

const write: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("write" as const),
  blocks: fc.array(fc.array(acts, { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
  // Below one: everything is final. Large: a node that lags behind its earlier finality.
  unsettled: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }) },
    { weight: 1, arbitrary: fc.constantFrom(-2, 0, 30) },
  ),
});
const rollback: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("rollback" as const),
  depth: fc.nat(8),
});
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: write },
  { weight: 3, arbitrary: rollback },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "rebuild" }) },
);

async function perform(step: Step): Promise<void> {
  if (step.kind === "write") await index.write(step.blocks, step.unsettled);
  if (step.kind === "rollback")
    await index.rollback(Math.max(index.finalized, index.history.head - step.depth));
  if (step.kind === "rebuild") await index.rebuild();
}

/** Everything that must hold after every step. */
async function expectAgreement(step: Step): Promise<void> {
  const { history, finalized } = index;
  const settled = step.kind === "write" && step.unsettled > 0 ? history.head - step.unsettled : null;
  const found = await Promise.all(
    SAMPLE_TABLES.map(async (table) => ({ table, versions: await index.versions(table) })),
  );
  for (const { table, versions } of found) {
    const from = table.history === "full" ? 0 : finalized;
    for (let block = from; block <= history.head; block += 1) {
      const [rows, expected] = [rowsAt(table, versions, block), toPlainRows(table, history.at(block))];
      // A deep comparison of every block is slow, so it runs only if the text differs.
      if (asText(table, rows) !== asText(table, expected))
        expect(rows, `${table.name} at ${block}`).toEqual(expected);
    }
    expectChains(table, versions, finalized);
    // A batch beyond the final block prunes versions that no rollback needs.
    if (table.history === "recent" && settled !== null)
      expect(versions.filter(({ to }) => to !== null && to <= settled)).toEqual([]);
  }
  const position = await index.store.readCheckpoint();
  expect(position).toMatchObject({ block: { number: history.head }, finalized });
  const { rows } = await index.database.query<{ count: number }>({
    text: "select count(*)::int as count from logs where block_number > $1",
    values: [history.head],
  });
  expect(rows).toEqual([{ count: 0 }]);
}

function asText(table: Table, rows: ReadonlyMap<string, Row>): string {
  const names = Object.keys(table.columns);
  const lines = [...rows].map(([key, row]) => JSON.stringify([key, names.map((name) => row[name])]));
  return lines.sort().join("\n");
}

/** Versions of a key do not overlap, only the last is open, and with full history there is no gap. */
function expectChains(table: Table, versions: readonly RowVersion[], finalized: number): void {
  const keys = new Set(versions.map(({ row }) => formatKey(table.key, row)));
  for (const key of keys) {
    const chain = versions.filter(({ row }) => formatKey(table.key, row) === key);
    chain.forEach(({ from, to }, position) => {
      const next = chain[position + 1];
      if (to === null) expect(next, `${table.name} ${key} ends open`).toBeUndefined();
      else expect(to).toBeGreaterThan(from);
      if (!next || to === null) return;
      if (table.history === "full" || next.from > finalized) expect(next.from).toBe(to);
      else expect(next.from).toBeGreaterThanOrEqual(to);
    });
    expect(chain.at(-1)?.to, `${table.name} ${key} is there`).toBeNull();
  }
}

describe("random batches and rollbacks", () => {
  it("preserves the exact rows of every block over random batches and rollbacks", async () => {
    await fc.assert(
      withEmptyIndex(fc.array(steps, { minLength: 1, maxLength: 12 }), async (sequence) => {
        for (const step of sequence) {
          await perform(step);
          await expectAgreement(step);
        }
      }),
      { numRuns: runsOf(30) },
    );
  }, 60_000);

  it("writes the same tables for single blocks and for one batch", async () => {
    const blocks = fc.array(fc.array(acts, { maxLength: 4 }), { minLength: 2, maxLength: 8 });
    await fc.assert(
      withEmptyIndex(blocks, async (history) => {
        for (const block of history) await index.write([block], 30);
        await index.write([[]], 0);
        const oneByOne = await tableDigests();
        await index.reset();
        await index.write([...history, []], 0);
        expect(await tableDigests()).toEqual(oneByOne);
      }),
      { numRuns: runsOf(10) },
    );
  }, 60_000);

  it("preserves the rows of every block over final batches that read what earlier ones left", async () => {
    // Few rows, so that most are used again, by the next batch or after some that leave them alone.
    const history = fc.nat(SAMPLE_DECLARATIONS.length - 1).chain((table) => {
      const few = acts.map((act) => ({ ...act, table, key: act.key % 3 }));
      return fc.array(fc.array(few, { maxLength: 2 }), { minLength: 6, maxLength: 12 });
    });
    await fc.assert(
      withEmptyIndex(history, async (blocks) => {
        await index.write(blocks, 0);
        await expectAgreement({ kind: "write", blocks, unsettled: 0 });
      }),
      { numRuns: runsOf(60, { min: 12 }) },
    );
  }, 60_000);
});

/** Without the logs, whose hashes differ from branch to branch. */
async function tableDigests(): Promise<Record<string, string>> {
  const { logs: _, ...digests } = await index.digest();
  return digests;
}

const tableOf = (number: number): Table => {
  const table = SAMPLE_TABLES[number];
  if (!table) throw new Error(`there is no table ${number}`);
  return table;
};
const versionsOf = (number: number) => index.versions(tableOf(number));
const spans = async (number: number) => (await versionsOf(number)).map(({ from, to }) => [from, to]);

describe("a rollback", () => {
  it("undoes insert and update completely", async () => {
    const before = await index.digest();
    await index.write([[act("insert", ACCOUNTS, 1)], [act("update", ACCOUNTS, 1, 3)]], 5);
    expect(await spans(ACCOUNTS)).toEqual([
      [1, 2],
      [2, null],
    ]);
    await index.rollback(0);
    expect(await versionsOf(ACCOUNTS)).toEqual([]);
    expect(await index.digest()).toEqual(before);
    expect((await index.store.readBlocksDescending(10, 10)).map(({ number }) => number)).toEqual([0]);
  });

  it("restores a row that was updated in n and n+1 when it rolls back to n", async () => {
    await index.write([[act("insert", ACCOUNTS, 1, 2)], [act("update", ACCOUNTS, 1, 1)]], 5);
    const inTwo = (await versionsOf(ACCOUNTS)).at(-1)?.row;
    await index.write([[act("update", ACCOUNTS, 1, 5)]], 5);
    await index.rollback(2);
    expect(await spans(ACCOUNTS)).toEqual([
      [1, 2],
      [2, null],
    ]);
    expect((await versionsOf(ACCOUNTS)).at(-1)?.row).toEqual(inTwo);
  });

  it("does not change rows that its blocks did not touch", async () => {
    await index.write([[act("insert", ACCOUNTS, 1)], [act("update", ACCOUNTS, 1, 3)], [], []], 5);
    const before = await versionsOf(ACCOUNTS);
    await index.rollback(3);
    expect(await versionsOf(ACCOUNTS)).toEqual(before);
  });

  it("keeps counters exact over repeated rollbacks", async () => {
    await index.write([[act("add", TALLIES, 1, 2), act("add", RECENT_TALLIES, 1, 2)]], 9);
    for (const value of [3, 1]) {
      await index.write([[act("add", TALLIES, 1, value), act("add", RECENT_TALLIES, 1, value)]], 9);
      await index.rollback(1);
      await index.rollback(1);
      for (const table of [TALLIES, RECENT_TALLIES]) {
        expect((await versionsOf(table)).map(({ row }) => row.times)).toEqual(["2"]);
      }
    }
    await index.rollback(0);
    for (const table of [TALLIES, RECENT_TALLIES]) expect(await versionsOf(table)).toEqual([]);
  });

  it("leaves only the latest branch after two successive forks", async () => {
    await index.write([[act("insert", ACCOUNTS, 1, 2)]], 9);
    await index.write([[act("insert", ACCOUNTS, 2, 4)], [act("update", ACCOUNTS, 1, 3)]], 9);
    await index.rollback(1);
    await index.write([[act("insert", ACCOUNTS, 3, 4)], [act("put", ACCOUNTS, 1, 7)]], 9);
    await index.rollback(1);
    await index.write([[act("insert", ACCOUNTS, 2, 8)]], 9);
    const found = (await versionsOf(ACCOUNTS)).map(({ row, from, to }) => [row.id, row.balance, from, to]);
    expect(found).toEqual([
      ["1", "2", 1, null],
      ["2", "8", 2, null],
    ]);
    const { rows } = await index.database.query("select block_number from logs order by block_number");
    expect(rows).toEqual([{ block_number: "1" }, { block_number: "2" }]);
  });
});

describe("a block", () => {
  it("creates one version for a block that changes a row several times", async () => {
    await index.write(
      [[act("insert", ACCOUNTS, 1, 2), act("put", ACCOUNTS, 1, 4), act("update", ACCOUNTS, 1, 3)]],
      5,
    );
    expect((await versionsOf(ACCOUNTS)).map(({ row, to }) => [row.balance, row.name, to])).toEqual([
      ["4", "back\\slash \\N \\.", null],
    ]);
  });
});

describe("tables with recent history", () => {
  it("keeps recent versions that a rollback may need, and prunes the others", async () => {
    const grow = [act("put", SIGHTINGS, 1), act("add", RECENT_TALLIES, 1)];
    await index.write([grow, grow, grow, grow, grow, grow], 3);
    for (const table of [SIGHTINGS, RECENT_TALLIES]) {
      expect(await spans(table)).toEqual([
        [3, 4],
        [4, 5],
        [5, 6],
        [6, null],
      ]);
    }
    await index.write([[]], 2);
    for (const table of [SIGHTINGS, RECENT_TALLIES]) {
      expect(await spans(table)).toEqual([
        [5, 6],
        [6, null],
      ]);
    }
    await index.rollback(5);
    expect((await versionsOf(RECENT_TALLIES)).map(({ row, to }) => [row.times, to])).toEqual([["5", null]]);
  });

  it("keeps one version of final blocks in tables with recent history", async () => {
    const grow = [act("put", SIGHTINGS, 1), act("add", RECENT_TALLIES, 1), act("add", TALLIES, 1)];
    await index.write([grow, grow], 0);
    await index.write([grow, grow], 0);
    for (const table of [SIGHTINGS, RECENT_TALLIES]) expect(await spans(table)).toEqual([[4, null]]);
    expect(await spans(TALLIES)).toHaveLength(4);
  });
});

describe("a batch with a contradictory change", () => {
  const tablesOfRows = [ACCOUNTS, 1, SIGHTINGS];
  const contradictions: readonly { name: string; blocks: (table: number) => SampleBlock[] }[] = [
    { name: "an update of a missing row", blocks: (table) => [[act("update", table, 2)]] },
    { name: "an insert of an existing row", blocks: (table) => [[act("insert", table, 1)]] },
    {
      name: "an insert of an existing row that was read",
      blocks: (table) => [[{ ...act("insert", table, 1), looks: true }]],
    },
    {
      name: "a second insert in the same block",
      blocks: (table) => [[act("insert", table, 2), act("insert", table, 2)]],
    },
    {
      name: "a second insert in the next block",
      blocks: (table) => [[act("insert", table, 2)], [act("insert", table, 2)]],
    },
    {
      name: "an update of a missing row after another insert",
      blocks: (table) => [[act("insert", table, 2), act("update", table, 3)]],
    },
    {
      name: "an insert of a row that was updated before",
      blocks: (table) => [[act("update", table, 1)], [act("insert", table, 1)]],
    },
  ];

  it.each(
    contradictions.flatMap(({ name, blocks }) => [5, 0].map((unsettled) => ({ name, blocks, unsettled }))),
  )("rejects a whole batch with $name ($unsettled unsettled)", async ({ blocks, unsettled }) => {
    for (const table of tablesOfRows) await index.write([[act("insert", table, 1)]], 9);
    const before = [await index.digest(), await index.store.readCheckpoint()];
    for (const table of tablesOfRows) {
      // Other changes of the batch must not be written either.
      const batch: SampleBlock[] = [[act("add", TALLIES, 1), act("put", ACCOUNTS, 0)], ...blocks(table)];
      await expect(index.attempt(batch, unsettled)).rejects.toThrow();
      expect([await index.digest(), await index.store.readCheckpoint()]).toEqual(before);
    }
  });
});
