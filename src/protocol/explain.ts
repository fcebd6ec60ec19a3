// Explains an event: its name, its arguments as JSON can carry them, and one sentence.
import type { DecodedEvent } from "./decode-logs.ts";

export type ExplainedEvent = {
  readonly eventName: string;
  readonly args: Readonly<Record<string, string | boolean>>;
  readonly description: string;
};

export function explainEvent(event: DecodedEvent): ExplainedEvent {
  return {
    eventName: event.name,
    args: formatArguments(event.args),
    description: event.rule.explain(event),
  };
}

// Integers of any width as text, so that clients need not know which ones fit a number.
function formatArguments(args: Readonly<Record<string, unknown>>): Record<string, string | boolean> {
  const formatted: Record<string, string | boolean> = {};
  for (const name of Object.keys(args)) {
    const value = args[name];
    formatted[name] = typeof value === "boolean" ? value : String(value);
  }
  return formatted;
}
