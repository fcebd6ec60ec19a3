// No file without a reader: everything is reached from a command, a benchmark, or a test of something else.
import { isCode, type Repository, type RepositoryRule } from "../repository.ts";

export const unusedFiles: RepositoryRule = (repository) => {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const { target } of repository.imports(file)) {
      // Code that only its own test or benchmark knows is dead code with a test.
      if (target !== null && file.replace(/\.(?:test|bench)\.ts$/, ".ts") !== target) visit(target);
    }
  };
  for (const root of roots(repository)) visit(root);
  return repository.files
    .filter((file) => isCode(file) && !reached.has(file))
    .map((file) => ({ file, line: 1, message: "is imported by nothing that runs; delete it or use it" }));
};

function roots(repository: Repository): string[] {
  const commands = ["package.json", "bin/sextant.mjs", "vitest.config.ts"]
    .filter((file) => repository.has(file))
    .map((file) => repository.text(file))
    .join("\n");
  return repository.files.filter(
    (file) =>
      isCode(file) &&
      // Files that npm, the runner, a person or another process starts by their path, tests and benchmarks.
      (commands.includes(file) ||
        /^(vitest\.config\.ts|scripts\/[^/]+|examples\/[^/]+)$/.test(file) ||
        /(\/run|-child|\.test|\.bench)\.ts$/.test(file)),
  );
}
