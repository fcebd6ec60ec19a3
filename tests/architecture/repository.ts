// The repository as the rules see it: tracked and new files, their text, and what TypeScript files import.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";

export type Violation = { readonly file: string; readonly line: number; readonly message: string };
export type RepositoryRule = (repository: Repository) => readonly Violation[];
type SourceImport = {
  readonly from: string;
  readonly line: number;
  readonly specifier: string;
  readonly target: string | null;
};

export type Repository = {
  readonly files: readonly string[];
  has(path: string): boolean;
  text(file: string): string;
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
  const texts = new Map<string, string>();
  const imports = new Map<string, readonly SourceImport[]>();
  const text = (file: string): string => {
    const cached = texts.get(file) ?? read(file);
    texts.set(file, cached);
    return cached;
  };
  return {
    files,
    text,
    has: (path) => known.has(path) || folders.has(path.replace(/\/$/, "")),
    imports(file) {
      // Several rules ask for them, and scanning a file takes longer than the rest of a rule.
      const cached = imports.get(file) ?? importsOf(file, text(file), known);
      imports.set(file, cached);
      return cached;
    },
  };
}

function parentsOf(file: string): string[] {
  const parts = file.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

function importsOf(file: string, text: string, known: ReadonlySet<string>): SourceImport[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => ({
    from: file,
    line: lineAt(text, pos),
    specifier: fileName,
    target: targetOf(file, fileName, known),
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

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

/** Code of ours: TypeScript that a person wrote. */
export function isCode(file: string): boolean {
  return file.endsWith(".ts") && !file.startsWith("contracts/generated/");
}
