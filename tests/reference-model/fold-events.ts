// The reference model of the protocol at a block.
import { commerceRules } from "./commerce-rules.ts";
import { intentRules } from "./intent-rules.ts";
import type { ModelEvent } from "./model-events.ts";
import { policyRules } from "./policy-rules.ts";
import { ReadModel } from "./read-model.ts";
import { registryRules } from "./registry-rules.ts";

const RULES = { ...registryRules, ...intentRules, ...policyRules, ...commerceRules };

/** Folds the events up to and including a block, in chain order. */
export function foldIntoModel(events: readonly ModelEvent[], block: number): ReadModel {
  const model = new ReadModel(RULES);
  for (const event of events) if (event.block <= block) model.apply(event);
  return model;
}
