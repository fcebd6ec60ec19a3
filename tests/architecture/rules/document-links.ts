// Documents name only files, headings, commands and settings that exist, and the scripts of package.json only files.
import { posix } from "node:path";
import type { Repository, RepositoryRule, Violation } from "../repository.ts";

// The specifications are quoted whole; what they name is not ours to fix.
const QUOTED = /^docs\/specification\//;
const LINK = /\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)]*)?\)/g;
const ANCHOR = /\]\((?!https?:|mailto:)([^)\s#]*)#([^)\s]+)\)/g;
// A path in backticks: it starts at a folder of ours or is a file of the root.
const PATH =
  /`((?:\.ci|bin|src|contracts|packages|tests|bench|docs|scripts|deployments|examples)\/[A-Za-z0-9_./-]*)`/g;

const SCRIPT = /\btsx ([A-Za-z0-9_./-]+\.ts)\b/g;

export const documentLinks: RepositoryRule = (repository) => [
  ...pagesOf(repository).flatMap((file) => [
    ...missing(repository, file, LINK, (path) => posix.join(posix.dirname(file), path)),
    ...missing(repository, file, PATH, (path) => path),
    ...missingHeadings(repository, file),
  ]),
  ...missing(repository, "package.json", SCRIPT, (path) => path),
];

export function pagesOf({ files }: Repository): readonly string[] {
  return files.filter((file) => file.endsWith(".md") && !QUOTED.test(file));
}

function missing(
  repository: Repository,
  file: string,
  pattern: RegExp,
  resolve: (path: string) => string,
): Violation[] {
  return findAll(repository, file, pattern, ([, path = ""]) =>
    repository.has(resolve(path)) ? null : `names ${resolve(path)}, which does not exist`,
  );
}

function missingHeadings(repository: Repository, file: string): Violation[] {
  return findAll(repository, file, ANCHOR, ([, path = "", anchor = ""]) => {
    const page = path === "" ? file : posix.join(posix.dirname(file), path);
    if (!page.endsWith(".md") || !repository.has(page)) return null;
    if (listAnchors(repository.text(page)).has(anchor)) return null;
    return `names #${anchor} of ${page}, which has no such heading`;
  });
}

/** The anchors that GitHub gives the headings of a page, in their order. */
export function listAnchors(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const headings = text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#{1,6} (.+)$/gm);
  for (const [, heading = ""] of headings) {
    const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = shown.replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
    let repeated = 0;
    const nth = () => (repeated === 0 ? anchor : `${anchor}-${repeated}`);
    while (anchors.has(nth())) repeated += 1;
    anchors.add(nth());
  }
  return anchors;
}

/** A violation for each match that has a problem. */
export function findAll(
  repository: Repository,
  file: string,
  pattern: RegExp,
  problemOf: (match: RegExpMatchArray) => string | null,
): Violation[] {
  const text = repository.text(file);
  return [...text.matchAll(pattern)].flatMap((match) => {
    const message = problemOf(match);
    return message === null ? [] : [{ file, line: text.slice(0, match.index).split("\n").length, message }];
  });
}
