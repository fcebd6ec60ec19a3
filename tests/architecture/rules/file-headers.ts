// Every file says in its first line what it is for.
import { isCode, type RepositoryRule } from "../repository.ts";

const TYPESCRIPT = /^(?:#!.*\n)?\/\/ \S.*[.?!:]\s*$/m;
const SOLIDITY = /\/\/\/ @(?:title|notice) \S/;

export const fileHeaders: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => isCode(file) || file.endsWith(".sol") || file.endsWith(".mjs"))
    .filter((file) => !opensWell(file, repository.text(file)))
    .map((file) => ({ file, line: 1, message: "does not open with a sentence that says what it is for" }));

function opensWell(file: string, text: string): boolean {
  if (file.endsWith(".sol")) return SOLIDITY.test(text);
  const lines = text.split("\n").filter((line) => !line.startsWith("#!"));
  return TYPESCRIPT.test(lines.slice(0, 1).join("\n"));
}
