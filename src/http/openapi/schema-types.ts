// JSON Schemas as types: in TypeScript for programs, and as short texts for people.
import type { JsonSchema } from "../../schema/json-schema.ts";

type Field = { readonly key: string; readonly schema: JsonSchema };

type Notation = {
  readonly literal: (value: unknown) => string;
  readonly primitive: (type: unknown) => string;
  readonly object: (fields: readonly Field[]) => string;
};

/** The type in TypeScript; a reference becomes the name of its record. */
export function formatType(schema: JsonSchema, indent = ""): string {
  const inner = `${indent}  `;
  return format(schema, {
    literal: (value) => JSON.stringify(value),
    primitive: (type) => PRIMITIVES.get(type) ?? "unknown",
    object: (fields) => {
      const lines = fields.flatMap(({ key, schema: { description }, schema: field }) => [
        ...(typeof description === "string" ? [`${inner}/** ${description} */`] : []),
        `${inner}${key}: ${formatType(field, inner)};`,
      ]);
      return ["{", ...lines, `${indent}}`].join("\n");
    },
  });
}

const PRIMITIVES: ReadonlyMap<unknown, string> = new Map([
  ["integer", "number"],
  ["object", "Record<string, unknown>"],
  ...["number", "string", "boolean", "null"].map((type) => [type, type] as const),
]);

/** The type in one line, with the words of JSON Schema. */
export function formatSchemaType(schema: JsonSchema): string {
  return format(schema, {
    literal: String,
    primitive: (type) => String(type ?? "any"),
    object: (fields) =>
      `{ ${fields.map((field) => `${field.key}: ${formatSchemaType(field.schema)}`).join("; ")} }`,
  });
}

function format(schema: JsonSchema, notation: Notation): string {
  if (typeof schema.$ref === "string") return String(schema.$ref.split("/").at(-1));
  if (schema.const !== undefined) return notation.literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(notation.literal).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map((each) => format(each, notation)))].join(" | ");
  const { properties, required = [], items = {} } = schema;
  if (properties) {
    return notation.object(
      Object.entries(properties).map(([name, field]) => ({
        key: required.includes(name) ? name : `${name}?`,
        schema: field,
      })),
    );
  }
  if (schema.type !== "array") return [schema.type].flat().map(notation.primitive).join(" | ");
  const item = format(items, notation);
  return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
}
