// Writing and undoing versions of indexed rows, and loading the current ones.
import type { Column } from "../../schema/column.ts";
import { formatKey, type Row, type Table } from "../../schema/table.ts";
import { COPY_NULL, encodeCopyLines, escapeCopyText } from "../fast/copy-encoder.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { Session } from "../postgres/session.ts";
import type { RowLoader, TableVersions, TouchedKey } from "./row-versions.ts";
import {
  copyRowsSql,
  deleteCurrentSql,
  deleteVersionsAfterSql,
  endVersionsSql,
  reopenVersionsSql,
  requireColumn,
  selectCurrentSql,
} from "./table-sql.ts";

/** `final`: the blocks can not be undone any more, so tables that keep only the recent past keep no versions. */
export type VersionWriteOptions = { readonly final: boolean };

/** Loads current rows. */
export function createRowLoader(session: Pick<Session, "query">): RowLoader {
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
  { table, endedVersions: ended, newVersions: begun }: TableVersions,
  mode: VersionWriteOptions,
): PipelineStep[] {
  const collapse = mode.final && table.history === "recent";
  const steps: PipelineStep[] = [];
  if (ended.length > 0) {
    const ends = collapse ? [] : [`{${ended.map(({ at }) => at).join(",")}}`];
    const text = collapse ? deleteCurrentSql(table) : endVersionsSql(table);
    steps.push({ text, values: [...keyColumns(table, ended), ...ends] });
  }
  const written = collapse ? begun.filter(({ to }) => to === null) : begun;
  steps.push({ copy: copyRowsSql(table), messages: encodeCopyLines(linesOf(table, written)) });
  return steps;
}

/** Undoes everything after a block: what was born later goes, what ended later lives on. */
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

/** Drops versions that ended at or before a block that can not be undone, where no past is kept. */
export function buildPruneTableSteps(table: Table, finalized: number): PipelineStep[] {
  if (table.history !== "recent") return [];
  return [{ text: `delete from ${table.name} where valid_to <= $1`, values: [finalized] }];
}

/** One array per key column, as PostgreSQL reads it from text: the driver's own way costs several times as much. */
function keyColumns(table: Table, keys: readonly TouchedKey[]): string[] {
  return table.key.map((name) => {
    const column = requireColumn(table, name);
    return arrayText(
      keys.map(({ key }) => column.toSql(key[name] as NonNullable<unknown>)),
      column.isEscapeFree,
    );
  });
}

function arrayText(values: readonly string[], plain: boolean): string {
  return plain ? `{${values.join(",")}}` : `{"${values.map(arrayCell).join('","')}"}`;
}

// Hardly any has something to escape, and looking is cheaper than replacing.
function arrayCell(value: string): string {
  return /["\\]/.test(value) ? value.replace(/["\\]/g, "\\$&") : value;
}

export function decodeStoredRow(table: Table, stored: Record<string, NonNullable<unknown> | null>): Row {
  const row: Record<string, unknown> = {};
  for (const { name, column } of cellsOf(table)) {
    const value = stored[name];
    row[name] = value === null || value === undefined ? null : column.fromSql(value);
  }
  return row;
}

function* linesOf(table: Table, begun: TableVersions["newVersions"]): Generator<string> {
  const cells = cellsOf(table);
  // Joined at once, row by row: adding cell to cell would make an object in memory of every step.
  const line: (string | number)[] = new Array(cells.length + 2);
  for (const { row, from, to } of begun) {
    let at = 0;
    for (const { name, column } of cells) {
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

type Cell = { readonly name: string; readonly column: Column<unknown> };

const cells = new WeakMap<Table, readonly Cell[]>();

/** The columns of a table as a list, made once. */
function cellsOf(table: Table): readonly Cell[] {
  let known = cells.get(table);
  if (!known) {
    known = Object.entries(table.columns).map(([name, column]) => ({ name, column }));
    cells.set(table, known);
  }
  return known;
}
