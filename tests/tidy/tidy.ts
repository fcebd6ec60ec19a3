// All house rules, and a way to run them over the repository.
import type { Repository, Rule } from "./repository.ts";
import { cycles } from "./rules/cycles.ts";
import { documents } from "./rules/documents.ts";
import { environmentReads, environmentVariables } from "./rules/environment.ts";
import { faults } from "./rules/faults.ts";
import { layers } from "./rules/layers.ts";
import { lockfile } from "./rules/lockfile.ts";
import { purpose } from "./rules/purpose.ts";
import { unreferenced } from "./rules/unreferenced.ts";

const RULES: Readonly<Record<string, Rule>> = {
  layers,
  cycles,
  environmentReads,
  environmentVariables,
  purpose,
  unreferenced,
  documents,
  lockfile,
  faults,
};

/** One line a violation: where it is, what is wrong, which rule says so. */
export function tidy(repository: Repository): string[] {
  return Object.entries(RULES).flatMap(([name, rule]) =>
    rule(repository).map(({ file, line, message }) => `${file}:${line} ${message} [${name}]`),
  );
}
