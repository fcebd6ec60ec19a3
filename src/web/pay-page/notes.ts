// Sorts what a response says about itself: notes that every one has, and warnings, which ask for attention.
import { createElement, renderCard, renderFacts } from "./elements.ts";
import type { ViewContext } from "./result-view.ts";
import { renderTime, shortenSentence } from "./texts.ts";

// A sentence that matches none of these is a warning: what is not known to be routine may matter.
const ROUTINE = [
  /^.+ was read at block \d+ \(0x[0-9a-f]{64}\)\.$/,
  /^.+: recent activity and unlisted tokens are found by token transfers since block \d+(?: \(about [\w ]+\))?(; transfers of .+ itself leave no log and are not shown|, and transfers of .+ itself as far as the chain logs them)\.$/,
  /^.+: permissions are those of every known spender of list .+ for held tokens, stablecoins and positions, and of approvals in logs since block \d+; older ones for other spenders are not found\.$/,
  /^.+: session keys are found by logs since block \d+\.$/,
  /^Classified as spam on .+ and not counted: /,
];

export function sortNotes(sentences: readonly string[]): { notes: string[]; warnings: string[] } {
  const isRoutine = (sentence: string) => ROUTINE.some((form) => form.test(sentence));
  return {
    notes: sentences.filter(isRoutine),
    warnings: sentences.filter((sentence) => !isRoutine(sentence)),
  };
}

export function renderWarnings(warnings: string[]) {
  const title = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  return createElement(
    "section.card.warnings",
    { "aria-label": title },
    createElement("h3", title),
    renderSentences(warnings),
  );
}

export function renderNotes(
  { timestamp, provider }: { timestamp: string; provider: string },
  notes: string[],
  { timeZone }: ViewContext,
  facts: string[][] = [],
) {
  return renderCard(
    "How it was read",
    renderFacts([["Taken", renderTime(timestamp, timeZone)], ["Source of balances", provider], ...facts]),
    notes.length === 0 ? null : createElement("div.notes", { role: "note" }, renderSentences(notes)),
  );
}

function renderSentences(sentences: string[]) {
  const items = sentences.map((sentence) => createElement("li", ...shortenSentence(sentence)));
  return createElement("ul.plain", ...items);
}
