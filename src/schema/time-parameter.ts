// A time as a parameter: how it is written, and how it is described.
import { Fault } from "../lib/fault.ts";
import { exampleDay, isMoment, MOMENT_PATTERN } from "../lib/moment.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { ParameterKind } from "./parameter.ts";

/** How times are written, for descriptions, which are the same on every day. */
export const TIMES =
  "`7d` ago (also `m`, `h` and `w`), `YYYY-MM-DD` (its first second in UTC) or `YYYY-MM-DDThh:mmZ`";

/** The same for errors, with a day that can be tried. */
export function describeTimes(): string {
  return TIMES.replaceAll("`", "").replaceAll("YYYY-MM-DD", exampleDay()).replace("hh:mm", "12:00");
}

/** Clients in TypeScript take a Date, too. */
export const timeJson: JsonSchema = { type: "string", "x-time": true };

/** The text itself: only a route knows the present, from which an age counts. */
export const timeKind: ParameterKind<string> = {
  json: timeJson,
  toolJson: { type: "string", pattern: MOMENT_PATTERN },
  parse: (text, name) => {
    if (isMoment(text)) return text;
    throw new Fault("INPUT_INVALID", `${name} must be a time: ${describeTimes()}.`);
  },
};
