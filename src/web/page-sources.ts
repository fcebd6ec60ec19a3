// The style and the script of our pages, read from the files they are written in.
import { readFileSync } from "node:fs";

// Each after what it imports: joined in this order they are one module.
const MODULES = [
  "payment.js",
  "wallet.js",
  "purchase.js",
  "amounts.js",
  "elements.js",
  "allocation.js",
  "snapshot-view.js",
  "main.js",
];

// Later ones win over earlier ones of the same weight.
const STYLES = ["theme.css", "page.css", "snapshot.css"];

export function readPageStyle(): string {
  return STYLES.map(source).join("");
}

/** One module without imports: a policy names it by one hash, and a browser fetches nothing more. */
export function readPageScript(): string {
  return MODULES.map((name) => withoutModuleWords(source(name))).join("\n");
}

function withoutModuleWords(text: string): string {
  return text.replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");
}

function source(name: string): string {
  return readFileSync(new URL(`./pay-page/${name}`, import.meta.url), "utf8");
}
