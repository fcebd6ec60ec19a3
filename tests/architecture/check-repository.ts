// All rules of the repository, and a function that runs them.
import type { Repository, Rule } from "./repository.ts";
import { documents } from "./rules/document-links.ts";
import { faults } from "./rules/documented-errors.ts";
import { environmentReads, environmentVariables } from "./rules/environment.ts";
import { purpose } from "./rules/file-headers.ts";
import { cycles } from "./rules/import-cycles.ts";
import { importGraph } from "./rules/import-graph.ts";
import { lockfile } from "./rules/lockfile.ts";
import { unreferenced } from "./rules/unused-files.ts";

const RULES: Readonly<Record<string, Rule>> = {
  importGraph,
  cycles,
  environmentReads,
  environmentVariables,
  purpose,
  unreferenced,
  documents,
  lockfile,
  faults,
};

/** One line per violation: file and line, what is wrong, the rule. */
export function checkRepository(repository: Repository): string[] {
  return Object.entries(RULES).flatMap(([name, rule]) =>
    rule(repository).map(({ file, line, message }) => `${file}:${line} ${message} [${name}]`),
  );
}
