// docs/payments.md draws the ledger as the code has it.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LEDGER_TRANSITIONS, type LedgerTransition } from "../../src/payments/ledger/row.ts";

const PAGE = "docs/payments.md";
const MARK = "<!-- payment-states -->\n";

/** The fenced block after the mark. */
function readDiagram(): string {
  const [, rest = ""] = readFileSync(PAGE, "utf8").split(MARK);
  return rest.slice(0, rest.indexOf("\n```", 3) + "\n```".length);
}

/** `absent` is drawn as the start and the end. A change that keeps the state is not drawn. */
function drawLedger(): string {
  const names = new Map<string, string[]>();
  for (const [name, { changes }] of Object.entries<LedgerTransition>(LEDGER_TRANSITIONS)) {
    for (const change of changes) {
      const [from, to] = change.map((state) => (state === "absent" ? "[*]" : state));
      if (from === to) continue;
      const edge = `  ${from} --> ${to}`;
      names.set(edge, [...(names.get(edge) ?? []), name]);
    }
  }
  const edges = [...names].map(([edge, labels]) => `${edge}: ${labels.join(", ")}`);
  return ["```mermaid", "stateDiagram-v2", ...edges, "```"].join("\n");
}

it("draws in the documents the transitions of the code", () => {
  expect(readDiagram(), `paste this after ${MARK}in ${PAGE}:\n${drawLedger()}\n`).toBe(drawLedger());
});
