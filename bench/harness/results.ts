// Stored results: the newest run of each benchmark as data, and the page rendered from it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { type BenchReport, DATABASE_KINDS, formatMeasurements } from "./measurement.ts";
import { type BenchRuns, formatDatabaseComparison, formatOverview, type RunEnvironment } from "./overview.ts";

const DATA = fileURLToPath(new URL("../results.json", import.meta.url));
const PAGE = fileURLToPath(new URL("../RESULTS.md", import.meta.url));
const HEAD = `# Results

Made by \`npm run bench\`, which keeps the newest run of each benchmark in \`bench/results.json\`. Ratios compare with
ceilings measured in the same run on the same machine; absolute numbers mean little elsewhere.
`;

/** Both files, alongside each other. */
export const RESULT_FILES: readonly string[] = [DATA, PAGE];

export type NamedBenchReport = BenchReport & { readonly bench: string };

export function readResults(): BenchRuns {
  return existsSync(DATA) ? (JSON.parse(readFileSync(DATA, "utf8")) as BenchRuns) : {};
}

export function writeResults(parts: BenchRuns): void {
  writeFileSync(DATA, `${JSON.stringify(parts, null, 2)}\n`);
  writeFileSync(PAGE, formatResultsPage(parts));
}

/** The newest of everything in the order of `benches`; results that are no longer among them are dropped. */
export function replaceRuns(
  stored: BenchRuns,
  results: readonly NamedBenchReport[],
  circumstances: RunEnvironment,
  benches: readonly string[],
): BenchRuns {
  const newest = Object.fromEntries(
    results.map(({ bench, ...report }) => [bench, { circumstances, ...report }]),
  );
  const all: BenchRuns = { ...stored, ...newest };
  return Object.fromEntries(
    benches.flatMap((bench) => {
      const part = all[bench];
      return part ? [[bench, part]] : [];
    }),
  );
}

export function formatResultsPage(parts: BenchRuns): string {
  const block = (title: string, words: string, table: string) =>
    `## ${title}\n\n${words}\n\n\`\`\`\n${table.trimEnd()}\n\`\`\`\n`;
  return [
    HEAD,
    block(
      "The whole product",
      "One line a headline, from the newest run of each benchmark below.",
      formatOverview(parts),
    ),
    ...compared(formatDatabaseComparison(parts, DATABASE_KINDS), block),
    ...Object.entries(parts).map(([bench, { circumstances, measurements }]) => {
      const { date, commit, machine } = circumstances;
      return block(
        bench,
        `${date} · commit ${commit} · ${machine}`,
        formatMeasurements([{ bench, measurements }]),
      );
    }),
  ].join("\n");
}

function compared(table: string, block: (title: string, words: string, table: string) => string): string[] {
  const words =
    "The same benchmarks on our embedded server, on Debian's PostgreSQL 15 with its defaults, the same over TLS, and over TLS with 5 ms to the server. Ratios compare with a ceiling on the same database.";
  return table === "" ? [] : [block("Databases side by side", words, table)];
}

export function readRunEnvironment(): RunEnvironment {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const processors = `${cpus().length} × ${first?.model.trim() || process.arch}, ${memory}`;
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    machine: `${processors} · ${process.platform} ${process.arch} · Node ${process.versions.node}`,
  };
}

/** Marked with a plus if the sources are not those of the commit. */
function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  const ours = RESULT_FILES.map((file) => `:(exclude)${file}`);
  const changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ...ours);
  return git("rev-parse", "--short", "HEAD") + (changed === "" ? "" : "+");
}
