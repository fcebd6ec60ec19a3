// Renders a snapshot: total, allocation, loans, warnings, tokens, positions, activity, and how it was read.
import type { ChainSummary } from "../../schema/portfolio/snapshot.ts";
import { renderGas } from "./account-view.ts";
import { renderActivity } from "./activity-table.ts";
import { listParts, renderAllocation } from "./allocation.ts";
import { computeShare, formatUsd, fromMillionths, sumMillionths, toMillionths } from "./amounts.ts";
import {
  createElement,
  renderAmount,
  renderCard,
  renderFacts,
  renderShareBar,
  type ViewElement,
} from "./elements.ts";
import { renderLoans } from "./loan-view.ts";
import { renderNotes, renderWarnings, sortNotes } from "./notes.ts";
import { renderPositions } from "./position-table.ts";
import type { KeptSnapshot } from "./result-view.ts";
import { renderTotalAmount, type ViewContext } from "./result-view.ts";
import { renderChain } from "./texts.ts";
import { renderTokens } from "./token-table.ts";

export function renderSnapshot(snapshot: KeptSnapshot, context: ViewContext): ViewElement[] {
  const { address, summary, tokens, positions, recentActivity } = snapshot;
  const { notes, warnings } = sortNotes(summary.warnings);
  const isEmpty = tokens.length === 0 && positions.length === 0;
  const secondCard = isEmpty ? renderNothing(snapshot, context) : renderAllocationCard(snapshot, context);
  const parts = [
    createElement("div.two", renderTotal(snapshot, context), secondCard),
    warnings.length === 0 ? null : renderWarnings(warnings),
    renderLoans(snapshot.health ?? [], context),
    ...(isEmpty ? [] : [renderTokens(tokens, context), renderPositions(positions, context)]),
    renderActivity(recentActivity, address, context),
    renderNotes(snapshot, notes, context),
  ];
  return parts.filter((part) => part !== null);
}

function renderTotal(snapshot: KeptSnapshot, context: ViewContext) {
  const { summary } = snapshot;
  const total = summary.totalValueUsd;
  return renderCard(
    "Total value",
    renderTotalAmount(total === null ? "Unknown" : formatUsd(total)),
    total === null
      ? createElement("p.soft", "A total without what is missing would be wrong: see the warnings.")
      : renderParts(snapshot),
    createElement("ul.shares", ...summary.chains.map((chain) => renderChainShare(chain, snapshot, context))),
  );
}

/** The parts of the total. */
function renderParts({ summary, tokens, positions }: KeptSnapshot) {
  const held = positions.map(({ valueUsd }) => valueUsd).filter((value) => toMillionths(value) > 0n);
  const owed = positions.map(({ valueUsd }) => valueUsd).filter((value) => toMillionths(value) < 0n);
  const inTokens = tokens.filter(({ spam }) => !spam).map(({ valueUsd }) => valueUsd);
  const format = (values: (string | null)[]) =>
    renderAmount(formatUsd(fromMillionths(sumMillionths(values))));
  return renderFacts([
    ["Tokens", format(inTokens)],
    ["Positions", format(held)],
    ...(owed.length === 0 ? [] : [["Debt", createElement("span.negative", format(owed))]]),
    [
      "Stablecoins among them",
      renderAmount(summary.stablecoinValueUsd === null ? "unknown" : formatUsd(summary.stablecoinValueUsd)),
    ],
    ["Tokens with a price", `${summary.pricedTokenCount} of ${summary.tokenCount}`],
  ]);
}

function renderChainShare(
  { chain, totalValueUsd }: ChainSummary,
  snapshot: KeptSnapshot,
  { nameOf }: ViewContext,
) {
  const { summary } = snapshot;
  const whole = summary.chains.reduce((sum, { totalValueUsd: value }) => sum + positive(value), 0n);
  const share = whole === 0n ? 0 : computeShare(positive(totalValueUsd), whole);
  return createElement(
    "li",
    renderChain(nameOf(chain)),
    renderShareBar(share, "s0"),
    createElement("span.value", renderAmount(totalValueUsd === null ? "unknown" : formatUsd(totalValueUsd))),
    renderGas(snapshot, chain),
  );
}

function positive(value: string | null) {
  const units = toMillionths(value);
  return units > 0n ? units : 0n;
}

function renderNothing({ chains }: KeptSnapshot, { nameOf }: ViewContext) {
  return renderCard(
    "Nothing found",
    createElement("p", `No known token and no position on ${chains.map(nameOf).join(", ")}.`),
    createElement(
      "p.soft",
      "Compare the address with the one you meant. Other chains may hold something: choose them above.",
    ),
  );
}

function renderAllocationCard(snapshot: KeptSnapshot, context: ViewContext) {
  const picture = renderAllocation(listParts(snapshot), context.nameOf);
  return renderCard(
    "Allocation",
    picture ?? createElement("p.soft", "Nothing in this wallet has a price on these chains."),
    picture === null
      ? null
      : createElement("p.soft", "Percent of everything here that has a price, before debts."),
  );
}
