// Plain English and the field's own words: texts and identifiers use the established term.
import type { RepositoryRule, Violation } from "../repository.ts";

/**
 * Words that are not written, and what to write instead. Identifiers are split into their words before they are
 * compared.
 */
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
  [/\bbeside\b/, "besides, next to, alongside"],
  [/\bstrangers?\b/, "a third party, anyone, someone else's; outsider in a name"],
  [/\bresting\b/, "cooling down"],
  [/(?<!\bthere )\b(is|are|was|were) no (?!(longer|such|other|more|less|one)\b)\w+/, "is not a"],
  [
    /\b((?<!\b(is|not) )null|undefined|missing|absent|empty|false|true|unknown|only|except|also|even) where\b/,
    "if",
  ],
  [/\b(seller|workshop|shelf|purse|twin|river|doors?)\b/, "the word of docs/glossary.md"],
];

const CHECKED = /\.(ts|mjs|js|md|sh|yaml|service)$|^\.env\.example$|^Dockerfile$|^\.ci\/run$/;
/** Quoted, generated or historical texts. */
const LEFT_OUT =
  /^(docs\/specification\/|contracts\/generated\/|contracts\/src\/|CHANGELOG\.md|tests\/architecture\/rules\/words\.ts|tests\/architecture\/architecture\.test\.ts|tests\/upgrade\/)/;
/** Words that a file has to use: persisted values, metric labels, names of other projects. */
const EXEMPT: readonly (readonly [files: RegExp, words: RegExp])[] = [
  [/^(src\/payments|src\/store\/postgres\/migrations|tests|docs\/(payments|operations)\.md)/, /refused/],
  [/^src\/(chain|portfolio\/providers)\//, /refused/],
  [/chainlink|fund-market|local-tokens\.test|portfolio\/(truth|as-of|listed-liars)\./, /answer(ed)?/],
  [/^contracts\/test\//, /refused/],
  [/^src\/store\/postgres\/migrations\/000/, /answers/],
  [/server-account\.ts$/, /nobody/],
  [/^bench\/(RESULTS\.md|portfolio\.ts)$/, /answer(ing)?/],
  [/^docs\/(api|protocol)\.md$/, /.*/],
];

// Few files have any of the words: one pattern rules out most files.
const ANY_WORD = new RegExp(WORDS.map(([pattern]) => pattern.source).join("|"));

export const words: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => CHECKED.test(file) && !LEFT_OUT.test(file))
    .flatMap((file) => findInFile(file, splitIdentifiers(repository.text(file))));

function findInFile(file: string, plain: string): Violation[] {
  if (!ANY_WORD.test(plain)) return [];
  return plain.split("\n").flatMap((line, index) =>
    WORDS.flatMap(([pattern, instead]) => {
      const found = pattern.exec(line)?.[0];
      if (found === undefined || isExempt(file, found)) return [];
      return [{ file, line: index + 1, message: `says "${found}"; write ${instead}` }];
    }),
  );
}

function isExempt(file: string, word: string): boolean {
  return EXEMPT.some(([files, words]) => files.test(file) && words.test(word));
}

/** The name of signed responses in headers, receipts and stored files. */
const WIRE_NAME = /sextant-answer/g;

function splitIdentifiers(text: string): string {
  return text
    .replace(WIRE_NAME, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();
}
