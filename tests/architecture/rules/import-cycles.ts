// No file imports itself, however long the way round.
import { isCode, type Repository, type RepositoryRule, type Violation } from "../repository.ts";

export const importCycles: RepositoryRule = (repository) => {
  const done = new Set<string>();
  return repository.files.filter(isCode).flatMap((file) => walk(repository, file, [], done));
};

function walk(
  repository: Repository,
  file: string,
  trail: readonly string[],
  done: Set<string>,
): Violation[] {
  const start = trail.indexOf(file);
  if (start >= 0) {
    const loop = [...trail.slice(start), file];
    return [{ file, line: 1, message: `imports itself: ${loop.join(" → ")}` }];
  }
  if (done.has(file)) return [];
  const found = repository
    .imports(file)
    .flatMap(({ target }) => (target === null ? [] : walk(repository, target, [...trail, file], done)));
  done.add(file);
  return found;
}
