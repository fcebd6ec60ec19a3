// The rule for migrations and row tables: whatever the version before reads or writes is still there, as it was.
import { expect, it } from "vitest";
import { tables } from "../../src/protocol/domains.ts";
import { readLogForm } from "../../src/store/index/raw-logs.ts";
import { createRowTables } from "../../src/store/index/row-tables.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { checksumOf, type Migration, migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { createTestDatabase } from "../support/database/test-database.ts";
import { silentLog } from "../support/quiet-log.ts";
import { loadPreviousModule } from "./previous-version.ts";

type Column = { readonly type: string; readonly nullable: string; readonly filled: boolean };
type Columns = Readonly<Record<string, Column>>;

async function columnsOf(database: Database): Promise<Columns> {
  const { rows } = await database.query<Column & { name: string }>(
    `select table_name || '.' || column_name as name, udt_name || coalesce(numeric_precision::text, '') as type,
       is_nullable as nullable, column_default is not null or is_generated = 'ALWAYS' as filled
     from information_schema.columns where table_schema = current_schema() order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, ...column }) => [name, column]));
}

const tableOf = (column: string) => column.split(".")[0];

/** Hex of rows that was text and is bytes now: the version before reads both. */
function isHexAsBytes(name: string, before: Column, now: Column | undefined): boolean {
  const [table, column = ""] = name.split(".");
  const isHex = tables.some((each) => each.name === table && each.columns[column]?.isHex === true);
  const asBytes: Column = { ...before, type: "bytea" };
  return isHex && before.type === "text" && JSON.stringify(now) === JSON.stringify(asBytes);
}

/** Changes that would break a process of the version before. */
function breaks(before: Columns, now: Columns): string[] {
  const changed = Object.entries(before)
    .filter(([name, column]) => JSON.stringify(now[name]) !== JSON.stringify(column))
    .filter(([name, column]) => !isHexAsBytes(name, column, now[name]))
    .map(([name]) => `${name} is changed or gone`);
  const written = new Set(Object.keys(before).map(tableOf));
  const required = Object.entries(now)
    .filter(([name, { nullable, filled }]) => !(name in before) && nullable === "NO" && !filled)
    .filter(([name]) => written.has(tableOf(name)))
    .map(([name]) => `${name} is required, and the version before does not write it`);
  return [...changed, ...required];
}

it("the version before finds every column it knows, and no new one that it would have to write", async () => {
  const before = {
    ...(await loadPreviousModule<typeof import("../../src/store/postgres/migrations.ts")>(
      "src/store/postgres/migrations.ts",
    )),
    ...(await loadPreviousModule<typeof import("../../src/protocol/domains.ts")>("src/protocol/domains.ts")),
    ...(await loadPreviousModule<typeof import("../../src/store/index/row-tables.ts")>(
      "src/store/index/row-tables.ts",
    )),
  };
  // Databases record these: comments may be reworded, statements may not.
  const recorded = (each: Migration) => ({
    ...each,
    sql: "",
    published: undefined,
    checksum: checksumOf(each),
  });
  expect(migrations.slice(0, before.migrations.length).map(recorded)).toEqual(
    before.migrations.map(recorded),
  );
  const place = await createTestDatabase();
  const open = (schema: string) =>
    openDatabase({
      connection: place.connection,
      schema,
      poolMax: 1,
      log: silentLog,
      applicationName: "test",
    });
  const [migrated, rowsBefore, rowsNow] = await Promise.all(
    ["migrated", "rows_before", "rows_now"].map(open),
  );
  if (!migrated || !rowsBefore || !rowsNow) throw new Error("three were opened");
  try {
    await migrate(migrated, before.migrations, silentLog);
    const old = await columnsOf(migrated);
    const oldForm = await readLogForm(migrated);
    await migrate(migrated, migrations, silentLog);
    expect(breaks(old, await columnsOf(migrated))).toEqual([]);
    // Logs stay in the form in which the version before writes them.
    expect(await readLogForm(migrated)).toBe(oldForm);
    expect(Object.keys(old).length).toBeGreaterThan(50);

    await rowsBefore.transaction((session) => before.createRowTables(session, before.tables));
    await rowsNow.transaction((session) => createRowTables(session, tables));
    const rows = await columnsOf(rowsBefore);
    expect(breaks(rows, await columnsOf(rowsNow)).filter((line) => line.endsWith("gone"))).toEqual([]);
    expect(Object.keys(rows).length).toBeGreaterThan(50);
  } finally {
    await Promise.all([migrated, rowsBefore, rowsNow].map((database) => database.close()));
    await place.drop();
  }
});
