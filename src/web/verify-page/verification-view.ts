// Shows a verification as elements: the summary, the coverage, and a row for each check.
import { describeStatus, type Verification, type VerificationRow } from "@sextant/client/verify/verification";
import { createElement, renderCard, renderTable, type ViewElement } from "../pay-page/elements.ts";

export function renderVerification({
  ok,
  summary,
  record,
  coverage,
  rows,
}: Verification): readonly ViewElement[] {
  const title = ok ? "Checked" : "Not proven";
  const share =
    coverage === null
      ? null
      : createElement(
          "p.soft",
          `Proven: $${coverage.provenUsd} of $${coverage.totalUsd}, and $${coverage.conditionalUsd} under a condition.`,
        );
  const columns = [{ name: "Value" }, { name: "Result" }, { name: "Why" }];
  const table = renderTable(
    { look: "checks", caption: "Every check with its result", columns },
    createElement("tbody", ...rows.map(renderRow)),
  );
  const look = ok ? "p.verdict" : "p.verdict.failed";
  const subject = record === null ? null : createElement("p", cut(`${record.kind} ${record.id}`));
  return [renderCard(title, createElement(look, summary), subject, share, table)];
}

function renderRow(row: VerificationRow): ViewElement {
  const { path, value, stated, status, reason } = row;
  return createElement(
    "tr",
    createElement(
      "th",
      { scope: "row" },
      createElement("bdi", cut(path === "" ? "the whole response" : path)),
      stated === null || stated === value ? null : createElement("small", createElement("bdi", cut(stated))),
      value === null ? null : createElement("small", createElement("bdi", cut(value))),
    ),
    createElement(`td.${status}`, createElement("strong", describeStatus(row))),
    createElement("td", createElement("bdi", cut(reason))),
  );
}

// A symbol or a pointer of a hostile file may be as long as the file. The longest honest text has less.
const TEXT_MAX = 300;

function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}
