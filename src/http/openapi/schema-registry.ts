// Collects titled schemas and replaces them by references, as readers and code generators expect.
import type { JsonSchema } from "../../schema/column.ts";

export type SchemaRegistry = {
  /** The schema with every titled part replaced by a reference. */
  register(schema: JsonSchema): JsonSchema;
  schemas(): Readonly<Record<string, JsonSchema>>;
};

export function createSchemaRegistry(): SchemaRegistry {
  const registered = new Map<string, JsonSchema>();
  const register = (schema: JsonSchema): JsonSchema => {
    const { title, ...rest } = mapParts(schema, register);
    if (typeof title !== "string") return rest;
    const name = title.replace(/[^A-Za-z0-9_]+/g, "");
    const known = registered.get(name);
    // Two shapes may share a name, such as a record alone and within a list; the second stays inline.
    if (known && JSON.stringify(known) !== JSON.stringify(rest)) return rest;
    registered.set(name, rest);
    return { $ref: `#/components/schemas/${name}` };
  };
  return { register, schemas: () => Object.fromEntries(registered) };
}

// The keywords that hold schemas; everything else is data and stays unchanged.
const MAPS = ["properties", "patternProperties", "$defs"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLES = ["items", "additionalProperties", "propertyNames", "not"];

function mapParts(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (MAPS.includes(key) && isObject(value)) {
        return [
          key,
          Object.fromEntries(Object.entries(value).map(([name, part]) => [name, apply(part, change)])),
        ];
      }
      if (LISTS.includes(key) && Array.isArray(value)) return [key, value.map((part) => apply(part, change))];
      return SINGLES.includes(key) ? [key, apply(value, change)] : [key, value];
    }),
  );
}

function apply(part: unknown, change: (part: JsonSchema) => JsonSchema): unknown {
  return isObject(part) ? change(part) : part;
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
