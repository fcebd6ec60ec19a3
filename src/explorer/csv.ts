// Rows as CSV (RFC 4180), in which no spreadsheet finds a formula.
import { isJsonObject } from "../lib/json.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { ApiRecord } from "./context.ts";

/** A field of a record: its keys from the outside in. */
type FieldPath = readonly string[];

// Spreadsheets run cells that begin like this (OWASP, "CSV injection").
const FORMULA = /^[=+\-\u2212@|%]/;
// Characters that spreadsheets leave out, or do not show, before it.
const BLANK = /^[\p{Z}\p{C}]+/u;

/** The first line: the names of the fields. */
export function formatCsvHead(fields: readonly FieldPath[]): string {
  return formatLine(fields.map((path) => path.join(".")));
}

/** A line for each record. */
export function formatCsvRows(fields: readonly FieldPath[], records: readonly ApiRecord[]): string {
  return records.map((record) => formatLine(fields.map((path) => toText(readField(record, path))))).join("");
}

function formatLine(cells: readonly string[]): string {
  return `${cells.map(formatCell).join(",")}\r\n`;
}

export function formatCell(text: string): string {
  // The quote makes it text.
  const guarded = isRunnable(text) ? `'${text}` : text;
  return /[",\r\n']/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

function isRunnable(text: string): boolean {
  if (/^[\t\r\n]/.test(text)) return true;
  // In its compatible form a full-width character is the plain one.
  const [first = ""] = text.replace(BLANK, "");
  return FORMULA.test(first.normalize("NFKC"));
}

function readField(record: ApiRecord, path: FieldPath): unknown {
  return path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : null), record);
}

/** A missing value is an empty cell. */
function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The fields of the records under a key of a response, objects inside them by their own fields. */
export function fieldsOf(response: JsonSchema, key: string): readonly FieldPath[] {
  const list = propertiesOf(response)[key];
  const item = isJsonObject(list) ? (list.items as JsonSchema | undefined) : undefined;
  if (item === undefined) throw new TypeError(`the response has no list ${key}`);
  const required = new Set(formsOf(item).flatMap(({ required: names = [] }) => names as readonly string[]));
  // Other fields are part of a record only if a request includes them, which that of a file does not.
  const fields = Object.entries(propertiesOf(item)).filter(([name]) => required.has(name));
  return fields.flatMap(([name, schema]) => {
    const inner = Object.keys(propertiesOf(schema));
    return inner.length === 0 ? [[name]] : inner.map((each) => [name, each]);
  });
}

/** The fields of an object, or of all the forms that it may have. */
function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return Object.assign({}, ...formsOf(schema).map(({ properties }) => properties ?? {}));
}

function formsOf(schema: JsonSchema): readonly JsonSchema[] {
  return [schema, ...listOf(schema.anyOf), ...listOf(schema.oneOf)];
}

function listOf(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? (value as JsonSchema[]) : [];
}
