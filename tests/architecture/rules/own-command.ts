// No text starts or installs `sextant` by its name on the registry, which belongs to another author.
import type { RepositoryRule } from "../repository.ts";

const CHECKED = /\.(ts|mjs|js|json|md|sh|ya?ml|service|html)$|^\.env\.example$|^Dockerfile$|^\.ci\/run$/;
/** The rule itself, and the test that plants against it. */
const LEFT_OUT = /^tests\/architecture\/(rules\/own-command|architecture\.test)\.ts$|^package-lock\.json$/;

// Options may stand between: even with one that forbids a download npm runs a foreign package that is installed globally
// or in a folder above.
const BY_NAME =
  /\b(?:npx|bunx|npm (?:exec|x)|(?:pnpm|yarn|bun)\s+(?:dlx|x|exec)|(?:npm|pnpm|yarn|bun) (?:i|install|add))(?:\s+-\S*)*\s+sextant\b/;

const MESSAGE = "runs another author's package outside the clone; write node bin/sextant.mjs";

export const ownCommand: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => CHECKED.test(file) && !LEFT_OUT.test(file))
    // Most files do not have the name at all.
    .filter((file) => BY_NAME.test(repository.text(file)))
    .flatMap((file) =>
      repository
        .text(file)
        .split("\n")
        .flatMap((text, index) => (BY_NAME.test(text) ? [{ file, line: index + 1, message: MESSAGE }] : [])),
    );
