// FOLD_VERSION as it should be, and whether src/protocol/fold-version.ts says so.
import { readFileSync } from "node:fs";
import { type DeclarationHash, hashDeclarations, type ReadSource } from "./hash-declarations.ts";

export const FOLD_VERSION_FILE = "src/protocol/fold-version.ts";

// The code that turns stored logs into rows: the folds with the decoder and the declarations they use, and the code that applies
// their changes. `explain` of a rule is part of a response and never of a row.
const ROOTS = [
  { file: "src/protocol/fold.ts", names: ["createStoredLogsFold"] },
  { file: "src/store/index/row-versions.ts", names: ["RowVersions"] },
];
const NOT_IN_ROWS = ["explain"];
// Enough to tell versions apart, short enough to read in a diff.
const VERSION_DIGITS = 16;

type FoldVersion = { readonly version: string; readonly files: DeclarationHash["files"] };

export function computeFoldVersion(
  read: ReadSource = (file) => readFileSync(file, "utf8"),
  roots = ROOTS,
): FoldVersion {
  const { hash, files } = hashDeclarations(roots, read, NOT_IN_ROWS);
  return { version: hash.slice(0, VERSION_DIGITS), files };
}

/** A sentence when the committed version is not the one of the folds; null when it is. */
export function findStaleFoldVersion(): string | null {
  const { version } = computeFoldVersion();
  if (readFileSync(FOLD_VERSION_FILE, "utf8").includes(`FOLD_VERSION = "${version}"`)) return null;
  return (
    `The code that makes the rows has changed: FOLD_VERSION should be "${version}". Run \`npm run fold-version\`, or\n` +
    "`npm run fold-version -- --same-rows` when every row stays exactly as it is, which spares operators a rebuild."
  );
}
