// A rebuild with readers, who wait while the tables are swapped, and with a schema of its name that is not its own.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSampleIndex, type SampleIndex } from "../../../tests/reference-model/store/sample-index.ts";
import { SAMPLE_TABLES, type SampleChange } from "../../../tests/reference-model/store/sample-tables.ts";

let index: SampleIndex;
beforeAll(async () => {
  index = await openSampleIndex();
});
afterAll(() => index.close());

const count: SampleChange = { table: 3, verb: "add", key: 1, value: 1, looks: false };

/** Resolves when a session of this database waits for a table lock. */
async function waitForBlockedSession(): Promise<void> {
  const waiting = `select 1 from pg_locks join pg_database on pg_database.oid = database
    where datname = current_database() and locktype = 'relation' and not granted`;
  while ((await index.database.query(waiting)).rows.length === 0) await sleep(10);
}

it("survives a reader that locks the tables in the other order", async () => {
  await index.write([[count], [count]], 1);
  const before = await index.digest();
  const [first, last] = [SAMPLE_TABLES.at(0)?.name, SAMPLE_TABLES.at(-1)?.name];
  let rebuilt: Promise<void> = Promise.resolve();
  // Every read of the index names the checkpoint before the tables of its rows.
  await index.database.transaction(async (session) => {
    await session.query(`select 1 from checkpoint cross join ${last} limit 1`);
    rebuilt = index.rebuild();
    await waitForBlockedSession();
    await session.query(`select 1 from ${first} limit 1`);
  });
  await rebuilt;
  expect(await index.digest()).toEqual(before);
});

it("lets readers read while a backup delays the swap", async () => {
  await index.write([[count]], 1);
  const before = await index.digest();
  const name = SAMPLE_TABLES.at(0)?.name;
  let rebuilt: Promise<void> = Promise.resolve();
  // A dump reads everything in one transaction, which may take hours.
  await index.database.transaction(async (session) => {
    await session.query(`select 1 from checkpoint cross join ${name} limit 1`);
    rebuilt = index.rebuild();
    await waitForBlockedSession();
    await index.database.query(`select 1 from checkpoint cross join ${name} limit 1`);
  });
  await rebuilt;
  expect(await index.digest()).toEqual(before);
});

const shadow = () => `${index.database.schema}_rebuild`;

it("deletes no schema of another installation, whatever its name", async () => {
  await index.database.query(`create schema ${shadow()}`);
  await index.database.query(`create table ${shadow()}.payments as select 1 as amount`);
  await expect(index.rebuild()).rejects.toMatchObject({
    code: "DATABASE_INCOMPATIBLE",
    message: expect.stringContaining(`${shadow()}.payments`),
  });
  const { rows } = await index.database.query(`select amount from ${shadow()}.payments`);
  expect(rows).toEqual([{ amount: 1 }]);
  await index.database.query(`drop schema ${shadow()} cascade`);
});

it("replaces what an interrupted rebuild has left", async () => {
  await index.write([[count]], 1);
  const before = await index.digest();
  await index.database.query(`create schema ${shadow()}`);
  for (const { name } of SAMPLE_TABLES)
    await index.database.query(`create table ${shadow()}.${name} (like ${name} including all)`);
  await index.rebuild();
  expect(await index.digest()).toEqual(before);
});
