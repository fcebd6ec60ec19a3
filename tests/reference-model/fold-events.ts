// The reference model of the protocol at a block.
import { commerceRules } from "./commerce-rules.ts";
import { intentRules } from "./intent-rules.ts";
import type { ModelEvent } from "./model-events.ts";
import { policyRules } from "./policy-rules.ts";
import { ReadModel } from "./read-model.ts";
import { registryRules } from "./registry-rules.ts";
import { countTotals } from "./total-rules.ts";

const RULES = { ...registryRules, ...intentRules, ...policyRules, ...commerceRules };

/** Folds the events up to and including a block, in chain order. */
export function foldIntoModel(events: readonly ModelEvent[], block: number): ReadModel {
  const model = new ReadModel(RULES);
  const past = events.filter((event) => event.block <= block);
  for (const event of past) model.apply(event);
  countTotals(model, past);
  return model;
}
