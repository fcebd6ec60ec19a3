// The set of row tables: created from their declarations, and rebuilt when those change.
import { createHash } from "node:crypto";
import type { Table } from "../../schema/table.ts";
import type { QueryRunner, Session } from "../postgres/session.ts";
import { createTableSql } from "./table-sql.ts";

/** The sources of the rows: the tables, and the version of the folds that fill them. */
export type RowDeclaration = {
  readonly tables: readonly Table[];
  readonly foldVersion: number | string;
  /** Earlier versions that make exactly the same rows. */
  readonly equivalentFoldVersions?: readonly (number | string)[];
};

function hashRowDeclaration({ tables, foldVersion }: RowDeclaration): string {
  const statements = tables.flatMap((table) => [createTableSql(table), table.history]);
  return createHash("sha256")
    .update(JSON.stringify([foldVersion, statements]))
    .digest("hex");
}

/** `absent`: never created. `stale`: made from other declarations, or from logs that were repaired since. `current`: as declared. */
type RowTablesState = "absent" | "stale" | "current";

export async function readRowTablesState(
  session: QueryRunner,
  declaration: RowDeclaration,
): Promise<RowTablesState> {
  const { rows } = await session.query<{ declaration_hash: string }>(
    "select declaration_hash from row_tables",
  );
  const [made] = rows;
  if (!made) return "absent";
  return isMadeFrom(declaration, made.declaration_hash) ? "current" : "stale";
}

/** Whether rows whose declaration has this hash are those of the declaration. */
export function isMadeFrom(declaration: RowDeclaration, declarationHash: string): boolean {
  const { tables, foldVersion, equivalentFoldVersions = [] } = declaration;
  return [foldVersion, ...equivalentFoldVersions].some(
    (version) => hashRowDeclaration({ tables, foldVersion: version }) === declarationHash,
  );
}

export async function createRowTables(session: Session, tables: readonly Table[]): Promise<void> {
  for (const table of tables) await session.query(createTableSql(table));
}

export async function recordRowTables(session: Session, declaration: RowDeclaration): Promise<void> {
  await session.query({
    text: `insert into row_tables (declaration_hash, names) values ($1, $2)
           on conflict (only_row) do update set declaration_hash = excluded.declaration_hash, names = excluded.names`,
    values: [hashRowDeclaration(declaration), declaration.tables.map(({ name }) => name)],
  });
}

/** The logs that the rows were made from have changed: the next process that opens the tables rebuilds them. */
export async function markRowTablesStale(session: Session): Promise<void> {
  await session.query("update row_tables set declaration_hash = 'stale'");
}

/** Names of the existing row tables, which may differ from the declared ones. */
export async function readRowTableNames(session: QueryRunner): Promise<readonly string[]> {
  const { rows } = await session.query<{ names: string[] }>("select names from row_tables");
  return rows[0]?.names ?? [];
}
