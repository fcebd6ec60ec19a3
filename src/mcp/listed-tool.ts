// A tool as the list of tools shows it: enough to choose it and to call it.
import type { ToolDeclaration } from "./tool-declaration.ts";

export type ListedTool = Pick<ToolDeclaration, "name" | "title" | "price"> & {
  readonly description: string;
  readonly listedSchema: ListedSchema;
  readonly isReadOnly: boolean;
};

/** A call says itself what is wrong with its arguments. */
export type ListedSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
};

/** Adds the price of a call to a tool whose text does not have it. */
export function addPrice(tool: ListedTool, price: NonNullable<ListedTool["price"]>): ListedTool {
  return { ...tool, price, description: `${tool.description} ${price.sentence}` };
}
