// No file without a reader: everything is reached from a command, a benchmark or a test of the house.
import { isCode, type Repository, type Rule } from "../repository.ts";

export const unreferenced: Rule = (repository) => {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const { target } of repository.imports(file)) if (target !== null) visit(target);
  };
  for (const root of roots(repository)) visit(root);
  return repository.files
    .filter((file) => isCode(file) && !file.endsWith(".test.ts") && !reached.has(file))
    .map((file) => ({ file, line: 1, message: "is imported by nothing that runs; delete it or use it" }));
};

// Tests are roots only for what lives under tests/: product code that only its own test knows is dead.
function roots(repository: Repository): string[] {
  const commands = [
    "package.json",
    "contracts/package.json",
    "bin/sextant.mjs",
    "vitest.config.ts",
    ".ci/run",
  ]
    .filter((file) => repository.has(file))
    .map((file) => repository.text(file))
    .join("\n");
  return repository.files.filter(
    (file) =>
      isCode(file) &&
      (commands.includes(file) ||
        /^(vitest\.config\.ts|scripts\/[^/]+|bench\/[^/]+)$/.test(file) ||
        /^(tests|bench)\/.*\.test\.ts$/.test(file) ||
        // A process that another file starts by its path.
        /\/(run|worker|[a-z-]+\.process)\.ts$/.test(file)),
  );
}
