// docs/payments.md shows the payment flow and the ledger as the code has them.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LEDGER_TRANSITIONS, type LedgerTransition } from "../../src/payments/ledger/transitions.ts";
import { FLOW } from "../../src/payments/paywall/flow-states.ts";

const PAGE = "docs/payments.md";

/** The fenced block after a mark. */
function blockAfter(mark: string): string {
  const text = readFileSync(PAGE, "utf8");
  const start = text.indexOf(`<!-- ${mark} -->\n`);
  if (start < 0) return "";
  const rest = text.slice(start + mark.length + "<!--  -->\n".length);
  return rest.slice(0, rest.indexOf("\n```", 3) + "\n```".length);
}

const mermaid = (lines: readonly string[]) =>
  ["```mermaid", "stateDiagram-v2", ...lines.map((line) => `  ${line}`), "```"].join("\n");

/** `absent` is drawn as the start and the end. A change that keeps the state is not drawn. */
function ledgerDiagram(): string {
  const names = new Map<string, string[]>();
  for (const [name, { changes }] of Object.entries<LedgerTransition>(LEDGER_TRANSITIONS)) {
    for (const change of changes) {
      const [from, to] = change.map((state) => (state === "absent" ? "[*]" : state));
      if (from === to) continue;
      const edge = `${from} --> ${to}`;
      names.set(edge, [...(names.get(edge) ?? []), name]);
    }
  }
  return mermaid([...names].map(([edge, labels]) => `${edge}: ${labels.join(", ")}`));
}

function flowDiagram(): string {
  const edges = Object.entries(FLOW).flatMap(([from, next]) =>
    next.map((to) => `${from} --> ${to === "done" ? "[*]" : to}`),
  );
  return mermaid(["[*] --> opening", ...edges]);
}

it.each([
  ["payment-states", ledgerDiagram()],
  ["payment-flow", flowDiagram()],
])("%s in the documents is the table in the code", (mark, expected) => {
  expect(blockAfter(mark), `paste this after <!-- ${mark} --> in ${PAGE}:\n${expected}\n`).toBe(expected);
});
