// A publication has the declared tables, and a follower can apply every change to them.
import { afterAll, beforeAll, expect, it } from "vitest";
import { formatConnectionUrl } from "../support/database/test-database.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import { PUBLISHED } from "./replication-follower.ts";

let index: EmptyIndex;

beforeAll(async () => {
  index = await openEmptyIndex();
});

afterAll(() => index?.drop());

const publish = () =>
  runSextantInProcess(["export", "--publication", "followers"], {
    DATABASE_URL: formatConnectionUrl(index.connection),
    SEXTANT_LOG_LEVEL: "warn",
  });

it("a publication has the tables of the index, each with a key for its changes, and no others", async () => {
  const first = await publish();
  expect(first).toMatchObject({ code: 0, err: expect.stringMatching(/^Using the database .*\.\n$/) });
  expect(first.out).toContain(
    `The publication followers has ${PUBLISHED.length} tables, ${PUBLISHED.length} of them added now.\n`,
  );
  expect((await publish()).out).toContain("0 of them added now");
  // PostgreSQL sends an update or a delete with the key of its row, and rejects them if the table has no key.
  const { rows: members } = await index.database.query<{ name: string; has_key: boolean }>(
    `select t.tablename as name, c.relreplident = 'd' and exists (
        select from pg_index i where i.indrelid = c.oid and i.indisprimary) as has_key
      from pg_publication_tables t join pg_class c on c.relname = t.tablename
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = t.schemaname where t.pubname = 'followers'`,
  );
  expect(members.map(({ name }) => name).sort()).toEqual([...PUBLISHED].sort());
  expect(members.filter(({ has_key }) => !has_key)).toEqual([]);
  const { rows: actions } = await index.database.query(
    "select pubinsert, pubupdate, pubdelete from pg_publication where pubname = 'followers'",
  );
  expect(actions).toEqual([{ pubinsert: true, pubupdate: true, pubdelete: true }]);
});

it("a table that a rebuild has replaced becomes a member again", async () => {
  await publish();
  await index.database.query("drop table receipts; create table receipts (receipt_id int primary key)");
  expect((await publish()).out).toContain(" 1 of them added now");
});

it("a table without its primary key, which a first backfill still fills, is not published", async () => {
  await index.database.query("alter table bids drop constraint bids_pkey");
  expect(await publish()).toMatchObject({ err: expect.stringContaining("filled for the first time") });
});
