// Writes groups of chain-data/ in the form that people read: one entry a line.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

type Group = { readonly sources: readonly string[]; readonly date: string; readonly data: unknown };

/** Replaces one group of a file and leaves the others as they are. */
export function writeGroup(slug: string, kind: string, name: string, group: Group): void {
  const folder = `chain-data/${slug}`;
  const file = `${folder}/${kind}.json`;
  // A chain that was just added has no file yet.
  mkdirSync(folder, { recursive: true });
  const groups = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  writeFileSync(file, formatDataFile({ ...groups, [name]: group }));
  process.stdout.write(`${file}: ${name}\n`);
}

// An entry with three addresses and a symbol fits; a list of texts is broken earlier, since each is a line to read.
const ENTRY_LENGTH_MAX = 240;
const TEXTS_LENGTH_MAX = 110;

export function formatDataFile(value: unknown): string {
  return `${format(value, "")}\n`;
}

function format(value: unknown, indent: string): string {
  const line = formatLine(value);
  if (typeof value !== "object" || value === null) return line;
  const isTexts = Array.isArray(value) && value.length > 1 && value.every((each) => typeof each === "string");
  const lengthMax = isTexts ? TEXTS_LENGTH_MAX : ENTRY_LENGTH_MAX;
  if (indent.length + line.length <= lengthMax && !hasEntries(value)) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((each) => format(each, inner))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${format(each, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(",\n")}\n${indent}${close}`;
}

function formatLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(formatLine).join(", ")}]`;
  const fields = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${formatLine(each)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

/** Whether it is a list of objects, or has one: these stand on lines of their own. */
function hasEntries(value: object): boolean {
  const isEntries = (each: unknown) => Array.isArray(each) && each.some((item) => typeof item === "object");
  return isEntries(value) || Object.values(value).some(isEntries);
}
