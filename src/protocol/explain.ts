// Explains an event: its name, its arguments as JSON can carry them, and one sentence.
import { joinSentence, type Sentence } from "../schema/sentence.ts";
import type { DecodedEvent } from "./decode-logs.ts";
import type { FilteredEvent } from "./event-links.ts";

export type ExplainedEvent = {
  readonly eventName: string;
  readonly args: Readonly<Record<string, string | boolean>>;
  readonly description: string;
};

type LinkedEvent = DecodedEvent & Pick<FilteredEvent, "linked">;

export function explainEvent(event: LinkedEvent): ExplainedEvent {
  return {
    eventName: event.name,
    args: formatArguments(event.args),
    description: joinSentence(explainParts(event)),
  };
}

/** The sentence in parts. Events of an intent have its id alone: its tokens and limits are in linked rows. */
export function explainParts(event: LinkedEvent): Sentence {
  const [input_token = null] = event.linked?.input_token ?? [];
  const [output_token = null] = event.linked?.output_token ?? [];
  const [amount_in_max = null] = event.linked?.amount_in_max ?? [];
  const [amount_out_min = null] = event.linked?.amount_out_min ?? [];
  return event.rule.explain(event, { input_token, output_token, amount_in_max, amount_out_min });
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
