// Finds which files of the repository a test can reach: by the paths that its files name, and through the commands it starts.
import { posix } from "node:path";
import { type Repository, workspacePath } from "../../tests/architecture/repository.ts";

/** Modules whose pages only browser tests ask for: others reach the API behind them, which has its own module. */
const PAGES = ["src/explorer/", "src/web/", "src/http/openapi/docs-page/", "src/http/pages/"];

// Its commands load lazily: a test reaches those that it starts.
const COMMANDS = "src/cli/commands.ts";
const COMMAND_MODULES = "src/cli/commands/";

/** How tests start a command. Words elsewhere are not enough: "local" is a network, and "payments" a table. */
const STARTS = [
  // ["api", "--once"], and no index, no key of a type and no list that is spread.
  /(?<![\w)\].])\[\s*"([\w-]+)"/g,
  // [program, "api"], ["bin/sextant.mjs", "api"]
  /\[(?:[\w.()]+|"[^"\n]*sextant\.mjs"),\s*"([\w-]+)"/g,
  // start("api"), new KilledProcess("api", environment)
  /\b(?:start\w*|\w+Process)\(\s*"([\w-]+)"/g,
  // { command: "api" }
  /\bcommand: "([\w-]+)"/g,
  // "node bin/sextant.mjs api", for a shell
  /["'`](?:node )?[\w./-]*sextant\.mjs ([\w-]+)/g,
];

// They say which packages, in which versions, the files below them import.
const MANIFEST = /(?:^|\/)package(?:-lock)?\.json$/;

/** Read by every test run. Their own imports are tested by main, which fails first. */
const EVERY_RUN = [
  "tsconfig.json",
  "vitest.config.ts",
  "tests/support/measure-file.ts",
  "tests/support/property-seed.ts",
  "tests/support/database/postgres-global-setup.ts",
  "tests/support/index/shared-history-setup.ts",
];

// A path in quotes, but for the begin or end of one that a path is compared with.
const NAME = /(?<!\.(?:starts|ends)With\()["'`]([\w@./-]+)["'`]/g;

// A relative path whose end is computed: every file of the folder may be meant.
const TEMPLATE = /`(\.[\w./-]*\/)[\w.-]*\$\{/g;

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
        for (const target of edgesOf(file)) visit(target);
      };
      visit(test);
      for (const file of EVERY_RUN) reached.add(file);
      if (reached.has(COMMANDS)) {
        const started = findStarted(repository, [...reached].filter(isTestCode));
        for (const { name, module } of listCommands(repository)) if (started.has(name)) visit(module);
      }
      for (const manifest of listManifests(repository, reached)) reached.add(manifest);
      return reached;
    },
  };
}

/** The files and folders that its strings name: imports, child processes, assets. */
function findEdges(repository: Repository, file: string): string[] {
  if (!/\.(?:ts|js|mjs)$/.test(file)) return [];
  const text = codeOf(repository, file);
  const paths = [...text.matchAll(NAME), ...text.matchAll(TEMPLATE)];
  const named = new Set(paths.flatMap(([, path = ""]) => findNamed(repository, file, path)));
  // No test loads another one: comments name them, and they lie in folders that are read.
  const loaded = [...named].filter((target) => !target.endsWith(".test.ts"));
  return loaded.filter((target) => file !== COMMANDS || !target.startsWith(COMMAND_MODULES));
}

function findNamed(repository: Repository, file: string, path: string): readonly string[] {
  // A word names a file only with an extension: `new URL("worker.mjs", import.meta.url)` is one alongside this file.
  if (!/[/.]/.test(path)) return [];
  const name = resolvePath(file, path).replace(/\/$/, "");
  // The folders above a file are named to find another path from there.
  if (name === "." || name.startsWith("..") || file.startsWith(`${name}/`) || !repository.has(name))
    return [];
  if (/\.\w+$/.test(name)) return [name];
  const inside = repository.files.filter((other) => other.startsWith(`${name}/`));
  return inside.length > 0 ? inside : [name];
}

/** Manifests in the folders above the files. */
function listManifests(repository: Repository, files: ReadonlySet<string>): readonly string[] {
  const manifests = repository.files.filter((file) => MANIFEST.test(file));
  return manifests.filter((manifest) => {
    const folder = manifest.replace(MANIFEST, "/");
    return folder === "/" || [...files].some((file) => file.startsWith(folder));
  });
}

function resolvePath(file: string, path: string): string {
  if (path.startsWith(".") || !path.includes("/")) return posix.join(posix.dirname(file), path);
  return path.startsWith("@sextant/") ? `${workspacePath(path)}.ts` : posix.normalize(path);
}

/** Without lines of comments: what they name is for readers. */
function codeOf(repository: Repository, file: string): string {
  return repository.text(file).replace(/^\s*(?:\/\/|\/\*\*|\* ).*$/gm, "");
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

/** The first argument of each process that the files start, and of what looks like one. */
function findStarted(repository: Repository, files: readonly string[]): ReadonlySet<string> {
  return new Set(
    files.flatMap((file) => {
      const text = codeOf(repository, file);
      return STARTS.flatMap((form) => [...text.matchAll(form)].map(([, name = ""]) => name));
    }),
  );
}
