// Every action of a history by its name.

import type { HistoryAction } from "../history-state.ts";
import type { ActionName } from "../mix.ts";
import { agentHistoryActions } from "./agents.ts";
import { commerceHistoryActions } from "./commerce.ts";
import { intentHistoryActions } from "./intents.ts";
import { policyHistoryActions } from "./policies.ts";

export const HISTORY_ACTIONS: Readonly<Record<ActionName, HistoryAction>> = {
  ...agentHistoryActions,
  ...intentHistoryActions,
  ...policyHistoryActions,
  ...commerceHistoryActions,
};
