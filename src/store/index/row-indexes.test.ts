// Indexes follow their declarations without a rebuild: made next to the old ones, swapped, and finished after a crash.
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import { tables } from "../../protocol/domains.ts";
import { address, uint256 } from "../../schema/column.ts";
import { defineTable } from "../../schema/table.ts";
import { acquireLock, type Lock } from "../postgres/advisory-lock.ts";
import type { Session } from "../postgres/session.ts";
import {
  createBareRowTables,
  createReadIndexes,
  createRowIndexes,
  createRowTables,
  dropLogIndex,
  findBareTables,
  finishRowTables,
  type IndexProgress,
  makeLogIndex,
  readRowTablesState,
  recordRowTables,
  updateRowIndexes,
} from "./row-tables.ts";

const columns = { id: uint256, owner: address, kind: uint256 };
const notes = defineTable("notes", columns, {
  key: ["id"],
  index: [["owner", "id"]],
  currentIndex: [["kind"]],
});
const changedNotes = defineTable("notes", columns, {
  key: ["id"],
  index: [
    ["owner", "id"],
    ["kind", "id"],
  ],
});
const BY_OWNER = {
  notes_by_owner_id: "owner, id, valid_from",
  notes_past_by_owner_id: "owner, id, valid_to, valid_from",
};
const WRITTEN = { notes_born: "valid_from", notes_current: "id", notes_pkey: "id, valid_from" };

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
let lock: Lock;
beforeAll(async () => {
  opened = await openTestDatabase();
  const acquired = await acquireLock(opened.database, "notes", { waitMs: 0 });
  if (!acquired) throw new Error("the lock is taken");
  lock = acquired;
  await lock.transaction(async (session) => {
    await createRowTables(session, [notes]);
    await createRowIndexes(session, [notes]);
    await recordRowTables(session, { tables: [notes], foldVersion: 1 });
  });
});
afterAll(async () => {
  await lock.release();
  await opened.drop();
});

async function readIndexColumns(): Promise<Record<string, string>> {
  const { rows } = await opened.database.query<{ name: string; columns: string }>(
    `select indexname as name, substring(indexdef from '\\((.*?)\\)') as columns from pg_indexes
      where schemaname = current_schema() and tablename = 'notes'`,
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.columns]));
}

async function update(table: typeof notes, held: Lock = lock): Promise<string[]> {
  const made: string[] = [];
  const { signal } = new AbortController();
  const onIndex = ({ name }: IndexProgress) => made.push(name);
  await updateRowIndexes(held, { tables: [table], statementTimeoutMs: 60_000, signal, onIndex });
  return made;
}

it("makes an index for each list of now, and one for each of the past", async () => {
  expect(await readIndexColumns()).toEqual({ ...WRITTEN, ...BY_OWNER, notes_by_kind: "kind" });
  expect(await update(notes)).toEqual([]);
});

it("makes the index of logs by transaction if history was written without it, and keeps an earlier one", async () => {
  const readIndexed = async () => {
    const { rows } = await opened.database.query<{ indexed: string }>(
      "select pg_get_indexdef('logs_by_tx_hash'::regclass, 1, false) as indexed",
    );
    return rows.map(({ indexed }) => indexed);
  };
  const made: string[] = [];
  const { signal } = new AbortController();
  const options = {
    statementTimeoutMs: 60_000,
    signal,
    onIndex: ({ name }: IndexProgress) => made.push(name),
  };
  await lock.transaction(dropLogIndex);
  await opened.database.query("create index logs_by_tx_hash on logs (tx_hash)");
  await makeLogIndex(lock, options);
  expect([made, await readIndexed()]).toEqual([[], ["tx_hash"]]);
  await lock.transaction(dropLogIndex);
  await makeLogIndex(lock, options);
  expect([made, await readIndexed()]).toEqual([["logs_by_tx_hash"], ["SUBSTRING(tx_hash FROM 1 FOR 7)"]]);
});

it("replaces what has changed, and leaves rows and the indexes of operators alone", async () => {
  await opened.database.query("create index operators_own on notes (kind, owner)");
  expect(await readRowTablesState(opened.database, { tables: [changedNotes], foldVersion: 1 })).toBe(
    "current",
  );
  expect(await update(changedNotes)).toEqual(["notes_by_kind_id", "notes_past_by_kind_id"]);
  expect(await readIndexColumns()).toEqual({
    ...WRITTEN,
    ...BY_OWNER,
    notes_by_kind_id: "kind, id, valid_from",
    notes_past_by_kind_id: "kind, id, valid_to, valid_from",
    operators_own: "kind, owner",
  });
  expect(await update(changedNotes)).toEqual([]);
});

it("replaces an index of the same name that was made from another statement", async () => {
  await opened.database.query("drop index notes_by_kind_id");
  await opened.database.query("create index notes_by_kind_id on notes (kind)");
  expect(await update(changedNotes)).toEqual(["notes_by_kind_id"]);
  await opened.database.query("drop index notes_by_kind_id");
  await opened.database.query("create index notes_by_kind_id on notes (kind)");
  await opened.database.query(
    "comment on index notes_by_kind_id is 'create index notes_by_kind_id on notes (kind)'",
  );
  expect(await update(changedNotes)).toEqual(["notes_by_kind_id"]);
  expect(await readIndexColumns()).toMatchObject({ notes_by_kind_id: "kind, id, valid_from" });
});

