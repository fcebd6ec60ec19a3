// Applies an edit of the made-up event to a copy of the repository, and takes it back.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventEdit } from "./edits.ts";

/** The text with every insertion; throws if one does not fit exactly once. */
export function insertInto(source: string, { file, insertions }: EventEdit): string {
  return insertions.reduce((text, { before, text: added }) => {
    const count = text.split(before).length - 1;
    if (count !== 1) throw new Error(`${file} has ${JSON.stringify(before)} ${count} times, not once`);
    return text.replace(before, () => added + before);
  }, source);
}

export function applyEdit(root: string, edit: EventEdit): void {
  const path = join(root, edit.file);
  writeFileSync(path, insertInto(readFileSync(path, "utf8"), edit));
}

/** Restores the file from the working tree that was copied. */
export function revertEdit(root: string, edit: EventEdit): void {
  writeFileSync(join(root, edit.file), readFileSync(edit.file, "utf8"));
}
