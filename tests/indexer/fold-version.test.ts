// Rows of another fold version are rebuilt, unless that version makes exactly the same rows.
import { afterAll, beforeAll, expect, it } from "vitest";
import { rowDeclaration } from "../../src/protocol/domains.ts";
import { readRowTablesState, recordRowTables } from "../../src/store/index/row-tables.ts";
import { openTestDatabase } from "../support/index/test-index.ts";

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened?.drop());

const { tables } = rowDeclaration;
// Numbers are versions of the releases before the hash.
const declaration = { ...rowDeclaration, equivalentFoldVersions: [1, "equal"] };

it.each([
  ["current", rowDeclaration.foldVersion],
  ["current", 1],
  ["current", "equal"],
  ["stale", 2],
  ["stale", "another"],
] as const)("calls rows %s after version %s", async (state, foldVersion) => {
  await opened.database.transaction((session) => recordRowTables(session, { tables, foldVersion }));
  expect(await readRowTablesState(opened.database, declaration)).toBe(state);
});

it("calls rows stale after the first version, whose rows have fewer columns", async () => {
  await opened.database.transaction((session) => recordRowTables(session, { tables, foldVersion: 1 }));
  expect(await readRowTablesState(opened.database, rowDeclaration)).toBe("stale");
});
