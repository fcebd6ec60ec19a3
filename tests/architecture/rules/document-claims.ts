// Documents name commands, scripts and settings that exist, and rules by the heading that has them.
import type { Repository, RepositoryRule, Violation } from "../repository.ts";
import { findAll, pagesOf } from "./document-links.ts";

const COMMANDS = "src/cli/commands.ts";
const SETTINGS = /^src\/config\/[a-z-]*settings\.ts$/;
const RULE_NUMBER = /\bD\d{1,3}\b/g;

export const documentClaims: RepositoryRule = (repository) => {
  const pages = pagesOf(repository);
  return [
    ...pages.flatMap((file) => unknownScripts(repository, file)),
    ...pages.flatMap((file) => unknownCommands(repository, file)),
    ...pages.flatMap((file) => unknownSettings(repository, file)),
    ...pages.flatMap((file) =>
      findAll(
        repository,
        file,
        RULE_NUMBER,
        ([number]) => `cites ${number}; link to the heading that has the rule`,
      ),
    ),
  ];
};

function unknownScripts(repository: Repository, file: string): Violation[] {
  if (!repository.has("package.json")) return [];
  // A workspace has scripts of its own.
  const manifest = JSON.parse(repository.text("package.json")) as { scripts?: Record<string, string> };
  return findAll(repository, file, /\bnpm run ([a-z][a-z0-9:-]*)/g, ([, name = ""]) =>
    manifest.scripts?.[name] === undefined ? `runs npm run ${name}, which package.json does not have` : null,
  );
}

function unknownCommands(repository: Repository, file: string): Violation[] {
  if (!repository.has(COMMANDS)) return [];
  const names = namesIn(repository.text(COMMANDS), /^ {4}name: "([a-z-]+)"/gm);
  return findAll(repository, file, /(?:bin\/sextant\.mjs|`sextant) ([a-z][a-z-]*)/g, ([, name = ""]) =>
    names.has(name) ? null : `runs sextant ${name}, which is not a command`,
  );
}

/** `SEXTANT_GUARD_…` stands for all that begin alike. */
function unknownSettings(repository: Repository, file: string): Violation[] {
  const files = repository.files.filter((each) => SETTINGS.test(each));
  if (files.length === 0) return [];
  const names = files.flatMap((each) => [...namesIn(repository.text(each), /"(SEXTANT_[A-Z0-9_]+)"/g)]);
  return findAll(repository, file, /\bSEXTANT_[A-Z0-9_]*/g, ([name]) =>
    names.some((each) => each === name || (name.endsWith("_") && each.startsWith(name)))
      ? null
      : `names ${name}, which is not a setting`,
  );
}

function namesIn(text: string, pattern: RegExp): ReadonlySet<string> {
  return new Set([...text.matchAll(pattern)].map(([, name = ""]) => name));
}
