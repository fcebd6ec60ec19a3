// Scripts of package.json run files that exist.
import type { RepositoryRule } from "../repository.ts";

const RUN_FILE = /\b(?:tsx|node) (\S+\.m?[jt]s)\b/;

export const packageScripts: RepositoryRule = (repository) => {
  if (!repository.has("package.json")) return [];
  const text = repository.text("package.json");
  const { scripts = {} } = JSON.parse(text) as { scripts?: Readonly<Record<string, string>> };
  return Object.entries(scripts).flatMap(([name, command]) => {
    const file = RUN_FILE.exec(command)?.[1];
    if (file === undefined || repository.has(file)) return [];
    const line = text.slice(0, text.indexOf(`"${name}":`)).split("\n").length;
    return [{ file: "package.json", line, message: `${name} runs ${file}, which does not exist` }];
  });
};
