// Exact column values: text if JavaScript has no exact type for them.
import { type CustomTypesConfig, types } from "pg";

const TEXT_ARRAY: number = 1009;
const TIMESTAMP_ARRAY = 1115;
const DATE_ARRAY = 1182;
const NUMERIC_ARRAY = 1231;

export const parseAsText = (value: string): string => value;
const parseTextArray = types.getTypeParser(TEXT_ARRAY, "text");

// The driver reads arrays of numeric as floats, and dates without a zone as midnight in this machine's zone: both
// silently change values. It returns text, int8 and numeric unchanged too; parseAsText lets RawRowQuery skip them.
const EXACT: ReadonlyMap<number, (value: string) => unknown> = new Map([
  [types.builtins.TEXT, parseAsText],
  [types.builtins.INT8, parseAsText],
  [types.builtins.NUMERIC, parseAsText],
  [types.builtins.DATE, parseAsText],
  [types.builtins.TIMESTAMP, parseAsText],
  [DATE_ARRAY, parseTextArray],
  [TIMESTAMP_ARRAY, parseTextArray],
  [NUMERIC_ARRAY, parseTextArray],
]);

export const typeParsers: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    (format !== "binary" && EXACT.get(oid)) || types.getTypeParser(oid, format ?? "text"),
};
