// The rows that an event has changed, as clients get them: the columns of the tables, with values as in other responses.
import { tables } from "../../protocol/domains.ts";
import type { RowChange } from "../../protocol/row-changes.ts";
import { closedObject, type JsonSchema, nullable, schemaOf, titledRecord } from "../../schema/json-schema.ts";
import type { Row, Table } from "../../schema/table.ts";

type RowRecord = Readonly<Record<string, string | number | boolean | null>>;

export type RowChangeRecord = {
  readonly table: string;
  /** The columns that identify the row. */
  readonly key: RowRecord;
  /** Null if the event has created the row. */
  readonly before: RowRecord | null;
  readonly after: RowRecord;
};

/** The tables of which any block can be read. */
export const VERSIONED_TABLES: readonly Table[] = tables.filter(({ history }) => history === "full");

export function describeRowChange({ table, before, after }: RowChange): RowChangeRecord {
  return {
    table: table.name,
    key: pick(after, table.key),
    before: before && pick(before, Object.keys(table.columns)),
    after: pick(after, Object.keys(table.columns)),
  };
}

function pick(row: Row, names: readonly string[]): RowRecord {
  const record: Record<string, string | number | boolean | null> = {};
  for (const name of names) record[name] = toJson(row[name]);
  return record;
}

function toJson(value: unknown): string | number | boolean | null {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (value === null) return null;
  throw new Error("a row has a value that no column holds");
}

export const ROW_CHANGES_SCHEMA = schemaOf<readonly RowChangeRecord[] | null>({
  ...nullable({ type: "array", items: { title: "RowChange", oneOf: VERSIONED_TABLES.map(changeSchema) } }),
  description:
    "With include=rows: the rows that the event has changed, before and after it. Null if the block is too large.",
});

function changeSchema(table: Table): JsonSchema {
  const jsonOf = (name: string): [string, JsonSchema] => [name, table.columns[name]?.json ?? {}];
  const columns = Object.fromEntries(Object.keys(table.columns).map(jsonOf));
  const row = titledRecord(`${toPascalCase(table.name)}Row`, columns);
  return closedObject({
    table: { type: "string", const: table.name },
    key: closedObject(Object.fromEntries(table.key.map(jsonOf))),
    before: nullable(row),
    after: row,
  });
}

function toPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
