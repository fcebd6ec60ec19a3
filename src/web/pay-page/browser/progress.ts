// Shows how far a purchase is, and when it fails: why, what to do, and whether money moved.
import { createElement, type ViewElement } from "../elements.ts";
import { buildNode, findById } from "./dom.ts";
import type { Step } from "./paid-request.ts";

const steps = findById("steps");
const status = findById("status");

export function showProgress(step: Step, text: string) {
  const items = [...steps.children];
  const current = items.findIndex((item) => item.getAttribute("data-step") === step);
  for (const [index, item] of items.entries()) {
    item.className = index < current ? "done" : "";
    if (index === current) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  }
  steps.hidden = false;
  showStatus("busy", text);
}

export function showDone(text: string) {
  steps.hidden = true;
  showStatus("good", text);
}

// Advice for the visitor about a response whose sentence gives none.
const ADVICE = new Map([
  [400, "Correct the form and try again."],
  [402, "Check that the paying account holds enough of the token, then pay again."],
  [429, "Wait a minute and try again."],
]);

const CONFLICT = 409;
const UNPAID = "Nothing was paid.";
const PENDING = "Your signed payment is kept in this tab: trying again uses it, and you pay at most once.";
const UNCERTAIN =
  "It is not certain whether you paid: look for the transfer in your wallet before you pay again.";

/** `isPending` tells whether a signed payment still waits for its response. */
export function showProblem(error: unknown, isPending: boolean) {
  const { status: code = 0 } = error as { status?: number };
  const reason = error instanceof Error ? error.message : String(error);
  const money = isPending ? PENDING : code === CONFLICT ? UNCERTAIN : UNPAID;
  steps.hidden = true;
  showStatus(
    "bad",
    createElement("strong", reason),
    createElement("span", ADVICE.get(code) ?? ""),
    createElement("span.money", money),
  );
}

function showStatus(look: "busy" | "good" | "bad", ...parts: (ViewElement | string)[]) {
  status.className = look;
  // Spaces, so that the sentences are apart for a screen reader as well.
  status.replaceChildren(...parts.flatMap((part) => [buildNode(part), " "]));
}

/** The placeholder of the result while it is read. */
export function renderPlaceholder() {
  const card = (lines: number) =>
    createElement("div.card.placeholder", ...Array.from({ length: lines }, () => createElement("span")));
  return createElement("div", { "aria-hidden": "true" }, createElement("div.two", card(4), card(4)), card(6));
}
