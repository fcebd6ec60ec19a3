// JSON Schemas as short type texts.
import type { JsonSchema } from "../../schema/json-schema.ts";

/** The type in TypeScript-like notation; `@Name` refers to a record described elsewhere. */
export function formatSchemaType(schema: JsonSchema): string {
  if (typeof schema.$ref === "string") return `@${schema.$ref.split("/").at(-1)}`;
  if (Array.isArray(schema.enum)) return schema.enum.map(String).join(" | ");
  if (schema.const !== undefined) return String(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices))
    return [...new Set(choices.map((each: JsonSchema) => formatSchemaType(each)))].join(" | ");
  if (schema.type === "array")
    return `${parenthesize(formatSchemaType((schema.items ?? {}) as JsonSchema))}[]`;
  if (schema.properties) return formatObject(schema);
  return [schema.type ?? "any"].flat().join(" | ");
}

function formatObject(schema: JsonSchema): string {
  const required = new Set((schema.required ?? []) as readonly string[]);
  const fields = Object.entries(schema.properties as Readonly<Record<string, JsonSchema>>).map(
    ([name, type]) => `${name}${required.has(name) ? "" : "?"}: ${formatSchemaType(type)}`,
  );
  return `{ ${fields.join("; ")} }`;
}

function parenthesize(text: string): string {
  return text.includes(" | ") ? `(${text})` : text;
}
