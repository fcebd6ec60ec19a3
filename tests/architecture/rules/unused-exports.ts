// No export without a reader: another module imports each name, or the file is an entry point.
import { isCode, lineAt, type Repository, type RepositoryRule, type Violation } from "../repository.ts";

/** Files that npm, vitest, a person or another process starts, and the modules that packages publish. */
const ENTRIES = [
  /^(scripts|bench)\/[^/]+\.ts$/,
  /^(contracts\/compile|packages\/[^/]+|tests\/.+)\/run\.ts$/,
  /(-child|\.test|\.bench)\.ts$/,
  /^packages\/client\/(sextant|journal\/file-journal)\.ts$/,
  /^vitest\.config\.ts$/,
  /^tests\/support\/(property-seed|database\/postgres-global-setup|index\/shared-history-setup)\.ts$/,
];
/** Generated files export all that there is; fixtures of positions have one shape; examples are for others to copy. */
const LEFT_OUT =
  /^(contracts|packages\/client)\/generated\/|^src\/portfolio\/positions\/[^/]+\/fixture\.ts$|^examples\//;
/** Packages publish every module, and with it the types of what they export. */
const PUBLISHED = /^(contracts|packages)\//;

export const unusedExports: RepositoryRule = (repository) => {
  const used = collectUses(repository);
  return repository.files
    .filter((file) => isCode(file) && !ENTRIES.some((entry) => entry.test(file)) && !LEFT_OUT.test(file))
    .flatMap((file) => findInFile(repository, file, used.get(file) ?? new Set()));
};

/**
 * File → the names that other files take from it; null among them stands for every name. Files that nothing reaches count
 * too: the rule about unused files reports them, and their imports go with them.
 */
function collectUses(repository: Repository): ReadonlyMap<string, ReadonlySet<string | null>> {
  const used = new Map<string, Set<string | null>>();
  const add = (target: string, names: readonly string[] | null) => {
    const known = used.get(target) ?? new Set();
    for (const name of names ?? [null]) known.add(name);
    used.set(target, known);
  };
  for (const file of repository.files.filter((each) => /\.(ts|m?js)$/.test(each) && !LEFT_OUT.test(each))) {
    for (const { target, names } of repository.imports(file)) {
      if (target !== null && target !== file) add(target, names);
    }
  }
  return used;
}

function findInFile(
  repository: Repository,
  file: string,
  used: ReadonlySet<string | null>,
): readonly Violation[] {
  const { exports } = repository.links(file);
  return exports.flatMap(({ name, position, isType, alias }) => {
    const line = lineAt(repository.source(file), position);
    if (exports.some((other) => other.name === alias)) {
      return [{ file, line, message: `exports ${alias} a second time, as ${name}` }];
    }
    if (used.has(null) || used.has(name) || (isType && PUBLISHED.test(file))) return [];
    const message = `exports ${name}, which no other file imports; remove the export, or the code`;
    return [{ file, line, message }];
  });
}
