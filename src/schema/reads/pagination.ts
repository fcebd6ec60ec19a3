// Pages of a list: the parameters limit, offset and cursor, and the response body with its pagination.

import { Fault } from "../../lib/fault.ts";
import { closedObject, eachKey, type JsonSchema, type Schema, schemaOf } from "../json-schema.ts";
import { queryParameter, type ValuesOf } from "../parameter.ts";
import { joinSql, rawSql, type SqlText, sql } from "../sql.ts";
import { type ResultRow, type ResultRows, readHiddenColumn, toRecords } from "./read.ts";
import { PAGE_BYTES_MAX } from "./record.ts";

/** The expressions a list is sorted by; together they are unique. All ascend or all descend. */
export type SortOrder = {
  readonly direction: "asc" | "desc";
  readonly keys: readonly { readonly sql: string; readonly cast: "numeric" | "text" | "hex" }[];
};

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;
// PostgreSQL reads every row that an offset skips: a hundred of the largest pages cost it some 10 ms. Deeper pages are
// read by cursor, at the cost of the first page.
const OFFSET_MAX = 10_000;
// The longest cursor that we produce: a handful of ids, or a policy subject of three addresses.
const CURSOR_LENGTH_MAX = 1_024;

const limitKind = { json: { type: "integer", minimum: 1, default: LIMIT_DEFAULT }, parse: parseLimit };
const offsetKind = {
  json: { type: "integer", minimum: 0, maximum: OFFSET_MAX, default: 0 },
  parse: parseOffset,
};
const cursorKind = { json: { type: "string" }, parse: parseCursor };

export const pageParameters = [
  queryParameter(
    "limit",
    limitKind,
    `Records per page, at most ${LIMIT_MAX}; larger values count as ${LIMIT_MAX}. A page ends early if it would exceed ${PAGE_BYTES_MAX / 1024} KiB; continue with next_cursor, or with offset plus count.`,
    2,
  ),
  queryParameter(
    "offset",
    offsetKind,
    `Records to skip, at most ${OFFSET_MAX}. To go further, use cursor: every page then costs as much as the first.`,
    0,
  ),
  queryParameter("cursor", cursorKind, "next_cursor of the previous page, with the same filters."),
] as const;

/** The offset is decimal digits. */
export function readPageInput(values: ValuesOf<typeof pageParameters>) {
  const { limit = LIMIT_DEFAULT, offset = "0", cursor = null } = values;
  return { limit, offset, cursor };
}

/** The condition that a row comes after the cursor. */
export function afterCursor(order: SortOrder, cursor: readonly string[]): SqlText {
  if (cursor.length !== order.keys.length) throw badCursor();
  const keys = order.keys.map(({ sql: expression }) => expression).join(", ");
  const values = joinSql(
    order.keys.map(({ sql: expression, cast }, index) => {
      const value = cursor[index] ?? "";
      if (!CASTABLE[cast].test(value)) throw badCursor();
      return cast === "hex"
        ? sql`stored_hex(${rawSql(expression)}, ${value})`
        : sql`${value}::${rawSql(cast)}`;
    }),
    ", ",
  );
  return sql`(${rawSql(keys)}) ${rawSql(order.direction === "asc" ? ">" : "<")} (${values})`;
}

// Rejects what the cast in PostgreSQL would reject: a forged cursor is the client's error, not an internal one.
const CASTABLE = { numeric: /^-?[0-9]{1,78}$/, text: /^[^\0]*$/, hex: /^0x([0-9a-f]{2})*$/ } as const;

type PageOptions = {
  readonly limit: number;
  readonly offset: string;
  /** The key of the records in the body. */
  readonly key: string;
  readonly order: SortOrder;
  readonly extraFields: Readonly<Record<string, unknown>>;
  readonly mapRow: ((row: ResultRow) => unknown) | undefined;
  /** The block that the next pages are read at; null if their requests say it. */
  readonly atBlock: string | null;
};