it("fills tables without what only reading needs, and adds it in one transaction a table", async () => {
  const first = defineTable("first_notes", columns, { key: ["id"], index: [["owner", "id"]] });
  const second = defineTable("second_notes", columns, { key: ["id"] });
  await lock.transaction((session) => createBareRowTables(session, [first, second]));
  expect(await findBareTables(opened.database, [first, second, notes])).toEqual([first, second]);
  const identity = () =>
    opened.database
      .query("select relreplident as identity from pg_class where relname = 'first_notes'")
      .then(({ rows }) => rows);
  expect(await identity()).toEqual([{ identity: "f" }]);
  await opened.database.query("create index first_notes_by_owner_id on first_notes (kind)");
  const made: IndexProgress[] = [];
  const { signal } = new AbortController();
  const onIndex = (index: IndexProgress) => made.push(index);
  const finish = () =>
    finishRowTables(lock, { tables: [first, second], statementTimeoutMs: 60_000, signal, onIndex });
  await finish();
  expect(made).toEqual([
    { name: "first_notes_pkey", number: 1, count: 6 },
    { name: "first_notes_by_owner_id", number: 2, count: 6 },
    { name: "first_notes_past_by_owner_id", number: 3, count: 6 },
    { name: "first_notes_born", number: 4, count: 6 },
    { name: "second_notes_pkey", number: 5, count: 6 },
    { name: "second_notes_born", number: 6, count: 6 },
  ]);
  expect(await findBareTables(opened.database, [first, second])).toEqual([]);
  expect(await identity()).toEqual([{ identity: "d" }]);
  await finish();
  expect(made).toHaveLength(6);
  expect(await update(first)).toEqual([]);
  expect(await update(second)).toEqual([]);
  await opened.database.query("drop table first_notes, second_notes");
});

it("keeps complete indexes of a process that died before the key, and lets readers read while the key waits", async () => {
  const table = defineTable("late_notes", columns, { key: ["id"], index: [["owner", "id"]] });
  await lock.transaction((session) => createBareRowTables(session, [table]));
  await lock.transaction((session) => createReadIndexes(session, table));
  const made: IndexProgress[] = [];
  const { signal } = new AbortController();
  const onIndex = (index: IndexProgress) => made.push(index);
  const finish = () =>
    finishRowTables(lock, { tables: [table], statementTimeoutMs: 60_000, signal, onIndex });
  // A backup has read the table in a transaction that goes on.
  const backup = await opened.database.connect("backup");
  try {
    await backup.query("begin; select count(*) from late_notes");
    await finish();
    await backup.query("select count(*) from late_notes");
    expect(made).toEqual([]);
    expect(await findBareTables(opened.database, [table])).toEqual([table]);
    await backup.query("commit");
  } finally {
    await backup.end();
  }
  await finish();
  expect(made).toEqual([]);
  expect(await findBareTables(opened.database, [table])).toEqual([]);
  await opened.database.query("drop table late_notes");
}, 60_000);

it("leaves the indexes of the protocol as they are, however long their columns", async () => {
  const protocol = await openTestDatabase();
  const held = await acquireLock(protocol.database, "protocol", { waitMs: 0 });
  if (!held) throw new Error("the lock is taken");
  await held.transaction(async (session) => {
    await createRowTables(session, tables);
    await createRowIndexes(session, tables);
  });
  const made: string[] = [];
  const { signal } = new AbortController();
  const onIndex = ({ name }: IndexProgress) => made.push(name);
  await updateRowIndexes(held, { tables, statementTimeoutMs: 60_000, signal, onIndex });
  expect(made).toEqual([]);
  await held.release();
  await protocol.drop();
});

it("finishes what an interrupted update has begun, and makes no index twice", async () => {
  await opened.database.query("alter index notes_by_kind_id rename to notes_by_kind_id_new");
  await opened.database.query("alter index notes_past_by_owner_id rename to notes_past_by_former_new");
  expect(await update(changedNotes)).toEqual(["notes_past_by_owner_id"]);
  expect(Object.keys(await readIndexColumns()).filter((name) => name.endsWith("_new"))).toEqual([]);
  expect(await readIndexColumns()).toMatchObject({ notes_by_kind_id: "kind, id, valid_from" });
});

/** The lock, with a call after each index that was made and is not committed yet. */
function watchIndexes(onMade: () => Promise<unknown>): Lock {
  return {
    isHeld: true,
    commit: (steps, options) => lock.commit(steps, options),
    release: () => lock.release(),
    transaction: (work, options) =>
      lock.transaction((session) => {
        const query: Session["query"] = async (statement) => {
          const result = await session.query(statement);
          const text = typeof statement === "string" ? statement : statement.text;
          if (text.startsWith("create index ")) await onMade();
          return result as never;
        };
        return work({ ...session, query });
      }, options),
  };
}

it("lets readers go on while it makes an index that an interrupted update left unfit", async () => {
  await opened.database.query("drop index notes_by_kind_id");
  await opened.database.query("create index notes_by_kind_id_new on notes (kind)");
  let reads = 0;
  const held = watchIndexes(() =>
    opened.database.transaction(async (session) => {
      await session.query("set local lock_timeout to 1000");
      await session.query("select count(*) from notes");
      reads += 1;
    }),
  );
  expect(await update(changedNotes, held)).toEqual(["notes_by_kind_id"]);
  expect(reads).toBe(1);
  expect(await readIndexColumns()).toMatchObject({ notes_by_kind_id: "kind, id, valid_from" });
});
