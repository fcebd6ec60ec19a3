// The command lines that documents and help texts show, as their reader would copy them.
import { readdirSync, readFileSync } from "node:fs";
import { PROGRAM } from "../../src/lib/program.ts";

export type ExampleLine = {
  /** File and line, or the help that shows it. */
  readonly source: string;
  /** Whole: lines that end in a backslash are joined, comments are left out. */
  readonly text: string;
};

const FOLDERS = ["docs", "docs/start", "docs/adr", "skills/sextant-intents", "skills/sextant-wallet"];
const FILES = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/README.md", "contracts/README.md"],
  ...["packages/local-chain/README.md", "packages/simulator/README.md", "token-lists/README.md"],
];
// tests/stock/runbook.test.ts runs its commands, which need faults to show.
const RUNBOOK = "docs/runbook.md";
const SHELL_FENCE = /^ *```(?:sh|bash|shell|console)\b/;

export function listExamplePages(): readonly string[] {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  );
  return [...FILES, ...inFolders.filter((page) => page !== RUNBOOK)];
}

/** Every command of every fenced block of shell in a page. */
export function readPageExamples(page: string): readonly ExampleLine[] {
  const lines = readFileSync(page, "utf8").split("\n");
  const found: ExampleLine[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (!SHELL_FENCE.test(lines[at] ?? "")) continue;
    const end = lines.findIndex((line, index) => index > at && /^ *```\s*$/.test(line));
    found.push(...readBlock(lines.slice(at + 1, end), page, at + 2));
    at = end;
  }
  return found;
}

/** A block with prompts shows output as well: only what follows a prompt is a command. */
function readBlock(lines: readonly string[], page: string, firstLine: number): readonly ExampleLine[] {
  const hasPrompts = lines.some((line) => line.startsWith("$ "));
  const found: { source: string; text: string }[] = [];
  let isContinued = false;
  for (const [index, line] of lines.entries()) {
    const text = line.replace(/^\$ /, "").replace(/\\$/, "").trim();
    const last = found.at(-1);
    if (isContinued && last !== undefined) last.text += ` ${text}`;
    else if (!hasPrompts || line.startsWith("$ ")) {
      found.push({ source: `${page}:${firstLine + index}`, text });
    }
    isContinued = line.endsWith("\\");
  }
  return found
    .map(({ source, text }) => ({ source, text: stripComment(text) }))
    .filter(({ text }) => text !== "");
}

function stripComment(text: string): string {
  return text.replace(/(?:^|\s+)#(?=\s|$).*$/, "").trim();
}

/** Every command that a help text shows in a line of its own, or after a colon. */
export function readHelpExamples(source: string, help: string): readonly ExampleLine[] {
  // Long commands go on in the next line.
  return help
    .replace(/ \\\n\s+/g, " ")
    .split("\n")
    .flatMap((line) => {
      const at = line.indexOf(`${PROGRAM} `);
      const isShown = /^ {2}$|^Name one for its options: $/.test(line.slice(0, Math.max(at, 0)));
      return isShown ? [{ source, text: line.slice(at) }] : [];
    });
}

/** Words of a simple command, without what follows a pipe or a redirection. */
export function splitWords(command: string): readonly string[] {
  const [simple = ""] = /^(?:[^|>'"]|'[^']*'|"(?:[^"\\]|\\.)*")*/.exec(command) ?? [];
  const words = simple.match(/(?:[^\s'"]|'[^']*'|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"/g, (_, a, b) => a ?? b));
}
