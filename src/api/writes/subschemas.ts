// Every schema inside a JSON Schema, with its place: keywords say where schemas are, the rest is data.
import { isJsonObject, type JsonObject } from "../../lib/json-object.ts";

export type Subschema = { readonly pointer: string; readonly schema: JsonObject };

const ONE = new Set([
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const MANY = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const NAMED = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** The schema itself first; `true` and `false` are schemas too and count as empty ones. */
export function* walkSubschemas(schema: unknown, pointer = ""): Generator<Subschema> {
  if (typeof schema === "boolean") yield { pointer, schema: {} };
  if (!isJsonObject(schema)) return;
  yield { pointer, schema };
  for (const [keyword, value] of Object.entries(schema)) {
    const below = `${pointer}/${escaped(keyword)}`;
    if (ONE.has(keyword)) yield* walkSubschemas(value, below);
    if (MANY.has(keyword) && Array.isArray(value)) {
      for (const [index, each] of value.entries()) yield* walkSubschemas(each, `${below}/${index}`);
    }
    if (NAMED.has(keyword) && isJsonObject(value)) {
      for (const [name, each] of Object.entries(value))
        yield* walkSubschemas(each, `${below}/${escaped(name)}`);
    }
  }
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
