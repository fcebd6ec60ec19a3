// A time as a parameter: how it is written, and how it is described.
import { Fault } from "../lib/fault.ts";
import { isMoment, MOMENT_PATTERN } from "../lib/moment.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { ParameterKind } from "./parameter.ts";

/** How times are written, for descriptions. */
export const TIMES =
  "`7d` ago (also `m`, `h` and `w`), `2026-11-10` (its first second in UTC) or `2026-11-10T12:00Z`";

/** Clients in TypeScript take a Date, too. */
export const timeJson: JsonSchema = { type: "string", "x-time": true };

/** The text itself: only a route knows the present, from which an age counts. */
export const timeKind: ParameterKind<string> = {
  json: timeJson,
  toolJson: { type: "string", pattern: MOMENT_PATTERN },
  parse: (text, name) => {
    if (isMoment(text)) return text;
    throw new Fault("INPUT_INVALID", `${name} must be a time: ${TIMES.replaceAll("`", "")}.`);
  },
};
