// TypeScript declarations of a response, from its JSON Schema: one type per titled record.
import type { JsonSchema } from "../../schema/json-schema.ts";
import { createSchemaRegistry } from "./document.ts";

/** Declarations of the schema and of every titled record inside it, outermost first. */
export function renderTypeDeclarations(schema: JsonSchema): string {
  const registry = createSchemaRegistry();
  registry.register(schema);
  return Object.entries(registry.schemas())
    .reverse()
    .map(([name, record]) => `export type ${name} = ${formatType(record, "")};\n`)
    .join("\n");
}

/** The type of a schema; a reference becomes the name of its record. */
export function formatType(schema: JsonSchema, indent = ""): string {
  if (typeof schema.$ref === "string") return String(schema.$ref.split("/").at(-1));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) {
    return [...new Set(choices.map((each: JsonSchema) => formatType(each, indent)))].join(" | ");
  }
  if (schema.properties) return formatRecord(schema, indent);
  if (schema.type === "object") return "Record<string, unknown>";
  if (schema.type === "array") return formatArray((schema.items ?? {}) as JsonSchema, indent);
  return [schema.type].flat().map(formatPrimitive).join(" | ");
}

function formatArray(items: JsonSchema, indent: string): string {
  const type = formatType(items, indent);
  return type.includes(" | ") ? `(${type})[]` : `${type}[]`;
}

function formatRecord(schema: JsonSchema, indent: string): string {
  const required = new Set((schema.required ?? []) as readonly string[]);
  const inner = `${indent}  `;
  const fields = Object.entries(schema.properties as Readonly<Record<string, JsonSchema>>).flatMap(
    ([name, type]) => [
      ...(typeof type.description === "string" ? [`${inner}/** ${type.description} */`] : []),
      `${inner}${name}${required.has(name) ? "" : "?"}: ${formatType(type, inner)};`,
    ],
  );
  return ["{", ...fields, `${indent}}`].join("\n");
}

function formatPrimitive(type: unknown): string {
  if (type === "integer" || type === "number") return "number";
  return type === "string" || type === "boolean" || type === "null" ? type : "unknown";
}
