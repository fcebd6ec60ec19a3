// Renders loans: for each lending account what is owed of what is held, and how far that is from liquidation.
import type { LendingHealth } from "../../schema/portfolio/snapshot.ts";
import { formatUsd, toMillionths } from "./amounts.ts";
import { createElement, renderAmount, renderCard, renderFacts } from "./elements.ts";
import type { ViewContext } from "./result-view.ts";
import { renderChain, renderName } from "./texts.ts";

// The part of its value that the collateral may lose: a tenth is a bad day, a quarter a bad week.
const CLOSE = 100_000n;
const NEAR = 250_000n;

/** Null without a debt. */
export function renderLoans(health: readonly LendingHealth[], context: ViewContext) {
  const loans = health.filter(({ debtUsd, loanToValue }) => !(debtUsd === "0" || loanToValue === "0"));
  if (loans.length === 0) return null;
  return renderCard(
    loans.length === 1 ? "Loan" : "Loans",
    createElement("ul.loans", ...loans.map((loan) => renderLoan(loan, context))),
  );
}

function renderLoan(loan: LendingHealth, { nameOf }: ViewContext) {
  const { name, chain, healthFactor, distanceToLiquidation, collateralUsd, debtUsd } = loan;
  const { words, look } = judge(loan);
  return createElement(
    "li",
    createElement("h4", renderName(name), " ", renderChain(nameOf(chain))),
    createElement("p", { class: `verdict ${look}` }, words),
    renderGauge(loan, look),
    renderFacts([
      ["Health factor", healthFactor === null ? "unknown" : cutDecimals(healthFactor)],
      ["Collateral may lose", distanceToLiquidation === null ? "unknown" : formatPart(distanceToLiquidation)],
      ["Owed", renderAmount(debtUsd === null ? "unknown" : formatUsd(debtUsd))],
      ["Collateral", renderAmount(collateralUsd === null ? "unknown" : formatUsd(collateralUsd))],
    ]),
  );
}

function judge({ liquidatable, distanceToLiquidation }: LendingHealth) {
  if (liquidatable === true) return { words: "Can be liquidated now", look: "bad" };
  if (distanceToLiquidation === null)
    return { words: "Its health is unknown: see the warnings", look: "warn" };
  const distance = toMillionths(distanceToLiquidation);
  if (distance < CLOSE) return { words: "Close to liquidation", look: "bad" };
  if (distance < NEAR) return { words: "Not far from liquidation", look: "warn" };
  return { words: "Far from liquidation", look: "good" };
}

/** The debt as a part of the collateral, with a mark at the begin of liquidation. */
function renderGauge({ loanToValue, liquidationThreshold }: LendingHealth, look: string) {
  if (loanToValue === null || liquidationThreshold === null) return null;
  const place = (text: string) => String(Math.min(Number(toMillionths(text)) / 10_000, 100));
  const words = `Owes ${formatPart(loanToValue)} of its collateral; liquidation begins at ${formatPart(liquidationThreshold)}`;
  return createElement(
    "svg",
    {
      class: `gauge ${look}`,
      viewBox: "0 0 100 6",
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": words,
    },
    createElement("rect", { x: "0", y: "1", width: "100", height: "4", class: "track" }),
    createElement("rect", { x: "0", y: "1", width: place(loanToValue), height: "4", class: "fill" }),
    createElement("rect", {
      x: place(liquidationThreshold),
      y: "0",
      width: "0.6",
      height: "6",
      class: "limit",
    }),
  );
}

/** Cut rather than rounded, so that no loan looks safer than it is. */
function cutDecimals(text: string) {
  return /^-?\d+(?:\.\d{1,2})?/.exec(text)?.[0] ?? text;
}

/** A part of one as a percentage, cut to one decimal. */
function formatPart(text: string) {
  const thousandths = toMillionths(text) / 1000n;
  return `${Number(thousandths) / 10} %`.replace("-", "−");
}
