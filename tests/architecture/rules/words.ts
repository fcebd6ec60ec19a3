// Plain English and the field's own words: texts and identifiers use the established term.
import type { RepositoryRule } from "../repository.ts";

/** What is not written, and what to write instead. Identifiers are split into their words before they are compared. */
const WORDS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(whoever|nobody|somebody|everybody)\b/, "the subject: the client, the operator, another process"],
  [/\bcan not\b/, "cannot"],
  [/\bany more\b/, "no longer"],
  [/\bfor ever\b/, "forever, permanently"],
  [/\banew\b/, "again"],
  [/\b(answers?|answered|answering)\b/, "response, result; respond, return"],
  [/\b(questions?)\b/, "request, query"],
  [/\b(refuse|refuses|refused|refusing|refusals?)\b/, "reject, rejection, error"],
  [/\b(told|telling|heard|deaf)\b/, "reported, notified, listening"],
  [/\b(lent|borrower)\b/, "state override"],
  [/\b(sweeps?|sweeping|swept)\b/, "reconcile, reconciliation"],
  [/\b(seller|workshop|shelf|purse|twin|river|doors?|rooms?)\b/, "the table of words in CONTRIBUTING.md"],
];

const CHECKED = /\.(ts|mjs|js|md|sh|yaml|service)$|^\.env\.example$|^Dockerfile$|^\.ci\/run$/;
/** Quoted, generated or historical texts. */
const LEFT_OUT =
  /^(docs\/specification\/|contracts\/generated\/|contracts\/src\/|CHANGELOG\.md|tests\/architecture\/rules\/words\.ts|tests\/architecture\/architecture\.test\.ts|tests\/upgrade\/)/;
/** A line that has to use the word: a persisted value, a metric label, a quotation. It says so itself. */
const EXEMPT = /\bwords: /;

export const words: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => CHECKED.test(file) && !LEFT_OUT.test(file))
    .flatMap((file) =>
      repository
        .text(file)
        .split("\n")
        .flatMap((text, index) => {
          if (EXEMPT.test(text)) return [];
          const plain = splitIdentifiers(text);
          return WORDS.filter(([pattern]) => pattern.test(plain)).map(([pattern, instead]) => ({
            file,
            line: index + 1,
            message: `says "${pattern.exec(plain)?.[0]}"; write ${instead}`,
          }));
        }),
    );

function splitIdentifiers(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
}
