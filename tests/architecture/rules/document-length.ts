// The documents stay short enough to be read: what they repeat is cut before anything is added.
import type { Repository, RepositoryRule } from "../repository.ts";

/** The documents of this project; the specifications are given, and the changelog grows with each version. */
const DOCUMENT = /^(docs\/(?!specification\/).*|README|CONTRIBUTING|SECURITY|skills\/.*)\.md$/;
/** Half of what they had before each rule was moved to the page of its subject. */
export const DOCUMENT_WORDS_MAX = 55_000;

export const documentLength: RepositoryRule = (repository) => {
  const words = countDocumentWords(repository);
  if (words <= DOCUMENT_WORDS_MAX) return [];
  const message = `the documents have ${words} words; cut them to ${DOCUMENT_WORDS_MAX}`;
  return [{ file: "docs/README.md", line: 1, message }];
};

/** Counts as `wc -w` does: text between white space. */
export function countDocumentWords(repository: Repository): number {
  return repository.files
    .filter((file) => DOCUMENT.test(file))
    .reduce((sum, file) => sum + (repository.text(file).match(/\S+/g)?.length ?? 0), 0);
}
