// Column types, each with its form in SQL, in memory and in JSON.
import { FOREIGN_TEXT, type JsonSchema, nullable, type Schema, schemaOf } from "./json-schema.ts";

/** The form in a response of a value in memory: integers are decimal text. */
export type JsonForm<T> = T extends bigint ? string : T;

export type Column<T> = {
  /** The PostgreSQL type. */
  readonly sql: string;
  readonly nullable: boolean;
  /** Whether its text form never needs escaping: only letters, digits and signs. Not so for hex, see escapeHex. */
  readonly isEscapeFree: boolean;
  /** Whether its values are 0x text in memory and in JSON: statements convert by hex_text and stored_hex. */
  readonly isHex: boolean;
  /** Whether outsiders decide how long its text is, so that a list of such rows needs a byte limit. */
  readonly isUnbounded: boolean;
  /** PostgreSQL's text form; the writer of the row handles null. */
  toSql(value: NonNullable<T>): string;
  /** Converts what the driver returns: text for numbers, native values for booleans and small integers. */
  fromSql(value: NonNullable<unknown>): T;
  /** The form of the value in a response. */
  readonly json: Schema<JsonForm<T>>;
};

export type ValueOf<C> = C extends Column<infer T> ? T : never;

const toText = (value: NonNullable<unknown>): string => String(value);
const identity = (value: string): string => value;

/** Bytes take half the space of hex, in rows and in indexes, and have the same order. */
function hexColumn(json: JsonSchema, isUnbounded = false): Column<string> {
  return {
    sql: "bytea",
    nullable: false,
    isEscapeFree: false,
    isHex: true,
    isUnbounded,
    toSql: (value) => `\\${value.slice(1)}`,
    fromSql: toText,
    json: schemaOf(json),
  };
}

function integerColumn(sql: string): Column<bigint> {
  return {
    sql,
    nullable: false,
    isEscapeFree: true,
    isHex: false,
    isUnbounded: false,
    toSql: String,
    fromSql: (value) => BigInt(toText(value)),
    json: schemaOf({ type: "string", pattern: "^-?[0-9]+$" }),
  };
}

/** Any uint256; numeric, because PostgreSQL has no integer type that wide. */
export const uint256 = integerColumn("numeric(78,0)");
/** The difference of two uint256. */
export const int257 = integerColumn("numeric(79,0)");
/** A sum of such values, without a limit: anyone may log the largest amount repeatedly. */
export const unboundedInteger = integerColumn("numeric");
/** Unix seconds, block numbers and counts: far below 2^63. */
export const uint63 = integerColumn("bigint");

/** An integer small enough to be a number in JSON. */
export const uint16: Column<number> = {
  sql: "integer",
  nullable: false,
  isEscapeFree: true,
  isHex: false,
  isUnbounded: false,
  toSql: String,
  fromSql: Number,
  json: schemaOf({ type: "integer", minimum: 0, maximum: 65_535 }),
};

export const address = hexColumn({ type: "string", pattern: "^0x[0-9a-f]{40}$" });
const HASH_JSON = { type: "string", pattern: "^0x[0-9a-f]{64}$" };
export const bytes32 = hexColumn(HASH_JSON);
export const bytes4 = hexColumn({ type: "string", pattern: "^0x[0-9a-f]{8}$" });
export const bytes = hexColumn({ type: "string", pattern: "^0x([0-9a-f]{2})*$" }, true);
/** Text from an event, of any length, which its sender chose. */
export const unboundedText: Column<string> = {
  sql: 'text collate "C"',
  nullable: false,
  isEscapeFree: false,
  isHex: false,
  isUnbounded: true,
  toSql: identity,
  fromSql: toText,
  json: schemaOf({ type: "string", [FOREIGN_TEXT]: true }),
};
/** Text that we write ourselves, such as a status. */
export const boundedText: Column<string> = {
  ...unboundedText,
  isUnbounded: false,
  json: schemaOf({ type: "string" }),
};

export const bool: Column<boolean> = {
  sql: "boolean",
  nullable: false,
  isEscapeFree: true,
  isHex: false,
  isUnbounded: false,
  toSql: (value) => (value ? "t" : "f"),
  fromSql: (value) => value === true,
  json: schemaOf({ type: "boolean" }),
};

/** The length in bytes of a value in a response, known without reading it; `expression` is the column. */
export function lengthSql({ isHex }: Column<unknown>, expression: string): string {
  return isHex ? `2 + 2 * octet_length(${expression})` : `octet_length(${expression})`;
}

/** Whether the values are 32 bytes, so that one may be the hash of something stored elsewhere. */
export function isHashColumn({ json }: Column<unknown>): boolean {
  const [first] = Array.isArray(json.anyOf) ? json.anyOf : [json];
  return first === HASH_JSON;
}

/** The same type with null for an unknown value, never a default. */
export function orNull<T>(column: Column<T>): Column<T | null> {
  return { ...column, nullable: true, json: nullable(column.json) as Schema<JsonForm<T | null>> };
}
