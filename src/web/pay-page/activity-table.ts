// Renders recent activity: what left and what came, from or to whom, and who signed it.
import type { RecentActivity } from "../../schema/portfolio/snapshot.ts";
import { formatQuantity } from "./amounts.ts";
import {
  createElement,
  renderAmount,
  renderCard,
  renderFoldedTable,
  renderNumberCell,
  type ViewElement,
} from "./elements.ts";
import type { ViewContext } from "./result-view.ts";
import { renderChain, renderHex, renderName, renderTime, renderTransaction, shortenHex } from "./texts.ts";

type Direction = {
  label: string;
  look: string;
  sign: string;
  arrow: string;
  preposition: string;
  other: string | null;
};

const ENTRIES_SHOWN = 8;

const ACTIVITY_COLUMNS = [
  { name: "Transfer" },
  { name: "Transaction", look: "wide" },
  { name: "When", look: "number wide" },
  { name: "Amount", look: "number" },
];

export function renderActivity(activity: readonly RecentActivity[], wallet: string, context: ViewContext) {
  if (activity.length === 0) {
    const text = "No transfer of a listed token was found in the searched blocks.";
    return renderCard("Recent activity", createElement("p.soft", text));
  }
  const head = { look: "activity", caption: "Recent transfers, newest first", columns: ACTIVITY_COLUMNS };
  const rows = activity.map((entry) => renderEntry(entry, wallet, context));
  return renderCard("Recent activity", ...renderFoldedTable(head, rows, ENTRIES_SHOWN));
}

function renderEntry(entry: RecentActivity, wallet: string, context: ViewContext) {
  const { chain, hash, timestamp } = entry;
  const chainName = chain === null ? null : renderChain(context.nameOf(chain));
  const transaction =
    hash === null ? "unknown" : renderTransaction(hash, chain === null ? null : context.explorerOf(chain));
  const time = timestamp === null ? "unknown" : renderTime(timestamp, context.timeZone);
  const { label, look, sign, arrow, preposition, other } = findDirection(entry, wallet);
  return createElement(
    "tr",
    createElement(
      "th",
      { scope: "row" },
      createElement("span", { class: `direction ${look}` }, renderArrow(arrow), label),
      " ",
      other === null ? null : createElement("span.party", `${preposition} `, renderHex(other)),
      createElement("small", chainName, createElement("span.narrow", transaction)),
      ...listRemarks(entry, wallet),
    ),
    createElement("td.wide.transaction", transaction),
    createElement("td.number.wide", time),
    renderAmountCell(entry, { look, sign }, createElement("small.narrow", time)),
  );
}

function renderAmountCell(
  { transfer }: RecentActivity,
  { look, sign }: Pick<Direction, "look" | "sign">,
  below: ViewElement,
) {
  if (transfer === null) {
    const none = createElement("span.soft", "unknown");
    return renderNumberCell(none, "What moved is not known", "", below);
  }
  const { contract, symbol, amount, rawAmount } = transfer;
  const name = symbol ?? (contract === null ? "?" : shortenHex(contract));
  // Without decimals a number would be wrong by powers of ten.
  const quantity = amount === null ? "some" : renderAmount(`${sign}${formatQuantity(amount)}`);
  const shown = createElement("span", { class: look }, quantity, " ", renderName(name));
  return renderNumberCell(shown, amount ?? `${rawAmount} of the smallest unit`, "", below);
}

function findDirection({ from, to }: RecentActivity, wallet: string): Direction {
  if (from === wallet && to === wallet) {
    return { label: "To itself", look: "", sign: "", arrow: "M2 6h8", preposition: "", other: null };
  }
  if (from === wallet) {
    return {
      label: "Sent",
      look: "sent",
      sign: "−",
      arrow: "M3 9l6-6M4 3h5v5",
      preposition: "to",
      other: to,
    };
  }
  if (to === wallet) {
    return {
      label: "Received",
      look: "received",
      sign: "+",
      arrow: "M9 3l-6 6M8 9H3V4",
      preposition: "from",
      other: from,
    };
  }
  return { label: "Took part", look: "", sign: "", arrow: "M2 6h8", preposition: "with", other: to ?? from };
}

function renderArrow(path: string) {
  return createElement(
    "svg.arrow",
    { viewBox: "0 0 12 12", "aria-hidden": "true" },
    createElement("path", { d: path }),
  );
}

function listRemarks({ from, sender, lookalike }: RecentActivity, wallet: string): ViewElement[] {
  return [
    // People copy counterparties from such lists, which is what a poisoner waits for.
    lookalike
      ? createElement("small.remark.bad", "Looks like another address of this list: do not copy it")
      : null,
    from === wallet && sender !== null && sender !== wallet
      ? createElement("small.remark", "Sent by ", renderHex(sender), " with the wallet's permission")
      : null,
  ].filter((remark) => remark !== null);
}
