// Every action of a history by its name.

import type { HistoryAction } from "../history-state.ts";
import type { ActionName } from "../mix.ts";
import * as agents from "./agents.ts";
import * as commerce from "./commerce.ts";
import * as intents from "./intents.ts";
import * as policies from "./policies.ts";

export const HISTORY_ACTIONS: Readonly<Record<ActionName, HistoryAction>> = {
  ...agents,
  ...intents,
  ...policies,
  ...commerce,
};
