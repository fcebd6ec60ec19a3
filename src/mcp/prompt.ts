// A prompt: one of the usual jobs, as a text that a user picks and a model follows with the tools.
import { type GetPromptResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { Fault } from "../lib/fault.ts";

export type Prompt = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Descriptions by name; all are required. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Names its arguments in braces, such as `{address}`. */
  readonly text: string;
  /** Checks the arguments, and returns what else the text names; rejects with INPUT_INVALID. */
  readonly derive?: (args: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
};

// Far above an address, a name or an amount; the text goes to a model as the user's own.
const VALUE_LENGTH_MAX = 300;

export function listPrompt({ name, title, description, arguments: described }: Prompt) {
  const listed = Object.entries(described).map(([key, text]) => ({
    name: key,
    description: text,
    required: true,
  }));
  return { name, title, description, arguments: listed };
}

export function fillPrompt(prompt: Prompt, args: Readonly<Record<string, string>>): GetPromptResult {
  const { name, text, arguments: described, derive } = prompt;
  const missing = Object.entries(described).filter(([key]) => {
    const { length } = args[key] ?? "";
    return length === 0 || length > VALUE_LENGTH_MAX;
  });
  if (missing.length > 0) {
    const needed = missing.map(([key, description]) => `${key} (${description.replace(/\.$/, "")})`);
    throw rejectArguments(`The prompt ${name} needs ${needed.join(", ")}.`);
  }
  const values = { ...args, ...deriveValues(derive, args) };
  const filled = text.replaceAll(/\{(\w+)\}/g, (_, key: string) => values[key] ?? "");
  return { messages: [{ role: "user", content: { type: "text", text: filled } }] };
}

function deriveValues(derive: Prompt["derive"], args: Readonly<Record<string, string>>) {
  try {
    return derive?.(args);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw rejectArguments(error.message);
  }
}

function rejectArguments(sentence: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, sentence);
}
