// Comments are sentences: none begins as a fragment that needs the code above it to be understood.
import { isCode, type RepositoryRule } from "../repository.ts";

const GENERATED = /\/generated\/|^examples\/[^/]+\.d\.ts$/;
/** The beginning of a comment; a line that continues one does not count. */
const FRAGMENT = /^\s*(?:\/\/|\/\*\*?)\s+(Of|What|Those|That|By|With the|Whose|Which|Where)\b/;
const CONTINUED = /^\s*\/\//;

export const commentStarts: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => isCode(file) && !GENERATED.test(file))
    .flatMap((file) => {
      const lines = repository.text(file).split("\n");
      return lines.flatMap((line, index) => {
        const start = FRAGMENT.exec(line)?.[1];
        if (start === undefined || (CONTINUED.test(line) && CONTINUED.test(lines[index - 1] ?? "")))
          return [];
        const message = `a comment begins with "${start}"; begin with a verb or a noun`;
        return [{ file, line: index + 1, message }];
      });
    });
