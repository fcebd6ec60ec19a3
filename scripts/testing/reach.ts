// Which files of the repository a test can reach: by the paths that its files name, and through the commands it starts.
import { posix } from "node:path";
import { type Repository, workspacePath } from "../../tests/architecture/repository.ts";

/** Modules whose pages only browser tests ask for: others reach the API behind them, which has its own module. */
const PAGES = ["src/explorer/", "src/web/"];

// Its commands load lazily: a test reaches those that it names.
const COMMANDS = "src/cli/commands.ts";

/** Read by every test run. What they import in turn is tested by main, which fails first. */
const EVERY_RUN = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "vitest.config.ts",
  "tests/support/measure-file.ts",
  "tests/support/property-seed.ts",
  "tests/support/database/postgres-global-setup.ts",
  "tests/support/index/shared-history-setup.ts",
];

type Reach = {
  /** Every file that the test can reach, itself included. */
  of(test: string, options: { readonly pages: boolean }): ReadonlySet<string>;
};

/** Reads each file once, however many tests are asked about. */
export function openReach(repository: Repository): Reach {
  const edges = new Map<string, readonly string[]>();
  const edgesOf = (file: string): readonly string[] => {
    const known = edges.get(file) ?? findEdges(repository, file);
    edges.set(file, known);
    return known;
  };
  return {
    of(test, { pages }) {
      const reached = new Set<string>();
      const visit = (file: string): void => {
        if (reached.has(file) || (!pages && PAGES.some((folder) => file.startsWith(folder)))) return;
        reached.add(file);
        if (file !== COMMANDS) for (const target of edgesOf(file)) visit(target);
      };
      visit(test);
      for (const file of EVERY_RUN) reached.add(file);
      if (reached.has(COMMANDS)) {
        const words = wordsOf(repository, [...reached].filter(isTestCode));
        for (const command of listCommands(repository)) if (words.has(command.name)) visit(command.module);
      }
      return reached;
    },
  };
}

/** The files and folders that its strings name: imports, child processes, assets. */
function findEdges(repository: Repository, file: string): string[] {
  if (!/\.(?:ts|js|mjs)$/.test(file)) return [];
  const named = [...repository.text(file).matchAll(/["'`]([\w@./-]+)["'`]/g)].flatMap(([, path = ""]) =>
    findNamed(repository, file, path),
  );
  return [...new Set(named)];
}

function findNamed(repository: Repository, file: string, path: string): readonly string[] {
  if (!path.includes("/")) return [];
  const name = resolvePath(file, path).replace(/\/$/, "");
  // The folders above a file are named to find another path from there.
  if (name === "." || name.startsWith("..") || file.startsWith(`${name}/`) || !repository.has(name))
    return [];
  if (/\.\w+$/.test(name)) return [name];
  return repository.files.filter((other) => other.startsWith(`${name}/`));
}

function resolvePath(file: string, path: string): string {
  if (path.startsWith(".")) return posix.join(posix.dirname(file), path);
  return path.startsWith("@sextant/") ? `${workspacePath(path)}.ts` : posix.normalize(path);
}

type CommandModule = { readonly name: string; readonly module: string };

/** The commands of `sextant` with the files that they load, from their declarations. */
export function listCommands(repository: Repository): CommandModule[] {
  const found: CommandModule[] = [];
  let name: string | null = null;
  const declared = /^ {4}name: "([\w-]+)"|import\("\.\/commands\/([\w-]+)\.ts"\)/gm;
  for (const [, declaredName, module] of repository.text(COMMANDS).matchAll(declared)) {
    if (declaredName !== undefined) name = declaredName;
    else if (name !== null) found.push({ name, module: `src/cli/commands/${module}.ts` });
  }
  return found;
}

function isTestCode(file: string): boolean {
  return /^(tests|scripts|examples|bench)\/|\.test\.ts$|-child\.ts$/.test(file);
}

/** Everything in quotes, and each word of a command line. */
function wordsOf(repository: Repository, files: readonly string[]): ReadonlySet<string> {
  return new Set(
    files.flatMap((file) =>
      [...repository.text(file).matchAll(/["'`]([^"'`\n]*)["'`]/g)].flatMap(([, text = ""]) =>
        text.split(/\s+/),
      ),
    ),
  );
}
