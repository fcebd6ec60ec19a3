// Counters as an answer shows them: an object of strings, zero where nothing was counted yet.
import type { JsonSchema } from "../../schema/column.ts";
import { closedObject } from "../../schema/json-schema.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";

export function selectCountsSql(alias: string, keys: readonly string[]): SqlText {
  const pairs = keys.map((key) => `'${key}', coalesce(${alias}.${key}, 0)::text`);
  return sql`json_build_object(${rawSql(pairs.join(", "))})`;
}

export function countsSchema(keys: readonly string[]): JsonSchema {
  return closedObject(Object.fromEntries(keys.map((key) => [key, { type: "string" }])));
}
