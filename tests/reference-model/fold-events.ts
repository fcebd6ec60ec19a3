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
  const past = events.filter((event) => event.block <= block);
  return withTotals(extendModel(null, past), past);
}

/** The model after more events, without totals; null is before the first one. The given model stays as it is. */
export function extendModel(before: ReadModel | null, events: readonly ModelEvent[]): ReadModel {
  const model = before?.copy() ?? new ReadModel(RULES);
  for (const event of events) model.apply(event);
  return model;
}

/** The same rows, and the totals of all events that led to them. */
export function withTotals(before: ReadModel, past: readonly ModelEvent[]): ReadModel {
  const model = before.copy();
  countTotals(model, past);
  return model;
}
