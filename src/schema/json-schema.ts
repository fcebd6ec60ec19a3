// JSON Schema in the forms that our answers and bodies share.
import type { JsonSchema } from "./column.ts";

/** Every key is always there, and no other. */
export function closedObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

export function nullable(json: JsonSchema): JsonSchema {
  return { anyOf: [json, { type: "null" }] };
}
