// A prompt: one of the usual jobs, as a text that a user picks and a model follows with the tools.
import type { GetPromptResult, McpServer } from "@modelcontextprotocol/server";
import { isJsonObject } from "../lib/json.ts";
import { listSchema } from "./listed-tool.ts";

export type Prompt = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Descriptions by name; all are required. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Names its arguments in braces, such as `{address}`. */
  readonly text: string;
};

// Far above an address, a name or an amount; the text goes to a model as the user's own.
const VALUE_LENGTH_MAX = 300;

export function registerPrompt(server: McpServer, prompt: Prompt): void {
  const { name, title, description, arguments: described } = prompt;
  const properties = Object.fromEntries(
    Object.entries(described).map(([key, text]) => [key, { type: "string", description: text }]),
  );
  const argsSchema = listSchema({ type: "object", properties, required: Object.keys(described) });
  server.registerPrompt(name, { title, description, argsSchema }, (args) => fillPrompt(prompt, args));
}

function fillPrompt({ name, text, arguments: described }: Prompt, args: unknown): GetPromptResult {
  const given = isJsonObject(args) ? args : {};
  const filled = text.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
    const value = given[key];
    if (typeof value === "string" && value !== "" && value.length <= VALUE_LENGTH_MAX) return value;
    throw new TypeError(`The prompt ${name} needs ${key}: ${described[key]}`);
  });
  return { messages: [{ role: "user", content: { type: "text", text: filled } }] };
}
