// The schemas of an OpenAPI document, with references resolved.
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts";
import type { JsonSchema } from "../../../src/schema/json-schema.ts";

export type DescribedSchemas = ReturnType<typeof describedSchemas>;

export function describedSchemas(document: OpenApiDocument) {
  function followed(schema: JsonSchema | undefined): JsonSchema {
    const reference = schema?.$ref;
    if (typeof reference !== "string") return schema ?? {};
    return followed(document.components.schemas[reference.split("/").at(-1) ?? ""]);
  }

  function fieldsOf(schema: JsonSchema | undefined): Readonly<Record<string, JsonSchema>> {
    return (followed(schema).properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  }

  /** The JSON types a schema allows. */
  function typesOf(schema: JsonSchema | undefined): string[] {
    const { type, anyOf, oneOf, const: constant } = followed(schema);
    const choices = (anyOf ?? oneOf) as JsonSchema[] | undefined;
    if (choices) return [...new Set(choices.flatMap(typesOf))].sort();
    if (type === undefined && constant !== undefined) return [typeof constant];
    return [type].flat().map(String).sort();
  }

  function operation(method: string, path: string) {
    const found = document.paths[path]?.[method.toLowerCase()];
    if (!found) throw new Error(`/openapi.json has no ${method} ${path}`);
    return found;
  }

  function responseSchema(method: string, path: string, status = "200"): JsonSchema {
    const response = operation(method, path).responses[status];
    if (!response || "$ref" in response) throw new Error(`${method} ${path} has no ${status}`);
    return followed(Object.values(response.content ?? {})[0]?.schema);
  }

  return { followed, fieldsOf, typesOf, operation, responseSchema };
}
