// Documents, and the scripts of package.json, name only files that exist.
import { posix } from "node:path";
import type { Repository, RepositoryRule, Violation } from "../repository.ts";

// The specifications are quoted whole; what they name is not ours to fix.
const QUOTED = /^docs\/specification\//;
const LINK = /\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)]*)?\)/g;
// A path in backticks: it starts at a folder of ours or is a file of the root.
const PATH =
  /`((?:\.ci|bin|src|contracts|packages|tests|bench|docs|scripts|deployments|examples)\/[A-Za-z0-9_./-]*)`/g;

const SCRIPT = /\btsx ([A-Za-z0-9_./-]+\.ts)\b/g;

export const documentLinks: RepositoryRule = (repository) => [
  ...repository.files
    .filter((file) => file.endsWith(".md") && !QUOTED.test(file))
    .flatMap((file) => [
      ...missing(repository, file, LINK, (path) => posix.join(posix.dirname(file), path)),
      ...missing(repository, file, PATH, (path) => path),
    ]),
  ...missing(repository, "package.json", SCRIPT, (path) => path),
];

function missing(
  repository: Repository,
  file: string,
  pattern: RegExp,
  resolve: (path: string) => string,
): Violation[] {
  const text = repository.text(file);
  return [...text.matchAll(pattern)].flatMap((match) => {
    const path = resolve(match[1] ?? "");
    if (repository.has(path)) return [];
    return [
      {
        file,
        line: text.slice(0, match.index).split("\n").length,
        message: `names ${path}, which does not exist`,
      },
    ];
  });
}
