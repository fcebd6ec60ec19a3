// Text that goes into a page, and the hash by which a page's policy lets its own style and script run.
import { createHash } from "node:crypto";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: unknown): string {
  return String(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** JSON for a data block of a page: nothing in it can end the block. */
export function jsonForHtml(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

/** As a content security policy names an inline style or script. */
export function cspSourceHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
