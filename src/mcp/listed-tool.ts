// A tool as the list of tools shows it: enough to choose it and to call it.
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { isJsonObject } from "../lib/json.ts";
import type { ToolArguments, ToolDeclaration } from "./tool-declaration.ts";

export type ListedTool = Pick<ToolDeclaration, "name" | "title" | "price"> & {
  readonly description: string;
  /** Accepts any object: a call says what is wrong with one. */
  readonly listedSchema: object;
  readonly isReadOnly: boolean;
};

/** Compiles nothing: a server lists its tools in the first response, and most are never called. */
export function listSchema(schema: object): StandardSchemaWithJSON<ToolArguments> {
  const json = () => ({ ...schema });
  return {
    "~standard": {
      version: 1,
      vendor: "sextant",
      jsonSchema: { input: json, output: json },
      validate: (data) =>
        isJsonObject(data) ? { value: data } : { issues: [{ message: "The arguments must be an object." }] },
    },
  };
}

/** Adds the price of a call to a tool whose text does not have it. */
export function addPrice(tool: ListedTool, price: NonNullable<ListedTool["price"]>): ListedTool {
  return { ...tool, price, description: `${tool.description} ${price.sentence}` };
}
