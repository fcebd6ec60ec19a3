// Each package imports only what a package.json declares, and declares only what is used.
import { builtinModules } from "node:module";
import type { Repository, RepositoryRule, Violation } from "../repository.ts";

const MANIFEST =
  /^(?:(contracts|packages\/[^/]+|tests\/(?:openapi-tools|packages)|scripts\/docs-site)\/)?package\.json$/;
const LOCKFILE = "package-lock.json";
const SECTIONS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;

/** Used, but neither imported nor a command of a script, by manifest. */
const OTHERWISE_USED: Readonly<Record<string, readonly string[]>> = {
  "package.json": [
    // Scripts read their files by path.
    "@eth-optimism/tokenlist",
    "@metamask/contract-metadata",
    // The type check starts it by its path.
    "typescript-native",
  ],
  // Solidity imports it.
  "contracts/package.json": ["@openzeppelin/contracts"],
  // The site is given its file.
  "scripts/docs-site/package.json": ["@mermaid-js/tiny"],
  // The test loads these generators by their names.
  "tests/openapi-tools/package.json": ["oazapfts", "openapi-typescript"],
  // The test starts these by their paths.
  "tests/packages/package.json": ["@arethetypeswrong/cli", "publint"],
};

type Manifest = { readonly [Section in (typeof SECTIONS)[number]]?: Readonly<Record<string, string>> } & {
  readonly scripts?: Readonly<Record<string, string>>;
};
type Locked = {
  readonly packages?: Readonly<Record<string, { readonly bin?: Readonly<Record<string, string>> }>>;
};
type Package = { readonly file: string; readonly folder: string; readonly manifest: Manifest };

export const dependencies: RepositoryRule = (repository) => {
  const packages = repository.files
    .filter((file) => MANIFEST.test(file))
    .map((file) => readPackage(repository, file));
  const used = new Set<string>();
  const undeclared = packages.flatMap((own) => [
    ...findUndeclaredImports(repository, packages, own, used),
    ...findUndeclaredCommands(repository, own, used),
  ]);
  return [...undeclared, ...packages.flatMap((own) => findUnused(own, used))];
};

function readPackage(repository: Repository, file: string): Package {
  const manifest = JSON.parse(repository.text(file)) as Manifest;
  return { file, folder: file.slice(0, -"package.json".length), manifest };
}

function findUndeclaredImports(
  repository: Repository,
  packages: readonly Package[],
  own: Package,
  used: Set<string>,
): Violation[] {
  const inner = packages.filter(({ folder }) => folder !== own.folder && folder.startsWith(own.folder));
  // npm finds what the root declares from every workspace.
  const declaring = [own, ...packages.filter(({ folder }) => folder === "")];
  return repository.files
    .filter((file) => /\.(ts|m?js)$/.test(file) && file.startsWith(own.folder) && !/^examples\//.test(file))
    .filter((file) => !inner.some(({ folder }) => file.startsWith(folder)))
    .flatMap((file) => repository.imports(file))
    .filter(({ specifier }) => isPackage(specifier))
    .flatMap(({ from, line, specifier }) => {
      const name = packageOf(specifier);
      const found = declaring.find(({ manifest }) => isDeclared(manifest, name));
      if (found === undefined) {
        return [{ file: from, line, message: `imports ${name}, which ${own.file} does not declare` }];
      }
      used.add(`${found.file} ${name}`);
      return [];
    });
}

/** Commands of scripts that are neither node's nor npm's come from a package. */
function findUndeclaredCommands(repository: Repository, own: Package, used: Set<string>): Violation[] {
  const { scripts = {} } = own.manifest;
  const commands = Object.values(scripts)
    .flatMap((script) => script.split(/&&|\|\||;|\|/))
    .map((part) => part.trim().split(/\s+/)[0] ?? "")
    .filter((command) => command !== "node" && command !== "npm");
  const declared = SECTIONS.flatMap((section) => Object.keys(own.manifest[section] ?? {}));
  return [...new Set(commands)].flatMap((command) => {
    const found = declared.find((name) => name === command || commandsOf(repository, name).includes(command));
    if (found !== undefined) used.add(`${own.file} ${found}`);
    const message = `runs ${command}, which no declared package brings`;
    return found === undefined ? [{ file: own.file, line: 1, message }] : [];
  });
}

function commandsOf(repository: Repository, name: string): readonly string[] {
  if (!repository.has(LOCKFILE)) return [];
  const { packages } = JSON.parse(repository.text(LOCKFILE)) as Locked;
  return Object.keys(packages?.[`node_modules/${name}`]?.bin ?? {});
}

function findUnused({ file, manifest }: Package, used: ReadonlySet<string>): Violation[] {
  const isUsed = (name: string): boolean =>
    used.has(`${file} ${name}`) ||
    (OTHERWISE_USED[file] ?? []).includes(name) ||
    // Types of a package that is used, or of Node itself.
    (name.startsWith("@types/") && (name === "@types/node" || isUsed(name.slice("@types/".length))));
  return ["dependencies" as const, "devDependencies" as const]
    .flatMap((section) => Object.keys(manifest[section] ?? {}))
    .filter((name) => !isUsed(name))
    .map((name) => ({ file, line: 1, message: `declares ${name}, which nothing imports; remove it` }));
}

function isDeclared(manifest: Manifest, name: string): boolean {
  return SECTIONS.some((section) => Object.hasOwn(manifest[section] ?? {}, name));
}

function isPackage(specifier: string): boolean {
  return !/^(\.|\/|node:|https?:|file:|data:)/.test(specifier) && !builtinModules.includes(specifier);
}

/** `@scope/name/path` and `name/path`. */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
