// The version of the code that makes the rows. `npm run fold-version` writes it, and `npm run check` compares it.

/**
 * A hash of the folds and of all code they use, so that a changed fold cannot be forgotten. Comments, formatting, types
 * and explanations do not count. A new version costs operators a rebuild: at the upgrade the indexer makes every row
 * again from the stored logs, and indexes no new block until then. Readers see the old rows meanwhile, and the database
 * needs room for both.
 */
export const FOLD_VERSION = "f6359ce0c3cb0d8f";

/**
 * Earlier versions whose rows are exactly the same, so that their databases are not rebuilt: 1 is the number that
 * earlier releases raised by hand. A missing entry costs a rebuild; a wrong one leaves wrong rows.
 */
export const EQUIVALENT_FOLD_VERSIONS: readonly (number | string)[] = [
  "69ad33ea959d4575",
  "ae826262bf27552c",
  "4d4e15e24474fa8a",
  "a92c647a207d192e",
  "12d9ecf3ce676013",
];
