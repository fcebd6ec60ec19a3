// The kinds of value a column can hold; each kind answers for itself in SQL, in memory and in JSON.

/** JSON Schema of a value, as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Column<T> = {
  /** The column's type in PostgreSQL. */
  readonly sql: string;
  readonly nullable: boolean;
  /** Whether its text form is letters, digits and signs only, with nothing to escape wherever it is written. */
  readonly isEscapeFree: boolean;
  /** Whether outsiders decide how long its text is, so that a list of such rows has to stop at a number of bytes. */
  readonly isUnbounded: boolean;
  /** PostgreSQL's text form; null is written by whoever writes the row. */
  toSql(value: NonNullable<T>): string;
  /** The value from what the driver gives: text for numbers, native for booleans and small integers. */
  fromSql(value: NonNullable<unknown>): T;
  /** How the value looks in an answer. */
  readonly json: JsonSchema;
};

export type ValueOf<C> = C extends Column<infer T> ? T : never;

const asText = (value: NonNullable<unknown>): string => String(value);
const same = (value: string): string => value;

function hexColumn(json: JsonSchema, unbounded = false): Column<string> {
  const sql = 'text collate "C"';
  return {
    sql,
    nullable: false,
    isEscapeFree: true,
    isUnbounded: unbounded,
    toSql: same,
    fromSql: asText,
    json,
  };
}

function integerColumn(sql: string): Column<bigint> {
  const json = { type: "string", pattern: "^-?[0-9]+$" };
  return {
    sql,
    nullable: false,
    isEscapeFree: true,
    isUnbounded: false,
    toSql: String,
    fromSql: (value) => BigInt(asText(value)),
    json,
  };
}

/** Any uint256; numeric because no integer type of PostgreSQL is that wide. */
export const uint256 = integerColumn("numeric(78,0)");
/** A difference of two uint256. */
export const int257 = integerColumn("numeric(79,0)");
/** A sum of such values. It has no limit, because anyone may log the largest amount again and again. */
export const unboundedInteger = integerColumn("numeric");
/** Unix seconds, block numbers and counts: far below 2^63. */
export const uint63 = integerColumn("bigint");

/** An integer small enough to be a number in JSON. */
export const uint16: Column<number> = {
  sql: "integer",
  nullable: false,
  isEscapeFree: true,
  isUnbounded: false,
  toSql: String,
  fromSql: Number,
  json: { type: "integer", minimum: 0, maximum: 65_535 },
};

export const address = hexColumn({ type: "string", pattern: "^0x[0-9a-f]{40}$" });
const HASH_JSON = { type: "string", pattern: "^0x[0-9a-f]{64}$" };
export const bytes32 = hexColumn(HASH_JSON);
export const bytes4 = hexColumn({ type: "string", pattern: "^0x[0-9a-f]{8}$" });
export const bytes = hexColumn({ type: "string", pattern: "^0x([0-9a-f]{2})*$" }, true);
/** Whatever an event says. */
export const unboundedText: Column<string> = {
  sql: 'text collate "C"',
  nullable: false,
  isEscapeFree: false,
  isUnbounded: true,
  toSql: same,
  fromSql: asText,
  json: { type: "string" },
};
/** Text of our own making, such as a status. */
export const boundedText: Column<string> = { ...unboundedText, isUnbounded: false };

export const bool: Column<boolean> = {
  sql: "boolean",
  nullable: false,
  isEscapeFree: true,
  isUnbounded: false,
  toSql: (value) => (value ? "t" : "f"),
  fromSql: (value) => value === true,
  json: { type: "boolean" },
};

/** Whether its values are 32 bytes, so that one may be the hash of something stored elsewhere. */
export function isHashColumn({ json }: Column<unknown>): boolean {
  const [first] = Array.isArray(json.anyOf) ? json.anyOf : [json];
  return first === HASH_JSON;
}

/** The same kind where the value may be unknown: null, never a default. */
export function orNull<T>(column: Column<T>): Column<T | null> {
  return { ...column, nullable: true, json: { anyOf: [column.json, { type: "null" }] } };
}
