// An entity diagram of the index, in Mermaid, from the table declarations.
import type { Table } from "../../src/schema/table.ts";

export function formatEntityDiagram(tables: readonly Table[]): string {
  const entities = tables.map((table) => `  ${table.name} {\n${columnLines(table).join("\n")}\n  }`);
  return [
    "```mermaid",
    "erDiagram",
    ...tables.flatMap((table) => relations(table, tables)),
    ...entities,
    "```",
  ].join("\n");
}

function columnLines({ columns, key }: Table): string[] {
  return Object.entries(columns).map(([name, { sql, nullable }]) => {
    const marker = (key as readonly string[]).includes(name) ? " PK" : "";
    return `    ${typeName(sql)} ${name}${marker}${nullable ? ' "nullable"' : ""}`;
  });
}

/** Mermaid takes a word: `numeric(78,0)` is numeric, `text collate "C"` is text. */
function typeName(sql: string): string {
  return /^\w+/.exec(sql)?.[0] ?? sql;
}

/** A column named like the only key column of another table refers to it; of several such tables, to the first declared. */
function relations(table: Table, tables: readonly Table[]): string[] {
  return Object.keys(table.columns).flatMap((name) => {
    const target = tables.find(
      (other) => !isRollup(other) && other.key.length === 1 && other.key[0] === name,
    );
    if (target === undefined || target === table) return [];
    const isSameKey = table.key.length === 1 && table.key[0] === name;
    return [`  ${target.name} ||--o${isSameKey ? "|" : "{"} ${table.name} : ${name}`];
  });
}

/** Counters share the key of what they count; they are no targets of references. */
function isRollup({ hasProvenance }: Table): boolean {
  return !hasProvenance;
}
