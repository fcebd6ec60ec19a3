// Writes, rolls back and loads versions of rows.
import type { Column } from "../../schema/column.ts";
import { formatKey, type Row, type Table } from "../../schema/table.ts";
import { COPY_NULL, encodeCopyLines, escapeCopyText } from "../fast/copy-encoder.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { QueryRunner, Session } from "../postgres/session.ts";
import type { RowLoader, TableVersions, TouchedKey } from "./row-versions.ts";
import {
  copyRowsSql,
  deleteCurrentSql,
  deleteVersionsAfterSql,
  endVersionsSql,
  reopenVersionsSql,
  requireColumn,
  requireKeyValue,
  selectCurrentSql,
} from "./table-sql.ts";

/** `final`: no reorg can undo the blocks, so tables with `recent` history store only the current row. */
type VersionWriteOptions = { readonly final: boolean };

export function createRowLoader(session: QueryRunner): RowLoader {
  return async (table, keys) => {
    const { rows } = await session.query<Record<string, NonNullable<unknown> | null>>({
      text: selectCurrentSql(table),
      values: keyColumns(table, keys),
    });
    return new Map(
      rows.map((stored) => {
        const row = decodeStoredRow(table, stored);
        return [formatKey(table.key, row), row];
      }),
    );
  };
}

export function buildVersionSteps(
  { table, endedVersions, newVersions }: TableVersions,
  { final }: VersionWriteOptions,
): PipelineStep[] {
  const currentOnly = final && table.history === "recent";
  const steps: PipelineStep[] = [];
  if (endedVersions.length > 0) {
    const ends = currentOnly ? [] : [`{${endedVersions.map(({ at }) => at).join(",")}}`];
    const text = currentOnly ? deleteCurrentSql(table) : endVersionsSql(table);
    steps.push({ text, values: [...keyColumns(table, endedVersions), ...ends] });
  }
  const written = currentOnly ? newVersions.filter(({ to }) => to === null) : newVersions;
  steps.push({ copy: copyRowsSql(table), messages: encodeCopyLines(encodeLines(table, written)) });
  return steps;
}

/** Deletes versions that start after the block and reopens those that ended after it. */
export async function rollbackTable(session: Session, table: Table, block: number): Promise<void> {
  const { rows } = await session.query<Record<string, NonNullable<unknown> | null>>({
    text: deleteVersionsAfterSql(table),
    values: [block],
  });
  if (rows.length === 0) return;
  const keys = table.key.map((name) => rows.map((row) => String(row[name])));
  await session.query({
    text: reopenVersionsSql(table),
    values: [...keys, rows.map((row) => String(row.born))],
  });
}

/** Drops versions of a `recent` table that ended at or before a final block. */
export function buildPruneTableSteps(table: Table, finalized: number): PipelineStep[] {
  if (table.history !== "recent") return [];
  return [{ text: `delete from ${table.name} where valid_to <= $1`, values: [finalized] }];
}

/** One array parameter per key column. */
export function keyColumns(table: Table, keys: readonly Pick<TouchedKey, "key">[]): string[] {
  return table.key.map((name) => {
    const column = requireColumn(table, name);
    const values = keys.map(({ key }) => column.toSql(requireKeyValue(table, key, name)));
    return encodeArrayLiteral(values, column.isEscapeFree);
  });
}

/** Pipelines send parameters as text, so arrays are encoded here. */
function encodeArrayLiteral(values: readonly string[], isEscapeFree: boolean): string {
  return isEscapeFree ? `{${values.join(",")}}` : `{"${values.map(escapeArrayElement).join('","')}"}`;
}

// Few values need escaping, and testing is cheaper than replacing.
function escapeArrayElement(value: string): string {
  return /["\\]/.test(value) ? value.replace(/["\\]/g, "\\$&") : value;
}

export function decodeStoredRow(table: Table, stored: Record<string, NonNullable<unknown> | null>): Row {
  const row: Record<string, unknown> = {};
  for (const { name, column } of columnsOf(table)) {
    const value = stored[name];
    row[name] = value === null || value === undefined ? null : column.fromSql(value);
  }
  return row;
}

function* encodeLines(table: Table, versions: TableVersions["newVersions"]): Generator<string> {
  const columns = columnsOf(table);
  // One join per row: concatenating value by value would allocate a string for every step.
  const line: (string | number)[] = new Array(columns.length + 2);
  for (const { row, from, to } of versions) {
    let at = 0;
    for (const { name, column } of columns) {
      const value = row[name];
      if (value === null || value === undefined) line[at] = COPY_NULL;
      else line[at] = column.isEscapeFree ? column.toSql(value) : escapeCopyText(column.toSql(value));
      at += 1;
    }
    line[at] = from;
    line[at + 1] = to === null ? `${COPY_NULL}\n` : `${to}\n`;
    yield line.join("\t");
  }
}

type NamedColumn = { readonly name: string; readonly column: Column<unknown> };

const columnLists = new WeakMap<Table, readonly NamedColumn[]>();

/** The columns of a table as a list, cached. */
function columnsOf(table: Table): readonly NamedColumn[] {
  let columns = columnLists.get(table);
  if (!columns) {
    columns = Object.entries(table.columns).map(([name, column]) => ({ name, column }));
    columnLists.set(table, columns);
  }
  return columns;
}
