// Names for the numbers of commerce: payment rails, and the subjects and kinds of trust signals.
import { type Html, html } from "../../lib/html.ts";
import type { ApiRecord } from "../api-call.ts";
import { badge, type RecordKind, recordLink } from "../components.ts";
import type { PageContext } from "../context.ts";

const RAILS = ["Transfer", "Swap", "Facilitator", "x402"] as const;

/** How it is paid; a number that the protocol does not name stays one. */
export function railName(rail: unknown): string {
  return RAILS[Number(rail)] ?? `Rail ${String(rail)}`;
}

export const SUBJECT_WORDS = ["merchant", "service", "facilitator", "agent"] as const;
export const KIND_WORDS = ["verification", "risk", "compliance", "fulfillment"] as const;

export function kindName(kind: unknown): string {
  const word = KIND_WORDS[Number(kind)];
  return word === undefined ? `Kind ${String(kind)}` : word.charAt(0).toUpperCase() + word.slice(1);
}

/** A signal about risk warns; the others speak for their subject, or only about it. */
export function kindBadge(kind: unknown): Html {
  const word = KIND_WORDS[Number(kind)];
  const tone = word === "risk" ? "warn" : word === "verification" ? "good" : "plain";
  return badge(kindName(kind), tone);
}

/** The subject of a signal, as a link if it has a page. */
export function subjectLink({ subject_type, subject_id }: ApiRecord, page: PageContext): Html {
  const word = SUBJECT_WORDS[Number(subject_type)];
  const id = String(subject_id);
  if (word === undefined) return html`Subject type ${String(subject_type)} #${id}`;
  const kind: RecordKind = word;
  return html`<span class="soft">${word}</span> ${recordLink(page, kind, id)}`;
}
