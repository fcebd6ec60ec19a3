// All rules of the repository, and a function that runs them.

import type { Repository, RepositoryRule } from "./repository.ts";
import { abiFunctions } from "./rules/abi-functions.ts";
import { commentStarts } from "./rules/comment-starts.ts";
import { dataInCode } from "./rules/data-in-code.ts";
import { dependencies } from "./rules/dependencies.ts";
import { documentClaims } from "./rules/document-claims.ts";
import { documentLength } from "./rules/document-length.ts";
import { documentLinks } from "./rules/document-links.ts";
import { documentedErrors } from "./rules/documented-errors.ts";
import { environmentReads, environmentVariables } from "./rules/environment.ts";
import { exportedNames } from "./rules/exported-names.ts";
import { fileHeaders } from "./rules/file-headers.ts";
import { functionLength } from "./rules/function-length.ts";
import { importCycles } from "./rules/import-cycles.ts";
import { importGraph } from "./rules/import-graph.ts";
import { lockfileRules } from "./rules/lockfile.ts";
import { logLines } from "./rules/log-lines.ts";
import { ownCommand } from "./rules/own-command.ts";
import { testTitles } from "./rules/test-titles.ts";
import { unusedExports } from "./rules/unused-exports.ts";
import { unusedFiles } from "./rules/unused-files.ts";
import { words } from "./rules/words.ts";

const RULES: Readonly<Record<string, RepositoryRule>> = {
  importGraph,
  cycles: importCycles,
  abiFunctions,
  environmentReads,
  environmentVariables,
  purpose: fileHeaders,
  functionLength,
  dataInCode,
  unreferenced: unusedFiles,
  unusedExports,
  exportedNames,
  dependencies,
  documents: documentLinks,
  documentClaims,
  documentLength,
  lockfile: lockfileRules,
  faults: documentedErrors,
  logLines,
  words,
  commentStarts,
  testTitles,
  ownCommand,
};

/** One line per violation: file and line, what is wrong, the rule. */
export function checkRepository(repository: Repository): string[] {
  return Object.entries(RULES).flatMap(([name, rule]) =>
    rule(repository).map(({ file, line, message }) => `${file}:${line} ${message} [${name}]`),
  );
}
