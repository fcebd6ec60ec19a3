// How column values arrive: exactly, as text where JavaScript has no exact type for them.
import { type CustomTypesConfig, types } from "pg";

const TEXT_ARRAY: number = 1009;
const TIMESTAMP_ARRAY = 1115;
const DATE_ARRAY = 1182;
const NUMERIC_ARRAY = 1231;

export const asText = (value: string): string => value;
const asTextArray = types.getTypeParser(TEXT_ARRAY, "text");

// The driver leaves text, int8 and numeric as they are too, only not without looking. But it reads arrays of numeric as
// floats, and dates without a zone as midnight in this machine's zone: both would change values quietly.
const EXACT: ReadonlyMap<number, (value: string) => unknown> = new Map([
  [types.builtins.TEXT, asText],
  [types.builtins.INT8, asText],
  [types.builtins.NUMERIC, asText],
  [types.builtins.DATE, asText],
  [types.builtins.TIMESTAMP, asText],
  [DATE_ARRAY, asTextArray],
  [TIMESTAMP_ARRAY, asTextArray],
  [NUMERIC_ARRAY, asTextArray],
]);

export const columnParsers: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    (format !== "binary" && EXACT.get(oid)) || types.getTypeParser(oid, format ?? "text"),
};
