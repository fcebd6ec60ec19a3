// The chains that a response lacks, in the schemas of responses that may lack some.
import type { JsonSchema } from "../../schema/json-schema.ts";

export const failedChains: JsonSchema = {
  type: "array",
  items: { type: "string" },
  minItems: 1,
  description:
    "Only with `partial=allow`: chains that could not be read. Nothing of them is in the response, and no total includes them: it is null, or marked as partial.",
};

/** The same response, with a key that most of them lack. */
export function addFailedChainsKey(schema: JsonSchema): JsonSchema {
  const properties = schema.properties as Readonly<Record<string, JsonSchema>>;
  return { ...schema, properties: { ...properties, failedChains } };
}