/** The body with at most `limit` records; `requestedLimit` is what the client asked for. */
export function assemblePage(
  rows: ResultRows,
  options: PageOptions,
  requestedLimit = options.limit,
): unknown {
  const { limit, offset, key, extraFields, mapRow } = options;
  const records = toRecords(rows, limit);
  const count = records.length;
  const next = countFoundRows(rows) > count ? { next_cursor: formatCursor(rows, count - 1, options) } : {};
  return {
    ...extraFields,
    [key]: mapRow ? records.map(mapRow) : records,
    pagination: { limit: requestedLimit, offset: Number(offset), count, ...next },
  };
}

/** How many rows were found, including those beyond the byte limit. */
function countFoundRows({ columns, rows }: ResultRows): number {
  const at = columns.indexOf("_rows");
  return at < 0 || rows.length === 0 ? rows.length : Number(rows[0]?.[at]);
}

// The fields of a page besides its records: pagination with the longest cursor, and extra fields.
const FRAME_BYTES = 4_096;

/** The same with as many of the first records as fit into the bytes: at least one, so that every page advances. */
export function assemblePageWithin(rows: ResultRows, options: PageOptions, bytesMax: number): unknown {
  const { limit, mapRow } = options;
  let bytes = FRAME_BYTES;
  let count = 0;
  for (const record of toRecords(rows, limit)) {
    bytes += Buffer.byteLength(JSON.stringify(mapRow ? mapRow(record) : record)) + 1;
    if (bytes > bytesMax && count > 0) break;
    count += 1;
  }
  return assemblePage(rows, { ...options, limit: Math.max(count, 1) }, limit);
}

function formatCursor(rows: ResultRows, row: number, { order, atBlock }: PageOptions): string {
  const keys = order.keys.map((_, index) => readHiddenColumn(rows, row, `_${index}`));
  const encoded = Buffer.from(JSON.stringify(keys)).toString("base64url");
  return atBlock === null ? encoded : `${encoded}.${atBlock.replace("@", ".")}`;
}

/** The block that a cursor continues at; null if it names none. Any text may be given. */
export function readCursorBlock(cursor: string): string | null {
  const [, block, time] = CURSOR.exec(cursor) ?? [];
  if (block === undefined) return null;
  return time === undefined ? block : `${block}@${time}`;
}

// The keys of the last record, then the block and its time.
const CURSOR = /^[A-Za-z0-9_-]+(?:\.(\d{1,19})(?:\.(\d{1,19}))?)?$/;

function parseCursor(text: string): readonly string[] {
  try {
    if (text.length > CURSOR_LENGTH_MAX || !CURSOR.test(text)) throw new TypeError("not a cursor");
    const [keys = ""] = text.split(".");
    const parsed: unknown = JSON.parse(Buffer.from(keys, "base64url").toString("utf8"));
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === "string")) return parsed;
  } catch {
    // The error below names the parameter.
  }
  throw badCursor();
}

function badCursor(): Fault {
  return new Fault("INPUT_INVALID", "cursor must be the next_cursor of an earlier page of the same list.");
}

function parseLimit(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text) || Number(text) < 1) {
    throw new Fault("INPUT_INVALID", "limit must be a whole number from 1; more than 100 counts as 100.");
  }
  return Math.min(Number(text), LIMIT_MAX);
}

function parseOffset(text: string): string {
  if (!/^[0-9]+$/.test(text)) throw new Fault("INPUT_INVALID", "offset must be a whole number from 0.");
  if (Number(text) > OFFSET_MAX) {
    throw new Fault(
      "INPUT_INVALID",
      `offset must be at most ${OFFSET_MAX}; to go deeper, pass the next_cursor of each page as cursor.`,
    );
  }
  return String(Number(text));
}

export function pageSchema(
  key: string,
  itemSchema: JsonSchema,
  extraFieldSchemas: Readonly<Record<string, JsonSchema>>,
): Schema<unknown> {
  const pagination = closedObject(eachKey(["limit", "offset", "count"], { type: "integer" }), {
    next_cursor: { type: "string" },
  });
  return schemaOf({
    type: "object",
    properties: { ...extraFieldSchemas, [key]: { type: "array", items: itemSchema }, pagination },
    required: [...Object.keys(extraFieldSchemas), key, "pagination"],
    additionalProperties: false,
  });
}
