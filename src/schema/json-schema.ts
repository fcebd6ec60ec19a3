// JSON Schema builders for responses and bodies.
import type { JsonSchema } from "./column.ts";

/** Every key is required, and no other is allowed. */
export function closedObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

export function nullable(json: JsonSchema): JsonSchema {
  return { anyOf: [json, { type: "null" }] };
}
