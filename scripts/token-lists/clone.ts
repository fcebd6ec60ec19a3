// Reads files of a public repository from a clone, at one commit, or of a package at one version.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export type RepositoryFiles = {
  readJson(path: string): unknown;
  /** All files below a folder whose names end so, by path. */
  readJsonBelow(folder: string, ending: string): ReadonlyMap<string, unknown>;
};

const BYTES_MAX = 256 * 1024 * 1024;

/** The clone of owner/name, or the unpacked package, is expected in `<folder>/owner+name`, at that commit or version. */
export function openClone(
  folder: string,
  { repository, commit }: { readonly repository: string; readonly commit: string },
): RepositoryFiles {
  const clone = join(folder, repository.replace("/", "+"));
  if (repository.startsWith("@")) return openPackage(clone, commit);
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", clone, ...args], { maxBuffer: BYTES_MAX, encoding: "utf8" });
  const readJson = (path: string): unknown => JSON.parse(git("show", `${commit}:${path}`));
  return {
    readJson,
    readJsonBelow(below, ending) {
      const paths = git("ls-tree", "-r", "--name-only", commit, `${below}/`)
        .split("\n")
        .filter((path) => path.endsWith(ending));
      return new Map(paths.map((path) => [path, readJson(path)]));
    },
  };
}

function openPackage(folder: string, wanted: string): RepositoryFiles {
  const readJson = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), "utf8"));
  const { version } = readJson("package.json") as { readonly version?: string };
  if (version !== wanted) throw new Error(`${folder} is version ${version}, not ${wanted}`);
  return { readJson, readJsonBelow: () => new Map() };
}
