// The repository as the rules see it: tracked and new files, their text, and what TypeScript files import.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";
import { type ModuleLinks, readModuleLinks } from "./module-links.ts";

export type Violation = { readonly file: string; readonly line: number; readonly message: string };
export type RepositoryRule = (repository: Repository) => readonly Violation[];
type SourceImport = {
  readonly from: string;
  readonly line: number;
  readonly specifier: string;
  /** The names taken from the module; null for all of it. */
  readonly names: readonly string[] | null;
  readonly target: string | null;
};

export type Repository = {
  readonly files: readonly string[];
  has(path: string): boolean;
  text(file: string): string;
  /** The syntax tree, with parents and without JSDoc. */
  source(file: string): ts.SourceFile;
  links(file: string): ModuleLinks;
  imports(file: string): readonly SourceImport[];
};

/** Reads the working tree below `root`: what git tracks, and what it would track. */
export function openRepository(root: string): Repository {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const files = [...new Set(listed.split("\n"))]
    .filter((file) => file && existsSync(`${root}/${file}`))
    .sort();
  return repositoryOf(files, (file) => readFileSync(`${root}/${file}`, "utf8"));
}

/** A repository from a plain table of texts, for showing that a rule notices what is planted. */
export function repositoryFrom(texts: Readonly<Record<string, string>>): Repository {
  return repositoryOf(Object.keys(texts), (file) => texts[file] ?? "");
}

function repositoryOf(files: readonly string[], read: (file: string) => string): Repository {
  const known = new Set(files);
  const folders = new Set(files.flatMap(parentsOf));
  // Several rules ask for the same file, and parsing takes longer than all rules together.
  const text = remember(read);
  const source = remember((file) => parse(file, text(file)));
  const links = remember((file) => readModuleLinks(source(file)));
  return {
    files,
    text,
    source,
    links,
    has: (path) => known.has(path) || folders.has(path.replace(/\/$/, "")),
    imports: remember((file) => importsOf(file, source(file), links(file), known)),
  };
}

function remember<T>(read: (file: string) => T): (file: string) => T {
  const results = new Map<string, T>();
  return (file) => {
    const known = results.get(file);
    if (known !== undefined) return known;
    const result = read(file);
    results.set(file, result);
    return result;
  };
}

function parse(file: string, text: string): ts.SourceFile {
  const options = {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  };
  return ts.createSourceFile(file, text, options, true);
}

function parentsOf(file: string): string[] {
  const parts = file.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

function importsOf(
  file: string,
  source: ts.SourceFile,
  { uses }: ModuleLinks,
  known: ReadonlySet<string>,
): SourceImport[] {
  return uses.map(({ specifier, position, names }) => ({
    from: file,
    line: lineAt(source, position),
    specifier,
    names,
    target: targetOf(file, specifier, known),
  }));
}

// Our packages are imported by path, relatively or through the workspace's name; the rest is npm's.
function targetOf(file: string, specifier: string, known: ReadonlySet<string>): string | null {
  const path = specifier.startsWith(".")
    ? posix.join(posix.dirname(file), specifier)
    : specifier.startsWith("@sextant/")
      ? `${workspacePath(specifier)}.ts`
      : null;
  return path !== null && known.has(path) ? path : null;
}

/** `@sextant/contracts/x` is contracts/x; every other workspace lies under packages/. */
export function workspacePath(specifier: string): string {
  const path = specifier.replace("@sextant/", "");
  return path.startsWith("contracts/") ? path : `packages/${path}`;
}

/** The line of a position, from 1. */
export function lineAt(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}

/** Code of ours: TypeScript that a person wrote. */
export function isCode(file: string): boolean {
  return file.endsWith(".ts") && !file.startsWith("contracts/generated/");
}
