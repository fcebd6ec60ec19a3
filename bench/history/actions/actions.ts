// Every action of a history by its name.

import type { Action } from "../history-state.ts";
import type { ActionName } from "../mix.ts";
import * as agents from "./agents.ts";
import * as commerce from "./commerce.ts";
import * as intents from "./intents.ts";
import * as policies from "./policies.ts";

export const ACTIONS: Readonly<Record<ActionName, Action>> = {
  ...agents,
  ...intents,
  ...policies,
  ...commerce,
};
