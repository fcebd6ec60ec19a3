// JSON Schemas as types in a line, which models read at a fifth of the tokens.
import { isJsonObject } from "../lib/json.ts";
import type { JsonSchema } from "../schema/json-schema.ts";

/** Words for the patterns of our texts. */
const PATTERNS: ReadonlyMap<unknown, string> = new Map([
  ["^0x[0-9a-f]{40}$", "address"],
  ["^0x[0-9a-fA-F]{40}$", "address"],
  ["^0x[0-9a-f]{64}$", "hash"],
  ["^0x[0-9a-fA-F]{64}$", "hash"],
  ["^-?[0-9]+$", "integer text"],
  ["^(0|[1-9][0-9]*)$", "integer text"],
]);

/** Such as `{ id: integer text, status: OPEN | FILLED, fill?: { … } | null }[]`. */
export function describeType(schema: JsonSchema): string {
  const choices = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
  if (choices) return joinTypes(choices.map(describeType));
  if (schema.const !== undefined) return String(schema.const);
  if (Array.isArray(schema.enum)) return joinTypes(schema.enum.map(String));
  return joinTypes([schema.type ?? "any"].flat().map((type) => formatNamed(String(type), schema)));
}

function joinTypes(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

function formatNamed(type: string, schema: JsonSchema): string {
  if (type === "array") {
    const items = describeType((schema.items ?? {}) as JsonSchema);
    return items.includes(" | ") && !items.startsWith("{") ? `(${items})[]` : `${items}[]`;
  }
  if (type === "object") return formatObject(schema);
  if (type !== "string") return type;
  return PATTERNS.get(schema.pattern) ?? (schema.format === "date-time" ? "time" : "text");
}

function formatObject({ properties, required, additionalProperties }: JsonSchema): string {
  const names = Array.isArray(required) ? required : [];
  const fields = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).flatMap(
    ([name, schema]) => {
      const { description } = schema;
      // Tools have no argument that includes them.
      if (typeof description === "string" && description.startsWith("With include=")) return [];
      const note = typeof description === "string" ? ` (${description.replace(/\.$/, "")})` : "";
      return [`${name}${names.includes(name) ? "" : "?"}: ${describeType(schema)}${note}`];
    },
  );
  if (isJsonObject(additionalProperties)) fields.push(`[key]: ${describeType(additionalProperties)}`);
  return fields.length === 0 ? "object" : `{ ${fields.join(", ")} }`;
}
