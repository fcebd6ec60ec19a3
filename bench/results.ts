// The page of results: each benchmark's newest table, with when, where and on which commit it was measured.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("RESULTS.md", import.meta.url));
const HEAD = `# Results

Made by \`npm run bench\`; each part holds the newest run of one benchmark. Ratios compare with ceilings measured in the
same run on the same machine; absolute numbers mean little elsewhere.
`;

export function writeResults(results: readonly { readonly bench: string; readonly table: string }[]): string {
  const parts = existsSync(PAGE) ? partsOf(readFileSync(PAGE, "utf8")) : new Map<string, string>();
  for (const { bench, table } of results) {
    parts.set(bench, `${circumstances()}\n\n\`\`\`\n${table.trimEnd()}\n\`\`\`\n`);
  }
  const text = [...parts].map(([name, part]) => `## ${name}\n\n${part.trim()}\n`);
  writeFileSync(PAGE, [HEAD, ...text].join("\n"));
  return PAGE;
}

export function partsOf(page: string): Map<string, string> {
  const [, ...parts] = page.split(/^## /m);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end).trim(), part.slice(end).trim()];
    }),
  );
}

function circumstances(): string {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${cpus().length} × ${first?.model.trim() || process.arch}, ${memory}`;
  return `${new Date().toISOString().slice(0, 10)} · commit ${commit()} · ${machine} · ${process.platform} ${process.arch} · Node ${process.versions.node}`;
}

/** With a plus where the sources are not those of the commit. */
function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  const changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/RESULTS.md");
  return git("rev-parse", "--short", "HEAD") + (changed === "" ? "" : "+");
}
